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

from features.boots import Boots, Outcomes, assert_held, assert_seen, cases_of
from lull.model import Case, Value

pytestmark = pytest.mark.vm


class Guard(IntFlag):
    """enum lull_attach_safeguard of the kernel, as bits of inject/disable."""

    READERS = 1 << 0
    CHILD = 1 << 1
    LINKED = 1 << 2
    LEADER = 1 << 3
    HIERARCHY = 1 << 4
    PUT = 1 << 5
    SWITCH = 1 << 6
    SINGLE = 1 << 7


class Point(IntFlag):
    """enum lull_attach_point, as bits of inject/pause."""

    FORK = 1 << 0
    VISIBLE = 1 << 1
    LOCK = 1 << 2
    EXECUTE = 1 << 3
    UNLOCK = 1 << 4
    EXIT = 1 << 5


MODES = ("stock", "threadgroup", "lull")
OURS = MODES[1:]


case = cases_of("attach")


def at(*points: Point, us: int = 200) -> dict[str, Value]:
    """Wait there, for that long or twice that long."""
    return {"pause": int(sum(points)), "pause_us": us}


def without(guard: Guard, *points: Point, us: int = 200) -> dict[str, Value]:
    return {"disable": int(guard), **at(*points, us=us)}


def many(mode: str) -> Case:
    """10,000 children, with a verdict now and then: a guest that is silent for as
    long as all of them take on a slow host passes for one that hangs."""
    return case("visible", *(mode,) * 4, children=2500, **at(Point.VISIBLE, us=20))


#: A boot each, run side by side; those that take longest come first.
BOOTS: Mapping[str, tuple[Case, ...]] = {
    "CG2 threadgroup": (many("threadgroup"),),
    "CG2 lull": (many("lull"),),
    "CG1": (
        case("threads", *MODES),
        case("threads", *OURS, moves=60, **at(Point.FORK, Point.EXECUTE)),
        case("threads", *OURS, moves=40, v1=1),
        case("threads", *OURS, moves=20, leader_dies=1),
        case("threads", *OURS, moves=20, stay=500),
    ),
    "CG1 broken": (
        case("threads", "lull", **without(Guard.READERS, Point.FORK, us=2000)),
    ),
    "CG2": (
        case("visible", *MODES),
        case("visible", *OURS, to="root", **at(Point.VISIBLE, us=50)),
    ),
    "CG2 broken": (
        case("visible", "lull", **without(Guard.CHILD, Point.VISIBLE, us=2000)),
    ),
    "CG2 threadgroup broken": (
        case("visible", "threadgroup", **without(Guard.CHILD, Point.VISIBLE, us=2000)),
    ),
    "CG2 nowhere broken": (
        case(
            "visible",
            "lull",
            to="root",
            **without(Guard.LINKED, Point.VISIBLE, us=2000),
        ),
    ),
    "CG3": (
        case("emptied", *MODES),
        case("emptied", *OURS, **at(Point.FORK)),
    ),
    "CG3 broken": (
        case("emptied", "lull", **without(Guard.READERS, Point.FORK, us=5000)),
    ),
    "CG4": (
        case("exec-storm", *MODES),
        case("exec-storm", *OURS, **at(Point.LOCK, us=1000)),
    ),
    "CG4 broken": (
        case(
            "exec-storm",
            "lull",
            **without(Guard.LEADER, Point.LOCK, us=20000),
        ),
    ),
    "CG5": (
        case("threads", *MODES, name="CG5", stay=200, only_exits=1),
        case(
            "threads",
            *OURS,
            name="CG5",
            stay=200,
            only_exits=1,
            moves=50,
            **at(Point.EXECUTE, Point.EXIT, us=2000),
        ),
    ),
    "CG5 broken": (
        case(
            "threads",
            "threadgroup",
            name="CG5",
            stay=200,
            only_exits=1,
            **without(Guard.READERS, Point.EXECUTE, Point.EXIT, us=2000),
        ),
    ),
    "CG6": (
        case("hierarchy", *MODES),
        case("hierarchy", *OURS, **at(Point.FORK)),
    ),
    "CG6 broken": (
        case("hierarchy", "lull", **without(Guard.HIERARCHY, Point.FORK, us=5000)),
    ),
    "CG7": (case("reaped", *MODES, **at(Point.LOCK, Point.UNLOCK, us=3000)),),
    "CG7 broken": (
        case(
            "reaped",
            "threadgroup",
            **without(Guard.PUT, Point.LOCK, Point.UNLOCK, us=20000),
        ),
    ),
    "CG8": (
        case("threads", "stock", switchers=1),
        case("visible", "stock", switchers=1),
        case("emptied", "stock", switchers=1),
        case("exec-storm", "stock", switchers=1),
        case("hierarchy", "stock", switchers=1),
        case("reaped", "stock", switchers=1),
    ),
    "CG8 broken": (
        case(
            "visible",
            "stock",
            switchers=1,
            **without(Guard.SWITCH, Point.FORK, Point.VISIBLE),
        ),
    ),
    "CG9": (
        case("threads", *MODES, self=1, name="CG9"),
        case("threads", *OURS, self=1, name="CG9", moves=40, **at(Point.FORK)),
    ),
    "CG9 broken": (
        case(
            "threads",
            "lull",
            self=1,
            name="CG9",
            **without(Guard.SINGLE, Point.FORK, us=2000),
        ),
    ),
    "input": (
        case("refusals", *MODES),
        case("batch", *MODES),
        case("batch", *MODES, v1=1),
    ),
}


