# SPDX-License-Identifier: GPL-2.0-only
"""Kernels for tests of features that are no trials."""

from __future__ import annotations

import pytest

from lull.kernels.build import build
from lull.kernels.record import Kernel
from lull.model import Arm


@pytest.fixture(scope="session")
def debug_kernel(base: str) -> Kernel:
    """Built once, unless it was."""
    return build(base, Arm.DEBUG)
