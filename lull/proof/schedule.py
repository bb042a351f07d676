# SPDX-License-Identifier: GPL-2.0-only
"""Which worker of pytest-xdist gets which test, the longest first."""

from __future__ import annotations

from xdist.scheduler import LoadScheduling  # type: ignore[import-untyped]
from xdist.workermanage import (  # type: ignore[import-untyped]
    WorkerController,
)


class LongestFirst(LoadScheduling):  # type: ignore[misc]
    """A long test never waits in one worker for another long one to end.

    A worker begins a test when it has been given the next one, too, which no other
    takes from it. So behind one from the list's begin comes one from its end: of those
    that take no time.
    """

    def _send_tests(self, node: WorkerController, num: int) -> None:
        given = self.node2pending[node]
        sent = []
        for _ in range(min(num, len(self.pending))):
            behind_long = bool(given) and given[-1] < self.pending[0]
            sent.append(self.pending.pop(-1 if behind_long else 0))
            given.append(sent[-1])
        if sent:
            node.send_runtest_some(sent)
