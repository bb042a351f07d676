# SPDX-License-Identifier: GPL-2.0-only
"""The page: what was measured, for somebody with a browser."""
