# SPDX-License-Identifier: GPL-2.0-only
"""Where the time of a whole cycle went, from the write to its return. Pure.

Each moment belongs to one step of the kernel: of those that it lies in the one
that began last, which is the innermost. What lies in none is a gap, which
nobody claims. Times are rounded to whole microseconds first and subtracted
then, so that the parts add up to the total exactly; each alone may be off by
less than a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from lull.graph.recording import (
    COMPLETE,
    PHASE,
    PREPARE,
    Aside,
    Cycle,
    Span,
    Whole,
)

#: What steps are called here, where that is not how the kernel calls them.
_NAMES = {
    "sync_filesystems": "sync",
    "freeze_processes": "freeze",
    "thaw_processes": "thaw",
    PREPARE: "prepare",
    **{action: str(phase) for action, phase in PHASE.items()},
    "CPU_OFF": "CPUs off",
    "CPU_ON": "CPUs on",
    "acpi_suspend": "machine_suspend",
    COMPLETE: "complete",
}
#: It lies around sync and freeze, and claims nothing of its own.
_AROUND = "suspend_enter"


@dataclass(frozen=True)
class Part:
    """A step, or all of one name: ``times`` how often, ``asides`` the calls of
    ->prepare() or ->complete() in it, the longest first."""

    name: str
    us: int
    times: int
    asides: tuple[Aside, ...] = ()


@dataclass(frozen=True)
class Gap:
    """What nobody claims between two steps; empty is the beginning or the end."""

    us: int
    after: str
    before: str


@dataclass(frozen=True)
class Account:
    """``total_us`` is the sum of all parts, of ``tail_us`` and of all gaps.

    The parts are in the order in which they first come, the tail is what comes
    after the last of them, and the gaps are sorted by length.
    """

    whole: Whole
    total_us: int
    parts: tuple[Part, ...]
    tail_us: int
    gaps: tuple[Gap, ...]

    @property
    def unclaimed_us(self) -> int:
        """What nobody claims, without the tail."""
        return sum(gap.us for gap in self.gaps)


def account(cycle: Cycle) -> Account | None:
    """The account of a cycle; None where there is nothing to account for."""
    if cycle.whole is None:
        return None
    start, end = _us(cycle.whole.start_s), _us(cycle.whole.end_s)
    steps = [span for span in cycle.steps if span.action != _AROUND]
    us: dict[str, int] = {}
    gaps: list[Gap] = []
    tail, after = 0, ""
    for name, length, before in _moments(steps, start, end):
        if name:
            us[name] = us.get(name, 0) + length
            after = name
        elif before or not after:
            gaps.append(Gap(length, after, before))
        else:
            tail = length
    parts = tuple(
        Part(name, length, _times(name, steps), _asides(name, cycle.asides))
        for name, length in us.items()
    )
    ranked = tuple(sorted(gaps, key=lambda gap: -gap.us))
    return Account(cycle.whole, end - start, parts, tail, ranked)


def _us(time: float) -> int:
    return round(time * 1e6)


def name_of(action: str) -> str:
    """What a step of the kernel is called in an account."""
    return _NAMES.get(action, action)


def _moments(
    steps: Sequence[Span], start: int, end: int
) -> Iterator[tuple[str, int, str]]:
    """Who has what from ``start`` to ``end``, in microseconds, in order.

    ``(name, length, next)``: the name is empty for a gap, and ``next`` is then
    the step that ends it, empty where none does.
    """
    spans = [
        (max(start, _us(s.start_s)), min(end, _us(s.end_s)), name_of(s.action))
        for s in steps
    ]
    spans = sorted(span for span in spans if span[0] <= span[1])
    edges = sorted({start, end, *(t for span in spans for t in span[:2])})
    running: list[tuple[int, int, int]] = []
    i = 0
    for a, b in pairwise(edges):
        while i < len(spans) and spans[i][0] <= a:
            heappush(running, (-spans[i][0], spans[i][1], i))
            i += 1
        while running and running[0][1] <= a:
            heappop(running)
        if running:
            yield spans[running[0][2]][2], b - a, ""
        else:
            yield "", b - a, spans[i][2] if i < len(spans) else ""


def _times(name: str, steps: Iterable[Span]) -> int:
    # One action alone: acpi_suspend lies in machine_suspend.
    found = [span.action for span in steps if name_of(span.action) == name]
    return found.count(found[0])


def _asides(name: str, asides: Iterable[Aside]) -> tuple[Aside, ...]:
    inside = (aside for aside in asides if name_of(aside.action) == name)
    return tuple(sorted(inside, key=lambda aside: -aside.us))
