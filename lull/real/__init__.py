# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios of real programs: Debian's own, in the guest, in turns of modes."""