@pytest.fixture(scope="session")
def outcomes(run_boots: Boots) -> Outcomes:
    return run_boots(BOOTS)


def test_cg1_no_thread_is_left_behind(outcomes: Outcomes) -> None:
    """Up to 500 of them, some made and some ending at any time; v1, too."""
    assert_held(outcomes["CG1"], *("CG1",) * 11)


def test_cg2_a_child_is_moved_as_soon_as_it_can_be_found(outcomes: Outcomes) -> None:
    """10,000 of them a mode, with a short wait between the two, and some without."""
    for mode in OURS:
        assert_held(outcomes[f"CG2 {mode}"], *("CG2",) * 4)
    assert_held(outcomes["CG2"], *("CG2",) * 5)


def test_cg3_no_child_comes_to_be_in_a_removed_group(outcomes: Outcomes) -> None:
    assert_held(outcomes["CG3"], *("CG3",) * 5)


def test_cg4_whoever_leads_is_moved(outcomes: Outcomes) -> None:
    assert_held(outcomes["CG4"], *("CG4",) * 5)


def test_cg5_nobody_begins_to_exit_while_being_moved(outcomes: Outcomes) -> None:
    """A process's threads end one after the other."""
    assert_held(outcomes["CG5"], *("CG5",) * 5)


def test_cg6_whole_hierarchies_exclude_everybody(outcomes: Outcomes) -> None:
    assert_held(outcomes["CG6"], *("CG6",) * 5)


def test_cg7_nothing_is_unlocked_that_is_free(outcomes: Outcomes) -> None:
    assert_held(outcomes["CG7"], *("CG7",) * 3)


def test_cg8_modes_can_be_switched_meanwhile(outcomes: Outcomes) -> None:
    assert_held(outcomes["CG8"], "CG1", "CG2", "CG3", "CG4", "CG6", "CG7")


def test_cg9_a_process_with_threads_can_move_itself(outcomes: Outcomes) -> None:
    assert_held(outcomes["CG9"], *("CG9",) * 5)


@pytest.mark.parametrize("what", [name for name in BOOTS if name.endswith("broken")])
def test_what_is_broken_is_seen(outcomes: Outcomes, what: str) -> None:
    assert_seen(outcomes[what])


def test_bad_input_and_many_pids(outcomes: Outcomes) -> None:
    """The same errno in every mode; of many PIDs all, none, or it is said."""
    assert_held(outcomes["input"], *("refusals",) * 3, *("batch",) * 6)
