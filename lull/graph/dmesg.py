# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own times of the phases, from its log.

dpm_show_time() in drivers/base/power/main.c prints what lies between two
calls of ktime_get(): one before the event that begins the phase, one before
the event that ends it. The events are outside of that by the time that it
takes to print the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lull.graph.cycles import MOST_CYCLES
from lull.graph.lines import Lines
from lull.graph.recording import Cycle
from lull.graph.unpack import unpack
from lull.trees.model import Phase

TOLERANCE = 0.005
#: Below this a difference is the line being printed, whatever its share.
SLACK_MS = 0.01

_TIME = re.compile(rb"\[ *(\d{1,12}\.\d{1,9})\]")
_LINE = re.compile(
    rb"PM: (?:(?P<info>late|noirq|early) )?"
    rb"(?:(?P<down>suspend|freeze|quiesce|hibernate)|resume|thaw|restore|recover)"
    rb" of devices (?:complete|aborted) after (?P<ms>\d{1,9}\.\d{3}) msecs\s*$"
)
_DOWN = {
    b"": Phase.SUSPEND,
    b"late": Phase.SUSPEND_LATE,
    b"noirq": Phase.SUSPEND_NOIRQ,
}
_UP = {b"": Phase.RESUME, b"early": Phase.RESUME_EARLY, b"noirq": Phase.RESUME_NOIRQ}


@dataclass(frozen=True)
class Total:
    """What one line says: milliseconds, and when it was printed in seconds.

    ``time`` is None where the log has no times.
    """

    phase: Phase
    ms: float
    time: float | None
    line: int


@dataclass(frozen=True)
class Check:
    """A phase in the log beside the recording; ``trace_ms`` has its length."""

    phase: Phase
    trace_ms: float
    log_ms: float

    @property
    def off(self) -> float:
        """How much longer the trace's is, as a share of the log's."""
        return self.trace_ms / self.log_ms - 1

    @property
    def ok(self) -> bool:
        """They agree within TOLERANCE, or within what a printk takes."""
        return (
            abs(self.off) <= TOLERANCE or abs(self.trace_ms - self.log_ms) <= SLACK_MS
        )


@dataclass(frozen=True)
class Totals:
    """The phases of one cycle in the log."""

    by_phase: Mapping[Phase, Total] = field(default_factory=dict)

    @property
    def time(self) -> float | None:
        """When the first of them was printed."""
        times = [t.time for t in self.by_phase.values() if t.time is not None]
        return min(times, default=None)


def read(source: bytes | Iterable[bytes]) -> tuple[Totals, ...]:
    """The totals in a log, plain or .gz, whole or in pieces, a cycle each.

    Raises nothing of its own; after ``MOST_CYCLES`` the rest is left out.
    """
    pieces = [source] if isinstance(source, bytes) else source
    cycles: list[dict[Phase, Total]] = []
    for number, line in Lines((b" of devices ",)).of(unpack(pieces, [])):
        if len(line) > 1024:
            continue
        found = _LINE.search(line)
        if found is None:
            continue
        phase = (_DOWN if found["down"] else _UP).get(found["info"] or b"")
        ms = float(found["ms"])
        if phase is None or not ms:
            continue
        stamp = _TIME.search(line, 0, found.start())
        time = float(stamp[1]) if stamp else None
        if not cycles or phase in (Phase.SUSPEND, *_not_again(cycles[-1], phase)):
            if len(cycles) == MOST_CYCLES:
                break
            cycles.append({})
        cycles[-1][phase] = Total(phase, ms, time, number)
    return tuple(Totals(cycle) for cycle in cycles)


def _not_again(cycle: Mapping[Phase, Total], phase: Phase) -> tuple[Phase, ...]:
    """The phase itself if it begins a new cycle by being there a second time.

    The noirq phases run again at each wake-up of s2idle: the last ones count.
    """
    again = phase in cycle and "noirq" not in phase
    return (phase,) if again else ()


def of_cycle(
    logs: Sequence[Totals], cycles: Sequence[Cycle], number: int
) -> Totals | None:
    """The log's cycle that is ``cycles[number - 1]``; None if there is none.

    By time where both have the same clock, else by count.
    """
    spans = cycles[number - 1].spans.values()
    if not spans:
        return None
    start, end = min(s.start_s for s in spans), max(s.end_s for s in spans)
    for log in logs:
        # The trace's clock and the log's differ by less than this.
        if log.time is not None and start - 0.1 <= log.time <= end + 0.1:
            return log
    return logs[number - 1] if len(logs) == len(cycles) else None


def check(cycle: Cycle, log: Totals) -> tuple[Check, ...]:
    """The phases that both have and that the trace has whole."""
    return tuple(
        Check(phase, span.ms, log.by_phase[phase].ms)
        for phase, span in cycle.spans.items()
        if phase in log.by_phase and span.ended
    )
