# SPDX-License-Identifier: GPL-2.0-only
"""Patches out of the lab, for a tree that has none: ``lull series``."""
