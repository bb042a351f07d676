# SPDX-License-Identifier: GPL-2.0-only
"""The numbered safety statements, on the debug kernel in a virtual machine.

A WARN, lockdep, KASAN or RCU line in the log fails the boot, and so the test.
What holds is tried as it is, and again without its safeguard: then the same
workload has to say so, or the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag

import pytest

from features.boots import Boots, Outcome, Outcomes, assert_held, verdicts
from lull.errors import GuestPanic
from lull.model import Case, Value

pytestmark = pytest.mark.vm


class Guard(IntFlag):
    """enum lull_zfree_safeguard of the kernel, as bits of inject/disable."""

    DETACH = 1 << 0
    REREAD = 1 << 1
    PAGE_LOCKS = 1 << 2
    SETTLE = 1 << 3
    UNDER_WB = 1 << 4
    ATOMIC = 1 << 5
    PUBLISH = 1 << 6
    DESTROY = 1 << 7
    POSSIBLE = 1 << 8
    LIMIT = 1 << 9
    PRESSURE = 1 << 10
    SLOT_LOCK = 1 << 11
    RINGS = 1 << 12


class Point(IntFlag):
    """enum lull_zfree_point, as bits of inject/pause."""

    FREE = 1 << 0
    MIGRATE = 1 << 1
    PUBLISH = 1 << 2
    READ = 1 << 3


def churn(*modes: str, **params: Value) -> Case:
    return Case(feature="zfree", workload="churn", params=params, order=modes)


def changed(*modes: str, **params: Value) -> Case:
    return Case(feature="zfree", workload="changed", params=params, order=modes)


def queue(event: str, **params: Value) -> Case:
    return Case(
        feature="zfree",
        workload="queue",
        params={"event": event, **params},
        order=("deferred",),
    )


CHURN = ("ZS1", "ZS4")
#: Waits that a test kernel makes where others are to come between.
AT_FREE: Mapping[str, Value] = {"pause": int(Point.FREE), "pause_us": 300}
AT_MIGRATE: Mapping[str, Value] = {"pause": int(Point.MIGRATE), "pause_us": 1000}
AT_PUBLISH: Mapping[str, Value] = {"pause": int(Point.PUBLISH), "pause_us": 300}
#: To a device that takes its time, while others mark all slots idle.
WRITEBACK: Mapping[str, Value] = {"writeback": 1, "compact": 0}
#: Which waits with a slot locked and its handle in hand.
RECOMPRESS: Mapping[str, Value] = {
    "recompress": 1,
    "compact": 0,
    "pause": int(Point.READ),
    "pause_us": 300,
}


def without(guard: Guard, **more: Value) -> dict[str, Value]:
    return {"disable": int(guard), **more}


#: A boot each, run side by side. What is broken goes on until it is seen; what is
#: "shown" says so itself where it is.
BOOTS: Mapping[str, tuple[Case, ...]] = {
    "all modes": (churn("stock", "locks", "deferred", "lull"),),
    "zswap": (churn("stock", "deferred", "lull", zswap=1),),
    "switched": (churn("lull", switchers=1),),
    "ZS1 broken": (churn("lull", **without(Guard.DETACH)),),
    "ZS2": (churn("locks", checks=12, **AT_FREE),),
    "ZS2 broken": (churn("locks", checks=200, **without(Guard.REREAD, **AT_FREE)),),
    "ZS3": (churn("locks", "deferred", "lull", checks=12, **AT_MIGRATE),),
    "ZS3 broken": (
        churn("lull", checks=200, **without(Guard.PAGE_LOCKS, **AT_MIGRATE)),
    ),
    "ZS4 shown": (churn("lull", checks=6, **without(Guard.SETTLE, broken="ZS4")),),
    "ZS5": (churn("stock", "lull", checks=12, **WRITEBACK), changed("stock", "lull")),
    "ZS5 shown": (changed("lull", **without(Guard.UNDER_WB, broken="ZS5")),),
    "ZS6 broken": (churn("lull", **without(Guard.ATOMIC)),),
    "ZS7 broken": (
        churn("deferred", checks=200, **without(Guard.PUBLISH, **AT_PUBLISH)),
    ),
    "ZS8": (queue("destroy"), queue("offline"), queue("worker")),
    "ZS8 destroy broken": (queue("destroy", **without(Guard.DESTROY)),),
    "ZS8 offline broken": (queue("offline", **without(Guard.POSSIBLE)),),
    "ZS9": (
        queue("limit"),
        queue("pressure"),
        queue("limit", **without(Guard.LIMIT, broken="ZS9")),
        queue("pressure", **without(Guard.PRESSURE, broken="ZS9")),
    ),
    "ZS11": (churn("stock", "deferred", "lull", checks=12, **RECOMPRESS),),
    "ZS11 broken": (
        churn("lull", checks=200, **without(Guard.SLOT_LOCK, **RECOMPRESS)),
    ),
    "no memory": (queue("failslab"), queue("no-rings", **without(Guard.RINGS))),
}


@pytest.fixture(scope="session")
def outcomes(run_boots: Boots) -> Outcomes:
    return run_boots(BOOTS)


def assert_died(outcome: Outcome, why: str = "BUG|KASAN|Oops") -> None:
    """The kernel has found the fault itself."""
    with pytest.raises(GuestPanic, match=why):
        verdicts(outcome)


def test_zs1_zs4_no_page_is_wrong_and_nothing_remains(outcomes: Outcomes) -> None:
    """Swap-out, swap-in and munmap on a nearly full zram, under compaction."""
    assert_held(outcomes["all modes"], *CHURN * 4)


def test_zs1_zs4_hold_with_zswap_in_front(outcomes: Outcomes) -> None:
    assert_held(outcomes["zswap"], *CHURN * 3)


def test_modes_can_be_switched_meanwhile(outcomes: Outcomes) -> None:
    assert_held(outcomes["switched"], *CHURN)


def test_zs1_a_handle_that_stays_in_its_slot_is_noticed(outcomes: Outcomes) -> None:
    """A slot that is written again frees it twice."""
    assert_died(outcomes["ZS1 broken"], "KASAN")


def test_zs2_a_location_is_read_again_under_the_lock(outcomes: Outcomes) -> None:
    """Who frees waits between its two looks, while memory is compacted."""
    assert_held(outcomes["ZS2"], *CHURN)
    assert_died(outcomes["ZS2 broken"])


def test_zs3_pages_that_others_hold_are_left_alone(outcomes: Outcomes) -> None:
    """Migration waits where it has a page locked, and nothing else."""
    assert_held(outcomes["ZS3"], *CHURN * 3)
    assert_died(outcomes["ZS3 broken"])


def test_zs4_what_is_not_subtracted_is_noticed(outcomes: Outcomes) -> None:
    """The statistics at rest are those of the device when it was new."""
    assert_held(outcomes["ZS4 shown"], *CHURN)


def test_zs5_writeback_sees_that_its_slot_has_changed(outcomes: Outcomes) -> None:
    """A slot is freed, written anew and marked idle while its page is on its way."""
    assert_held(outcomes["ZS5"], *CHURN * 2, "ZS5", "ZS5")
    assert_held(outcomes["ZS5 shown"], "ZS5")


def test_zs6_nothing_sleeps_under_the_lock_of_swap(outcomes: Outcomes) -> None:
    """What does is seen in any of the boots here."""
    assert_died(outcomes["ZS6 broken"], "sleeping function called from invalid")


def test_zs7_a_handle_is_there_before_it_is_counted(outcomes: Outcomes) -> None:
    """Who queues waits between the two, and the worker is on its way."""
    assert_died(outcomes["ZS7 broken"])


def test_zs8_what_is_queued_is_freed_whatever_comes(outcomes: Outcomes) -> None:
    """The device is reset, a CPU goes offline, or nothing happens at all."""
    assert_held(outcomes["ZS8"], "ZS8", "ZS8", "ZS8")


@pytest.mark.parametrize("what", ["destroy", "offline"])
def test_zs8_objects_that_remain_are_noticed(outcomes: Outcomes, what: str) -> None:
    assert_died(outcomes[f"ZS8 {what} broken"], "kmem_cache_destroy|Objects remaining")


def test_zs9_no_limit_is_hit_by_what_is_queued(outcomes: Outcomes) -> None:
    assert_held(outcomes["ZS9"], "ZS9", "ZS9", "ZS9", "ZS9")


def test_zs11_a_slot_that_is_being_read_is_missed(outcomes: Outcomes) -> None:
    assert_held(outcomes["ZS11"], *CHURN * 3)
    assert_died(outcomes["ZS11 broken"])


def test_allocations_that_fail(outcomes: Outcomes) -> None:
    """Each one in making a pool, and those of the worker's rings."""
    assert_held(outcomes["no memory"], "failslab", "rings")
