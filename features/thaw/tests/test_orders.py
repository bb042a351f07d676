# SPDX-License-Identifier: GPL-2.0-only
"""Who is frozen for two reasons, waits that others wait for, and spurious wakeups.

On the debug kernel in a virtual machine, as in test_safety.py.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from features.boots import Boots, Outcomes, assert_held, assert_seen
from features.thaw.tests.test_safety import Guard, case, without
from lull.model import Case

pytestmark = pytest.mark.vm


#: Of the workload `locked`; the first and the last rely on a safeguard.
HOW = ("unix-dgram", "tcp", "aio")

BOOTS: Mapping[str, tuple[Case, ...]] = {
    "passed": (case("passed", "stock", "wake_all", "lull"),),
    "passed broken": (without(Guard.SETTLE, "passed"),),
    "orders": (case("orders", "lull"),),
    "orders on stock": (case("orders", "stock"),),
    "orders broken": (without(Guard.REASONS, "orders"),),
    "toggled": (case("toggled", "lull"),),
    "toggled broken": (without(Guard.REASONS, "toggled"),),
    "beside": (case("beside", "stock", "lull"),),
    "beside within broken": (without(Guard.LEAVE, "beside"),),
    "beside alone broken": (without(Guard.PM_ONLY, "beside"),),
    "locked": tuple(case("locked", "stock", "lull", how=how) for how in HOW),
    "locked unix-dgram broken": (without(Guard.USER, "locked", how="unix-dgram"),),
    "locked aio broken": (without(Guard.USER, "locked", how="aio"),),
    "spurious": (case("spurious", "stock", eintr=1), case("spurious", "lull")),
    "spurious on stock": (case("spurious", "stock"),),
}


@pytest.fixture(scope="session")
def order_outcomes(run_boots: Boots) -> Outcomes:
    return run_boots(BOOTS)


def test_fz8_who_comes_as_the_thaw_begins_is_not_passed_over(
    order_outcomes: Outcomes,
) -> None:
    """Held in __refrigerator() until the freezer has given up."""
    assert_held(order_outcomes["passed"], *["FZ8"] * 3)
    assert_seen(order_outcomes["passed broken"])


def test_fz9_no_order_of_cgroup_and_pm_thaws_or_loses_anybody(
    order_outcomes: Outcomes,
) -> None:
    """All twelve, each kind of wait, a wakeup at each step; stock has the fault."""
    assert_held(order_outcomes["orders"], "FZ9")
    assert_seen(order_outcomes["orders on stock"])
    assert_seen(order_outcomes["orders broken"])


def test_fz9_nor_does_a_cgroup_at_random_moments(order_outcomes: Outcomes) -> None:
    """Before, within and after PM's freeze, by somebody who is frozen himself."""
    assert_held(order_outcomes["toggled"], "FZ9")
    assert_seen(order_outcomes["toggled broken"])


def test_fz9_a_wakeup_goes_to_who_is_free_to_run(order_outcomes: Outcomes) -> None:
    """The first in the queue is in a frozen cgroup, the second is not."""
    assert_held(order_outcomes["beside"], *["FZ8", "FZ9", "FZ9"] * 2)


@pytest.mark.parametrize("when", ["within", "alone"])
def test_fz9_a_wakeup_that_is_swallowed_is_noticed(
    order_outcomes: Outcomes, when: str
) -> None:
    """Left in the queue by PM, or put to rest there by a cgroup."""
    assert_seen(order_outcomes[f"beside {when} broken"])


def test_fz12_who_is_waited_for_is_not_frozen_in_place(
    order_outcomes: Outcomes,
) -> None:
    """For a pipe's mutex in splice(), and for the end of an aio request."""
    assert_held(order_outcomes["locked"], *["FZ12"] * 6)


@pytest.mark.parametrize("how", ["unix-dgram", "aio"])
def test_fz12_a_freeze_in_vain_is_noticed(order_outcomes: Outcomes, how: str) -> None:
    """Lockdep says it of the mutex, the freezer's timeout of the request."""
    assert_seen(order_outcomes[f"locked {how} broken"])


def test_fz12_a_wakeup_for_nothing_is_not_seen_by_the_caller(
    order_outcomes: Outcomes,
) -> None:
    """Sent to who is frozen, and taken back before the thaw."""
    assert_held(order_outcomes["spurious"], "FZ12", "FZ12")
    assert_seen(order_outcomes["spurious on stock"])
