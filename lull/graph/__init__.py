# SPDX-License-Identifier: GPL-2.0-only
"""Suspend and resume recordings: reading them, what took long and why."""
