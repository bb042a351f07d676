# SPDX-License-Identifier: GPL-2.0-only
"""What 6.12 offers for moves that do not wait, as a parameter of the workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.kernels.record import Kernel
from lull.model import Case, Value
from lull.runs.again import boot_cases

pytestmark = pytest.mark.vm


def moves(**params: Value) -> Case:
    return Case(
        feature="attach",
        workload="attach",
        params={"writes": 40, **params},
        order=("stock",),
    )


def test_it_is_on_for_its_case_alone(debug_kernel: Kernel, tmp_path: Path) -> None:
    """Stock's moves wait for grace periods before it and after it, not with it."""
    cases = (moves(), moves(favordynmods=1), moves(storm=1))
    done = boot_cases(debug_kernel, cases, tmp_path)
    before, favoured, after = (s.metrics["grace"] for s in done.stream.samples)
    assert before > 0
    assert favoured == 0
    assert after > 0
