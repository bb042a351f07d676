# SPDX-License-Identifier: GPL-2.0-only
"""What kernels offer for moves that do not wait, as a parameter of the workloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.ask.catalog import feature
from lull.ask.presence import own_switch
from lull.kernels.bases import load_base
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


def test_it_is_on_for_its_case_alone(
    debug_kernel: Kernel, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Stock's moves wait for grace periods before it and after it, not with it; but
    where it switches on what the base has by itself, which stays."""
    base = load_base(pytestconfig.getoption("--base"))
    stays = own_switch(feature("attach"), base) == "favordynmods"
    cases = (moves(), moves(favordynmods=1), moves(storm=1))
    done = boot_cases(debug_kernel, cases, tmp_path)
    before, favoured, after = (s.metrics["grace"] for s in done.stream.samples)
    assert before > 0
    assert favoured == 0
    assert (after == 0) == stays
