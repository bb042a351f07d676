# SPDX-License-Identifier: GPL-2.0-only
"""Trees of devices: their text, made-up ones, and how they would suspend."""
