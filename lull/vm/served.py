# SPDX-License-Identifier: GPL-2.0-only
"""A process's own clock: it stands where others have the CPU that it wants.

A guest that hangs and a guest that gets no CPU look alike from outside: neither
says anything. The limits are for the first. What the kernel counts itself of waiting
for a CPU (``schedstat``) is not in every kernel; what is in each is which thread wants
to run, and for how long it ran.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

#: A thread's time comes in ticks of 10 ms as a rule: over less than that it is noise.
WINDOW_S = 1.0

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Thread:
    """One thread just now: does it run or want to, and its CPU time in seconds."""

    tid: int
    ready: bool
    cpu_s: float


def parse_stat(text: str) -> Thread:
    """A thread of ``/proc/PID/task/TID/stat``; see proc(5)."""
    # The name is in parentheses, and may have some itself.
    head, _, tail = text.rpartition(")")
    words = tail.split()
    return Thread(
        tid=int(head.partition(" ")[0]),
        ready=words[0] == "R",
        cpu_s=(int(words[11]) + int(words[12])) / _TICKS_A_SECOND,
    )


def threads_of(pid: int, proc: Path = Path("/proc")) -> Iterator[Thread]:
    """The threads of process ``pid``; none where it is gone."""
    try:
        tasks = list((proc / str(pid) / "task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            yield parse_stat((task / "stat").read_text())
        except OSError:
            continue


class ServedClock:
    """The time for which a process ran, or wanted nothing.

    ``look`` says what its threads do just now; no other I/O.
    """

    def __init__(self, look: Callable[[], Iterable[Thread]]) -> None:
        self._look = look
        self._shown = 0.0
        self._starved = 0.0
        self._window = _Window(0.0, {})

    def at(self, now: float) -> float:
        """What it shows ``now``, in seconds since the process's start.

        It has to be asked several times in ``WINDOW_S``, and never goes back.
        """
        threads = list(self._look())
        window = self._window
        window.looks += 1
        window.ready += any(thread.ready for thread in threads)
        if now - window.since >= WINDOW_S:
            self._starved += window.starved(now, threads)
            cpu = {thread.tid: thread.cpu_s for thread in threads}
            self._window = _Window(now, cpu)
        self._shown = max(self._shown, now - self._starved)
        return self._shown


@dataclass
class _Window:
    """Since when, what each thread had run by then, and what was seen since."""

    since: float
    cpu: dict[int, float]
    looks: int = 0
    ready: int = 0

    def starved(self, now: float, threads: Iterable[Thread]) -> float:
        """For how long somebody wanted to run and nobody did.

        By the thread that ran most: of two that take turns on one CPU each waits,
        but the process does not.
        """
        # A thread that came since then had run for nothing.
        ran = [thread.cpu_s - self.cpu.get(thread.tid, 0.0) for thread in threads]
        wanted = (now - self.since) * self.ready / self.looks
        return min(max(wanted - max(ran, default=wanted), 0.0), now - self.since)
