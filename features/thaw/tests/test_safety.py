# SPDX-License-Identifier: GPL-2.0-only
"""The numbered safety statements, on the debug kernel in a virtual machine.

A WARN, lockdep, KASAN or RCU line in the log fails the boot, and so the test.
What holds is tried as it is, and again without its safeguard: then the same
workload has to say so. Who is frozen for two reasons is in test_orders.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag

import pytest

from features.boots import Boots, Outcomes, assert_held, assert_seen, cases_of, verdicts
from lull.model import Case, Value

pytestmark = pytest.mark.vm


class Guard(IntFlag):
    """enum thaw_safeguard of the kernel, as bits of inject/disable."""

    SETTLE = 1 << 0
    REASONS = 1 << 1
    LEAVE = 1 << 2
    PM_ONLY = 1 << 3
    SAVED = 1 << 4
    VICTIM = 1 << 5
    USER = 1 << 6


case = cases_of("thaw")


def without(guard: Guard, workload: str, **more: Value) -> Case:
    return case(workload, "lull", disable=int(guard), **more)


#: For 20 ms nobody but a timer can wake; half of 100,000 wakeups is a boot's share.
HALF: Mapping[str, Value] = {"wakeups": 50000, "window": 20, "quiet": 5}
FEW: Mapping[str, Value] = {"wakeups": 12000, "window": 20}

#: The steps of `stopped`, and the kinds of wait that `queue` has two of.
STEPS = 5
QUEUES = 4

#: Run side by side, the longest first: two that wait for minutes, then those that work.
BOOTS: Mapping[str, tuple[Case, ...]] = {
    "killed broken": (without(Guard.SAVED, "killed"),),
    "victim broken": (without(Guard.VICTIM, "victim"),),
    "wakeups close": (case("wakeups", "lull", **HALF, gap=20, pads=200),),
    "wakeups apart": (case("wakeups", "lull", **HALF, gap=100),),
    "wakeups of others": (case("wakeups", "stock", "wake_all", **FEW),),
    "wakeups broken": (without(Guard.SAVED, "wakeups", **FEW),),
    "timeouts of others": (case("timeouts", "stock", "wake_all"),),
    "timeouts": (case("timeouts", "lull"),),
    "timeouts broken": (without(Guard.SAVED, "timeouts"),),
    "killed": (case("killed", "stock", "wake_all", "lull"),),
    "victim": (case("victim", "stock", "lull"),),
    "stopped": (case("stopped", "stock", "wake_all", "lull"),),
    "queue": (case("queue", "stock", "lull"),),
    "queue broken": (without(Guard.PM_ONLY, "queue"),),
    "interrupted on stock": (case("wakeups", "stock", wakeups=1000, quiet=3),),
}


@pytest.fixture(scope="session")
def outcomes(run_boots: Boots) -> Outcomes:
    return run_boots(BOOTS)


@pytest.mark.parametrize("how", ["close", "apart"])
def test_fz8_no_wakeup_is_lost(outcomes: Outcomes, how: str) -> None:
    """100,000 in two boots, in every kind of wait, by others and by timers.

    All come, in their order; and who sleeps undisturbed sees no EINTR.
    """
    assert_held(outcomes[f"wakeups {how}"], "FZ8", "EINTR")


def test_fz8_nor_is_it_in_the_other_modes(outcomes: Outcomes) -> None:
    assert_held(outcomes["wakeups of others"], "FZ8", "FZ8")


def test_fz8_fz10_a_wakeup_that_is_lost_is_noticed(outcomes: Outcomes) -> None:
    """One that came to a frozen task is forgotten."""
    assert_seen(outcomes["wakeups broken"])


def test_an_eintr_that_nobody_asked_for_is_noticed(outcomes: Outcomes) -> None:
    """Stock has them: sleepers are signalled, to go to the refrigerator."""
    storm, quiet = verdicts(outcomes["interrupted on stock"])
    assert (storm.name, storm.ok) == ("FZ8", True), storm.text
    assert (quiet.name, quiet.ok) == ("EINTR", False), quiet.text


def test_timeouts_that_expire_while_frozen_return_when_due(outcomes: Outcomes) -> None:
    """At the thaw where that is later, never early, and as timeouts."""
    assert_held(outcomes["timeouts"], "timeouts", "EINTR")


def test_timeouts_return_when_due_in_the_other_modes(outcomes: Outcomes) -> None:
    """Where they do not say that they were interrupted, as many do."""
    checks = verdicts(outcomes["timeouts of others"])
    found = [(check.name, check.ok) for check in checks]
    both = [("timeouts", True), ("EINTR", False)] * 2
    assert found == both, "\n".join(check.text for check in checks)


def test_fz10_a_timeout_that_is_lost_is_noticed(outcomes: Outcomes) -> None:
    """One that is over while frozen is a wakeup as any other."""
    assert_seen(outcomes["timeouts broken"])


def test_fz11_who_is_killed_while_frozen_dies_after_it(outcomes: Outcomes) -> None:
    """By SIGKILL from a timer, or from somebody just before."""
    assert_held(outcomes["killed"], *["FZ11"] * 6)
    assert_seen(outcomes["killed broken"])


def test_fz11_a_victim_of_the_oom_killer_dies_in_a_frozen_cgroup(
    outcomes: Outcomes,
) -> None:
    """In the refrigerator, or frozen in place."""
    assert_held(outcomes["victim"], *["victim"] * 4)
    assert_seen(outcomes["victim broken"])


def test_stops_are_what_they_were(outcomes: Outcomes) -> None:
    """SIGSTOP, job control, a tracer's stops, and a tracer that comes later."""
    assert_held(outcomes["stopped"], *["stopped"] * STEPS * 3)


def test_fz8_a_wakeup_goes_to_the_waiter_that_can_run(outcomes: Outcomes) -> None:
    """The one before it in the queue is in a frozen cgroup."""
    assert_held(outcomes["queue"], *["queue"] * QUEUES * 2)
    assert_seen(outcomes["queue broken"])
