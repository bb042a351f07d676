# SPDX-License-Identifier: GPL-2.0-only
"""Debian packages of a base with Lull, and of what goes with it."""
