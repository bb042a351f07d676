# SPDX-License-Identifier: GPL-2.0-only
"""Our modes beside a lock of groups that the base has by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lull.ask.catalog import feature
from lull.ask.presence import own_switch
from lull.kernels.bases import load_base
from lull.kernels.record import Kernel
from lull.model import Case, Value
from lull.runs.again import boot_cases

pytestmark = [pytest.mark.vm, pytest.mark.seconds(300)]

SWITCH = "favordynmods"
OURS = ("threadgroup", "lull")


def case(workload: str, *modes: str, **params: Value) -> Case:
    return Case(feature="attach", workload=workload, params=params, order=modes)


def test_each_statement_holds_where_the_base_s_own_lock_is_on(
    debug_kernel: Kernel, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """In all modes, and while somebody switches them; its switch is no mode's."""
    base = load_base(pytestconfig.getoption("--base"))
    if own_switch(feature("attach"), base) != SWITCH:
        pytest.skip(f"this base has no lock of its own behind {SWITCH}")
    cases = (
        # Once any mount had it, it stays.
        case("attach", "stock", writes=40, favordynmods=1),
        case("threads", "stock", *OURS, moves=40),
        case("threads", *OURS, moves=30, pause="fork,execute", pause_us=200),
        case("threads", *OURS, name="CG5", moves=30, stay=200, only_exits=1),
        case("visible", "stock", *OURS, children=200),
        case("visible", *OURS, children=200, pause="visible", pause_us=50),
        case("emptied", *OURS, moves=60, pause="fork", pause_us=200),
        case("exec-storm", *OURS, moves=60),
        case("hierarchy", *OURS, cycles=20),
        case("visible", "stock", children=200, switchers=1),
        case("threads", "stock", moves=50, switchers=1),
        case("hierarchy", "stock", switchers=1, cycles=20),
        case("attach", "stock", writes=40),
    )
    done = boot_cases(debug_kernel, cases, tmp_path)
    assert all(check.ok for check in done.stream.checks)
    found = Counter(check.name for check in done.stream.checks)
    assert found == {"CG1": 6, "CG5": 2, "CG2": 6, "CG3": 2, "CG4": 2, "CG6": 3}
    # Stock's moves wait for no grace period: the base's own lock was on all along.
    assert done.stream.samples[-1].metrics["grace"] == 0
