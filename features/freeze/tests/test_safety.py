# SPDX-License-Identifier: GPL-2.0-only
"""The numbered safety statements, on the debug kernel in a virtual machine.

Each test runs the variants that must hold and, where one exists, the variant
that lacks the safeguard: that one must be seen to fail by the same workload.
A WARN, lockdep, KASAN or RCU line in the log fails the boot, and so the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntFlag

import pytest

from features.boots import Outcome, cases_of, verdicts
from lull.errors import GuestPanic
from lull.model import Case, Check, Value

pytestmark = pytest.mark.vm

Run = Callable[..., tuple[Check, ...]]
Verdicts = Mapping[str, tuple[Check, ...]]
Boots = Callable[[Mapping[str, tuple[Case, ...]]], Mapping[str, Outcome]]


class Guard(IntFlag):
    """enum freeze_safeguard of the kernel, as bits of inject/disable."""

    REST = 1 << 0
    FORKS = 1 << 1
    THAWS = 1 << 2
    EXEC = 1 << 3
    WATCH = 1 << 4
    REVISIT = 1 << 5
    REASONS = 1 << 6


case = cases_of("freeze")


def texts(checks: tuple[Check, ...], name: str) -> str:
    return "\n".join(c.text for c in checks if c.name == name)


def assert_held(checks: tuple[Check, ...], name: str, count: int) -> None:
    """All ``count`` verdicts of that name are there, and good."""
    mine = [c for c in checks if c.name == name]
    assert len(mine) == count, texts(checks, name)
    assert all(c.ok for c in mine), texts(checks, name)


def test_fz1_an_exiting_task_is_waited_for(run_debug: Run) -> None:
    """stock and lull wait for the held task; exit_state is shown not to."""
    checks = run_debug(
        case("fz1", "stock", "lull", expect=0),
        case("fz1", "exit_state", expect=1),
    )
    assert_held(checks, "FZ1", 3)


def test_fz6_a_thaw_behind_the_freezers_back_is_seen(run_debug: Run) -> None:
    """Lull refuses such a thaw, and where it cannot, counts it."""
    both = Guard.REASONS | Guard.THAWS
    checks = run_debug(
        case("fz6", "stock", "lull", expect=0),
        case("fz6", "lull", expect=0, disable=int(Guard.REASONS)),
        case("fz6", "lull", expect=1, disable=int(both)),
    )
    assert_held(checks, "FZ6", 8)


def test_fz6_a_child_that_comes_late_is_seen(run_debug: Run) -> None:
    """Its parent was asked while it forked; nobody has asked the child."""
    checks = run_debug(
        case("fork_between", "stock", "lull", expect=0),
        case("fork_between", "lull", expect=1, disable=int(Guard.FORKS)),
    )
    assert_held(checks, "FZ5", 3)


def test_fz7_a_task_that_leaves_the_refrigerator_is_not_frozen(
    run_debug: Run,
) -> None:
    """Stock has the hole, which is reproduced here; lull has not."""
    checks = run_debug(
        case("fz7", "lull", "lull", expect=0),
        case("fz7", "lull", expect=1, disable=int(Guard.REST)),
        case("fz7", "stock", expect=1),
    )
    assert_held(checks, "FZ7", 4)


def test_fz9_cgroup_freeze_survives_pm_freeze(run_debug: Run) -> None:
    """Stock thaws a sleeper that its v1 cgroup still freezes; lull does not."""
    checks = run_debug(
        case("fz9", "lull", expect=0),
        case("fz9", "lull", expect=1, disable=int(Guard.REASONS)),
        case("fz9", "stock", expect=1),
    )
    assert_held(checks, "FZ9", 12)


def test_fz13_a_failed_freeze_leaves_nothing_behind(run_debug: Run) -> None:
    """A timeout and a wakeup; exit_state passes over the task that refuses."""
    checks = run_debug(
        case("fz13", "stock", "lull", expect=0),
        case("fz13", "exit_state", expect=1),
    )
    assert_held(checks, "FZ13", 5)


def test_fz5_a_helper_does_not_run_its_program(run_debug: Run) -> None:
    """Held in exec until all are frozen; stock has the hole as well."""
    checks = run_debug(
        case("exec_frozen", "lull", expect=0),
        case("exec_frozen", "lull", expect=1, disable=int(Guard.EXEC)),
        case("exec_frozen", "stock", expect=1),
    )
    assert_held(checks, "FZ5", 3)


def test_fz5_who_may_not_be_asked_yet_is_looked_at_again(run_debug: Run) -> None:
    """Held until after the first walk, in which it had PF_NOFREEZE."""
    unwatched = Guard.EXEC | Guard.WATCH
    checks = run_debug(
        case("exec_between", "stock", "lull", expect=0),
        case("exec_between", "lull", expect=0, disable=int(Guard.EXEC)),
        case("exec_between", "lull", expect=1, disable=int(unwatched)),
    )
    assert_held(checks, "FZ5", 4)


#: Each for 40 cycles, with 5 ms in which an escaped task can be caught.
STORMS: Mapping[str, Mapping[str, Value]] = {
    "forks": {"forks": 2, "threads": 0, "execs": 0},
    "threads": {"forks": 0, "threads": 2, "execs": 0},
    "execs": {"forks": 0, "threads": 0, "execs": 2},
    "stops": {"forks": 0, "threads": 0, "execs": 0, "stops": 2},
    "all": {"forks": 1, "threads": 1, "execs": 1, "stops": 1},
}
HELPERS: Mapping[str, Value] = {"forks": 0, "threads": 0, "execs": 0, "umh": 2}


def storm(*modes: str, cycles: int = 40, **params: Value) -> Case:
    return case("storm", *modes, cycles=cycles, window=5, **params)


@pytest.fixture(scope="session")
def storms(run_boots: Boots) -> Verdicts:
    found = run_boots(
        {
            "each": tuple(storm("stock", "lull", **p) for p in STORMS.values()),
            "helpers": (storm("lull", **HELPERS),),
            "switches": (storm("lull", "stock", cycles=30, switchers=1),),
            "second look broken": (
                storm("lull", cycles=20, disable=int(Guard.REVISIT)),
            ),
        }
    )
    return {name: verdicts(outcome) for name, outcome in found.items()}


def test_fz5_nobody_runs_in_a_frozen_system(storms: Verdicts) -> None:
    """200 cycles of each mode over the storms, without one escape."""
    assert_held(storms["each"], "FZ5", 2 * len(STORMS))


def test_fz5_helpers_do_not_reach_user_mode(storms: Verdicts) -> None:
    """User mode helpers that nobody waits for, in great numbers."""
    assert_held(storms["helpers"], "FZ5", 1)


def test_fz5_an_escape_is_seen(storms: Verdicts) -> None:
    """Without its second look the freezer lets tasks run, and it is noticed."""
    (check,) = storms["second look broken"]
    assert not check.ok, check.text


def test_modes_can_be_switched_during_a_storm(storms: Verdicts) -> None:
    assert_held(storms["switches"], "FZ5", 2)


def test_a_warning_in_the_log_fails_the_run(run_debug: Run) -> None:
    with pytest.raises(GuestPanic, match=r"WARNING.*warn_write"):
        run_debug(case("warn", "stock"))
