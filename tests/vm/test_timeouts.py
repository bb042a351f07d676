# SPDX-License-Identifier: GPL-2.0-only
"""When a guest is given up."""

from __future__ import annotations

import pytest

from lull.errors import UsageError
from lull.vm.timeouts import (
    SCALE_VARIABLE,
    TimeoutPolicy,
    Watchdog,
    bounded,
    host_factor,
)

POLICY = TimeoutPolicy(boot_s=10, stall_s=5, overall_s=100, leave_s=2)


def test_one_that_is_resumed_is_as_slow_as_it_was_when_it_booted() -> None:
    limit = TimeoutPolicy(stall_s=10)
    booted, resumed = Watchdog(limit), Watchdog(limit, boot_s=30.0)
    booted.line(30.0)
    resumed.line(0.1)
    assert resumed.factor == booted.factor > 1
    assert Watchdog(limit, 2.0, fixed=True, boot_s=30.0).factor == 2.0


def test_output_of_either_kind_keeps_a_guest_alive() -> None:
    dog = Watchdog(POLICY)
    dog.console(4)
    assert dog.verdict(8) is None
    dog.line(8)
    assert dog.verdict(12) is None
    assert "no result and no console output for 5" in str(Watchdog(POLICY).verdict(6))


def test_a_console_that_chatters_is_no_boot() -> None:
    dog = Watchdog(POLICY)
    for second in range(11):
        dog.console(second)
    assert "no first result after 10" in str(dog.verdict(10.5))


def test_results_without_end_are_cut_off() -> None:
    dog = Watchdog(POLICY, fixed=True)
    for second in range(101):
        dog.line(second)
    assert dog.verdict(99.5) is None
    assert dog.verdict(100.5) == "not done after 100 s"


def test_a_bug_leaves_little_time() -> None:
    dog = Watchdog(TimeoutPolicy(stall_s=60, bug_s=3), 2.0, fixed=True)
    dog.line(1)
    dog.bug(2, True)
    dog.bug(7, True)
    assert dog.verdict(7.5) is None
    assert "had reported a bug" in str(dog.verdict(8.5))
    dog.bug(9, False)
    assert dog.verdict(10) is None


def test_a_bug_that_is_looked_for_leaves_less() -> None:
    dog = Watchdog(TimeoutPolicy(stall_s=60, bug_s=30, seen_s=1), 2.0, fixed=True)
    dog.line(1)
    dog.bug(2, True)
    # What comes first may be a piece of it.
    dog.bug(5, True, seen=True)
    dog.bug(6, True, seen=True)
    assert dog.verdict(6.5) is None
    assert "had reported a bug" in str(dog.verdict(7.5))
    # Of two CPUs that report at once the one's lines may be read before the other's.
    dog.bug(8, True)
    assert dog.verdict(9) is None


def test_every_limit_scales() -> None:
    dog = Watchdog(TimeoutPolicy(10, 5, 100, 2, scale=3), 2.0, fixed=True)
    assert dog.factor == 6
    assert dog.verdict(29) is None
    assert dog.verdict(31) is not None
    dog.line(31)
    dog.done(31)
    assert not dog.left_open(42)
    assert dog.left_open(44)
    assert dog.quit_s == 24


def test_a_slow_boot_gives_more_time() -> None:
    dog = Watchdog(TimeoutPolicy(boot_s=60, stall_s=60))
    dog.line(30)
    assert dog.factor == 10
    assert dog.verdict(30 + 590) is None
    assert dog.verdict(30 + 610) is not None


def test_a_known_slow_guest_is_not_counted_twice() -> None:
    dog = Watchdog(TimeoutPolicy(scale=10))
    dog.line(30)
    assert dog.factor == 10


def test_a_fast_boot_does_not_take_time_away() -> None:
    dog = Watchdog(POLICY)
    dog.line(0.1)
    assert dog.factor == 1


def test_done_is_never_late() -> None:
    dog = Watchdog(POLICY)
    dog.line(1)
    dog.done(1)
    assert dog.verdict(1000) is None


def test_the_users_factor_counts_as_given() -> None:
    assert host_factor({SCALE_VARIABLE: "0.5"}) == 0.5
    assert 1 <= host_factor({}) <= 20


def test_a_measured_factor_has_bounds() -> None:
    assert [bounded(f) for f in (0.1, 3.0, 1000.0)] == [1.0, 3.0, 20.0]


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "inf", "nan"])
def test_a_factor_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=SCALE_VARIABLE):
        host_factor({SCALE_VARIABLE: text})
