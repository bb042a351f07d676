# SPDX-License-Identifier: GPL-2.0-only
"""What is asked: features, cases, the plan of a run, and the job of a boot."""
