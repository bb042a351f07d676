# SPDX-License-Identifier: GPL-2.0-only
"""Virtual machines: what a guest boots, how it is started, watched and read."""
