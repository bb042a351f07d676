# SPDX-License-Identifier: GPL-2.0-only
"""What the host has to have, and what it is told."""
