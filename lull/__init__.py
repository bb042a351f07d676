# SPDX-License-Identifier: GPL-2.0-only
"""The lab of Lull: builds kernels, boots them, runs workloads, prints tables."""

__version__ = "0.1.0"
