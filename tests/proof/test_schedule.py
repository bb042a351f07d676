# SPDX-License-Identifier: GPL-2.0-only
"""Which worker gets which test."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lull.proof.schedule import LongestFirst


class Worker:
    """As much of one as the scheduler asks for."""

    shutting_down = False
    gateway = SimpleNamespace(id="gw")

    def __init__(self) -> None:
        self.sent: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def begun(pytester: pytest.Pytester, tests: int) -> tuple[LongestFirst, Any, Any]:
    """Two workers with their first tests, of which 0 takes longest."""
    config = pytester.parseconfig("--tx", "2*popen", "--maxschedchunk=1")
    schedule = LongestFirst(config)
    workers: list[Any] = [Worker(), Worker()]
    for worker in workers:
        schedule.add_node(worker)
        schedule.add_node_collection(worker, [f"test_{n}" for n in range(tests)])
    schedule.schedule()
    return schedule, *workers


def test_none_that_takes_long_waits_for_one_that_does(
    pytester: pytest.Pytester,
) -> None:
    schedule, one, other = begun(pytester, 12)
    assert one.sent == [0, 11] and other.sent == [1, 10]
    schedule.mark_test_complete(other, 1, duration=60)
    schedule.mark_test_complete(other, 10, duration=0.01)
    schedule.mark_test_complete(other, 2, duration=50)
    schedule.mark_test_complete(other, 9, duration=0.01)
    assert other.sent == [1, 10, 2, 9, 3, 8] and one.sent == [0, 11]


def test_each_is_run_once_and_all_come_to_their_end(pytester: pytest.Pytester) -> None:
    schedule, one, other = begun(pytester, 7)
    ended: dict[Any, int] = {one: 0, other: 0}
    while not schedule.tests_finished or any(schedule.node2pending.values()):
        for worker in (one, other):
            if ended[worker] < len(worker.sent):
                index = worker.sent[ended[worker]]
                ended[worker] += 1
                schedule.mark_test_complete(worker, index, duration=1)
    assert sorted(one.sent + other.sent) == list(range(7))
    assert one.shutting_down and other.shutting_down


def test_few_are_shared_out(pytester: pytest.Pytester) -> None:
    _, one, other = begun(pytester, 3)
    assert len(one.sent) == 2 and len(other.sent) == 1
    assert 0 in one.sent and 1 in other.sent
