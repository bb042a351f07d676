# SPDX-License-Identifier: GPL-2.0-only
"""What is reported: statistics, the summary, tables and comparisons."""
