# SPDX-License-Identifier: GPL-2.0-only
"""A Debian with systemd in a virtual machine: real packages, real programs."""
