# SPDX-License-Identifier: GPL-2.0-only
"""Time in which others have the CPU does not count."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from lull.vm.served import ServedClock, Thread, parse_stat, threads_of
from tests.busy import busy

STAT = "77 (a (b) c) R 1 77 77 0 -1 4194304 9 0 0 0 150 50 0 0 20 0 1 0 5 6 7 8"


def shown(looks: list[tuple[float, list[Thread]]]) -> list[float]:
    """What the clock shows at each of these, to a tenth."""
    threads: Iterator[list[Thread]] = iter([at[1] for at in looks])
    clock = ServedClock(lambda: next(threads))
    return [round(clock.at(now), 1) for now, _ in looks]


def test_a_thread_is_read_whatever_its_name() -> None:
    assert parse_stat(STAT) == Thread(77, True, 200 / os.sysconf("SC_CLK_TCK"))


def test_who_runs_or_sleeps_is_served() -> None:
    busy = [(at / 2, [Thread(1, True, at / 2)]) for at in range(1, 9)]
    idle = [(at / 2, [Thread(1, False, 0.0)]) for at in range(1, 9)]
    assert shown(busy) == shown(idle) == [at / 2 for at in range(1, 9)]


def test_who_wants_to_run_and_does_not_is_not() -> None:
    looks = [(at / 2, [Thread(1, True, 0.0)]) for at in range(1, 21)]
    assert max(shown(looks)) <= 1.5


def test_of_two_that_take_turns_one_runs() -> None:
    looks = [
        (at / 2, [Thread(1, True, at / 2), Thread(2, True, 0.0)]) for at in range(1, 9)
    ]
    assert shown(looks)[-1] == 4.0


def test_half_of_a_cpu_is_half_of_the_time_and_it_never_goes_back() -> None:
    found = shown([(at / 2, [Thread(1, True, at / 4)]) for at in range(1, 41)])
    assert found == sorted(found)
    assert 10.0 <= found[-1] <= 11.0


def test_a_process_that_is_gone_has_no_threads() -> None:
    clock = ServedClock(lambda: threads_of(2**30))
    assert [clock.at(now) for now in (0.5, 1.0, 1.5)] == [0.5, 1.0, 1.5]


@pytest.mark.seconds(5)
def test_of_three_that_share_a_cpu_each_has_its_share() -> None:
    here = os.sched_getaffinity(0)
    with ExitStack() as ended:
        try:
            os.sched_setaffinity(0, {min(here)})
            crowd = ended.enter_context(busy(3))
        finally:
            os.sched_setaffinity(0, here)
        clocks = [ServedClock(partial(threads_of, pid)) for pid in crowd]
        since = time.monotonic()
        while (now := time.monotonic() - since) < 3.5:
            served = [clock.at(now) for clock in clocks]
            time.sleep(0.05)
    assert sum(served) <= 2.5 * now
