# SPDX-License-Identifier: GPL-2.0-only
"""Keeping up with the kernels that Lull is maintained for.

A base is data (``kernel/bases``); its hooks apply to each point release until one
of them does not. This room says which.
"""
