# SPDX-License-Identifier: GPL-2.0-only
"""The proof: what is tried, and what is remembered of it."""
