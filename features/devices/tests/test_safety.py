# SPDX-License-Identifier: GPL-2.0-only
"""The numbered statements PM1 to PM8, PM10 and PM11 on the debug kernel.

Each holds in all modes; and with a safeguard switched off, its test sees that.
More than 200 random trees of mixed sync and async devices go through it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntFlag

import pytest

from features.boots import Boots, Outcomes, assert_held, assert_seen, verdicts
from lull.model import Case, Value

pytestmark = pytest.mark.vm


class Guard(IntFlag):
    """enum lull_devices_safeguard of the kernel, as bits of inject/disable."""

    WAITS = 1 << 0
    CLAIM = 1 << 1
    CLEAR = 1 << 2
    ABORT = 1 << 3
    FALLBACK = 1 << 4
    HOLD = 1 << 5
    STRICT = 1 << 6
    ROOM = 1 << 7
    FLAG = 1 << 8
    WORD = 1 << 9
    WALK_ROOM = 1 << 10


OURS = ("parents", "links", "lull")
MODES = ("stock", *OURS)


def storm(name: str, *modes: str, **params: Value) -> Case:
    return Case(
        feature="devices",
        workload="storm",
        params={"name": name, **params},
        order=modes,
    )


def blocked(*modes: str, **params: Value) -> Case:
    """In all of it the walk ends on another CPU than it began on."""
    return Case(
        feature="devices",
        workload="blocked",
        params={"hop": 1, "limit": 60, **params},
        order=modes,
    )


BOOTS: Mapping[str, tuple[Case, ...]] = {
    # 60 trees in each of four modes; other shares of sync devices below.
    "PM1": (
        storm("PM1", *MODES, trees=40),
        storm("PM1", *OURS, trees=10, sync=0),
        storm("PM1", *OURS, trees=10, sync=90),
        # Links for sync_state() are in nobody's way, also where they contradict.
        storm("PM1", *OURS, trees=20, proxies=1),
    ),
    "PM1 broken": (storm("PM1", "parents", trees=5, disable=Guard.WAITS),),
    "PM2 broken": (storm("PM2", "parents", "links", trees=20, disable=Guard.CLAIM),),
    "PM3 broken": (storm("PM3", "lull", trees=20, sync=0, disable=Guard.CLEAR),),
    "PM4": (storm("PM4", *MODES, trees=30, event="abort"),),
    "PM4 broken": (storm("PM4", *OURS, trees=20, event="abort", disable=Guard.ABORT),),
    "PM5": (
        storm("PM5", *OURS, trees=10, fail_nth=2),
        storm("PM5", *OURS, trees=5, fail_nth=1),
    ),
    "PM5 broken": (storm("PM5", "lull", trees=5, fail_nth=2, disable=Guard.FALLBACK),),
    "PM6 broken": (storm("PM6", *OURS[:2], trees=20, disable=Guard.WAITS),),
    "PM7": (
        storm("PM7", *MODES, trees=20, event="remove"),
        storm("PM7", *MODES, trees=10, event="unlink"),
    ),
    "PM7 broken": (storm("PM7", *OURS, trees=40, event="remove", disable=Guard.HOLD),),
    "PM8": (storm("PM8", *MODES, trees=10, pm_async=0),),
    "PM8 broken": (storm("PM8", "lull", trees=5, pm_async=0, disable=Guard.STRICT),),
    "PM10": (blocked(*MODES, limit=300),),
    "PM10 broken": (blocked("parents", disable=Guard.ROOM),),
    "PM10 of the walk broken": (blocked("parents", disable=Guard.WALK_ROOM),),
    "PM11 broken": (storm("PM11", "lull", trees=10, disable=Guard.FLAG),),
    "switching": (storm("switching", *MODES, trees=10, event="switch"),),
    "input": (Case(feature="devices", workload="refusals", order=("stock",)),),
}


@pytest.fixture(scope="session")
def outcomes(run_boots: Boots) -> Outcomes:
    return run_boots(BOOTS)


def test_pm1_everybody_waits_for_whom_they_depend_on(outcomes: Outcomes) -> None:
    """And PM2, PM6: once, and not at all where runtime PM has left it asleep."""
    assert_held(outcomes["PM1"], *("PM1",) * 13)


def test_pm4_an_abort_leaves_nobody_asleep(outcomes: Outcomes) -> None:
    """Whoever was suspended is resumed, nobody else, and the next cycle is whole."""
    assert_held(outcomes["PM4"], *("PM4",) * 4)


def test_pm5_without_memory_for_workers_nothing_is_lost(outcomes: Outcomes) -> None:
    assert_held(outcomes["PM5"], *("PM5",) * 6)


def test_pm7_devices_and_links_may_go_away_in_a_callback(outcomes: Outcomes) -> None:
    assert_held(outcomes["PM7"], *("PM7",) * 8)


def test_pm8_without_pm_async_the_list_is_the_order(outcomes: Outcomes) -> None:
    assert_held(outcomes["PM8"], *("PM8",) * 4)


def test_pm10_whom_others_wait_for_gets_a_worker(outcomes: Outcomes) -> None:
    """Those that are started and have to wait leave some, whatever the order is."""
    assert_held(outcomes["PM10"], *("PM10",) * 4)


def test_modes_can_be_switched_in_the_middle(outcomes: Outcomes) -> None:
    """By a callback of any phase; the next phase is in the new mode."""
    assert_held(outcomes["switching"], *("switching",) * 4)


def test_pm6_who_is_left_asleep_too_soon_is_noticed(outcomes: Outcomes) -> None:
    """A device that looks before those below it have said that they were woken."""
    said = [check.text for check in verdicts(outcomes["PM6 broken"])]
    assert any(re.search(r" [1-9]\d* missing", text) for text in said), said


@pytest.mark.parametrize("what", [name for name in BOOTS if name.endswith("broken")])
def test_what_is_broken_is_seen(outcomes: Outcomes, what: str) -> None:
    assert_seen(outcomes[what])


def test_descriptions_that_are_none_are_refused(outcomes: Outcomes) -> None:
    assert_held(outcomes["input"], "refusals")
