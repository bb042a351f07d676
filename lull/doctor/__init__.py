# SPDX-License-Identifier: GPL-2.0-only
"""What is slow on a machine, seen from what lull-probe collect wrote there."""
