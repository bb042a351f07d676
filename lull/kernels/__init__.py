# SPDX-License-Identifier: GPL-2.0-only
"""Kernels: fetched, patched, configured, built, and kept by key.

The rest of the lab calls ``build.build`` and reads the ``Kernel`` it returns.
"""
