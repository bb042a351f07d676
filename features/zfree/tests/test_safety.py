# SPDX-License-Identifier: GPL-2.0-only
"""The numbered safety statements, on the debug kernel in a virtual machine.

A WARN, lockdep, KASAN or RCU line in the log fails the boot, and so the test.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lull.errors import GuestPanic
from lull.model import Case, Check, Value

pytestmark = pytest.mark.vm

#: enum lull_zfree_safeguard of the kernel, as bits of inject/disable.
DETACH = 1 << 0

Run = Callable[..., tuple[Check, ...]]


def churn(*modes: str, **params: Value) -> Case:
    return Case(feature="zfree", workload="churn", params=params, order=modes)


def assert_held(checks: tuple[Check, ...], count: int) -> None:
    """Both verdicts of every round are there, and good."""
    said = "\n".join(check.text for check in checks)
    assert [check.name for check in checks] == ["ZS1", "ZS4"] * count, said
    assert all(check.ok for check in checks), said


def test_zs1_zs4_no_page_is_wrong_and_nothing_remains(run_debug: Run) -> None:
    """Swap-out, swap-in and munmap on a nearly full zram, under compaction."""
    assert_held(run_debug(churn("stock", "locks", "lull")), 3)


def test_zs1_zs4_hold_with_zswap_in_front(run_debug: Run) -> None:
    assert_held(run_debug(churn("stock", "lull", zswap=1)), 2)


def test_modes_can_be_switched_meanwhile(run_debug: Run) -> None:
    assert_held(run_debug(churn("lull", switchers=1)), 1)


def test_zs1_a_handle_that_stays_in_its_slot_is_noticed(run_debug: Run) -> None:
    """Without its safeguard a slot that is written again frees it twice."""
    with pytest.raises(GuestPanic, match="KASAN"):
        run_debug(churn("lull", disable=DETACH))
