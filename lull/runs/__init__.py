# SPDX-License-Identifier: GPL-2.0-only
"""What runs: boots, the samples they leave, and the folder that holds them."""
