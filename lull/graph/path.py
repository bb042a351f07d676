# SPDX-License-Identifier: GPL-2.0-only
"""What waited for what in a phase as it ran, and its critical path.

A trace says when callbacks ran, not why then. What a callback waited for is
taken to be whichever ended last before it began, of: what it depends on; what
the main thread did before, if it ran there; and, for an async device that is
started when the walk of the list comes by, what the main thread had done by
then. Devices without a callback pass waiting on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from lull.graph.recording import Callback, Span
from lull.graph.tree import Graph
from lull.trees.model import Device, Phase
from lull.trees.order import waits_for

#: What it takes to wake a thread or to start a worker, at most.
DISPATCH_S = 1e-3
#: An unexplained start this soon after some end is named with it.
CLOSE_S = 1e-4


class Why(StrEnum):
    """What kept a callback from beginning earlier."""

    DEPENDENCY = "waited for"
    THREAD = "in the main thread after"
    WALK = "the walk waited for"
    STARTED = "started by the walk after"
    NEAR = "begins right after (a device link?)"
    FIRST = "nothing before it"


@dataclass(frozen=True)
class Hop:
    """A callback on the way, what it waited for and how long after that it
    began. ``gap`` says what the time between is, where it is not short."""

    name: str
    call: Callback
    why: Why
    after: str | None
    gap_s: float
    gap: str = ""

    @property
    def ms(self) -> float:
        """The callback's own time in milliseconds."""
        return self.call.us / 1e3


@dataclass(frozen=True)
class CriticalRun:
    """The critical path of a phase as it ran, in the order of time.

    ``rest_s`` is from the last end to the end of the phase.
    """

    phase: Phase
    span: Span
    steps: tuple[Hop, ...]
    rest_s: float

    def share(self, step: Hop) -> float:
        """The step's callback as a share of the phase, 0 to 1."""
        return step.ms / self.span.ms if self.span.ms > 0 else 0.0

    @property
    def callbacks_s(self) -> float:
        """What of the path is in callbacks, in seconds."""
        return sum(step.ms for step in self.steps) / 1e3


class Waits:
    """One phase of a graph, made ready to ask why a callback began when."""

    def __init__(self, graph: Graph, phase: Phase, span: Span, upfront: bool) -> None:
        """``upfront``: async devices are started before the walk."""
        self.phase = phase
        self.span = span
        self.upfront = upfront
        self.calls = graph.calls[phase]
        self.needs = waits_for(graph.tree, phase)
        devices = graph.tree.devices
        self.walk = devices[::-1] if phase.down else devices
        self.place = {device.name: i for i, device in enumerate(self.walk)}
        self.devices: Mapping[str, Device] = {d.name: d for d in devices}
        self.main = sorted(
            (name for name, call in self.calls.items() if self.in_main(name)),
            key=lambda name: self.calls[name].start_s,
        )
        self.by_end = sorted(self.calls, key=lambda name: self.calls[name].end_s)

    def in_main(self, name: str) -> bool:
        """The thread that walks the list ran it."""
        if self.span.pid < 0:
            return not self.devices[name].is_async
        return self.calls[name].pid == self.span.pid

    def dependencies(self, name: str) -> frozenset[str]:
        """The devices with a callback that ``name`` has to wait for."""
        found: set[str] = set()
        seen = {name}
        todo = list(self.needs[name])
        while todo:
            other = todo.pop()
            if other in seen:
                continue
            seen.add(other)
            if other in self.calls:
                found.add(other)
            else:
                todo.extend(self.needs[other])
        return frozenset(found)

    def why(self, name: str) -> Hop:
        """What ``name``, which has a callback here, waited for."""
        call = self.calls[name]
        best, why, when = None, Why.FIRST, self.span.start_s
        for kind, other in self._candidates(name):
            end = self.calls[other].end_s
            if when < end <= call.start_s or (best is None and end == when):
                best, why, when = other, kind, end
        gap = max(0.0, call.start_s - when)
        near = self._near(name, call) if gap > DISPATCH_S else None
        if near is not None and not self._walk_came_by(name):
            best, why = near, Why.NEAR
            gap = call.start_s - self.calls[near].end_s
        return Hop(name, call, why, best, gap, self._gap(name, why, gap))

    def _candidates(self, name: str) -> Iterator[tuple[Why, str]]:
        for other in self.dependencies(name):
            yield Why.DEPENDENCY, other
        in_main = self.in_main(name)
        if not in_main and self.upfront:
            return
        before = self._before(name)
        if before is not None:
            yield (Why.THREAD if in_main else Why.STARTED), before
        first = self.place[before] + 1 if before is not None else 0
        for device in self.walk[first : self.place[name]]:
            if not device.is_async and device.name not in self.calls:
                for other in self.dependencies(device.name):
                    yield Why.WALK, other

    def _before(self, name: str) -> str | None:
        """What the main thread ended last on its walk to ``name``."""
        start, place = self.calls[name].start_s, self.place[name]
        for other in reversed(self.main):
            if self.calls[other].end_s <= start and self.place[other] < place:
                return other
        return None

    def _walk_came_by(self, name: str) -> bool:
        """The walk was just then at ``name``: those before it begin then, too."""
        if self.upfront or self.in_main(name):
            return False
        start = self.calls[name].start_s
        passed = (d.name for d in reversed(self.walk[: self.place[name]]))
        before = islice((n for n in passed if n in self.calls), 3)
        return any(0 <= start - self.calls[n].start_s <= DISPATCH_S for n in before)

    def _near(self, name: str, call: Callback) -> str | None:
        """What else ended within CLOSE_S before ``call``, and took longer itself."""
        near = [
            other
            for other in self.by_end
            if other != name
            and call.start_s - CLOSE_S <= self.calls[other].end_s <= call.start_s
            and self.calls[other].us >= CLOSE_S * 1e6
        ]
        return max(near, key=lambda other: self.calls[other].us, default=None)

    def _gap(self, name: str, why: Why, gap: float) -> str:
        if gap <= DISPATCH_S:
            return "dispatch" if gap > CLOSE_S else ""
        call = self.calls[name]
        begin = call.start_s - gap
        overlaps = {
            other: min(self.calls[other].end_s, call.start_s)
            - max(self.calls[other].start_s, begin)
            for other in self.main
            if other != name
        }
        busiest = max(overlaps, key=overlaps.__getitem__, default=None)
        if busiest is not None and overlaps[busiest] > gap / 2:
            return f"main thread busy with {busiest}"
        if why is Why.STARTED:
            return "main thread between callbacks"
        return "not explained by the recording"


def way_to(waits: Waits, name: str) -> tuple[Hop, ...]:
    """How ``name``, which has a callback, came to begin: from what waited to what
    it waited for, in the order of time, ``name`` last."""
    steps: list[Hop] = []
    seen: set[str] = set()
    at: str | None = name
    while at is not None and at not in seen:
        seen.add(at)
        steps.append(waits.why(at))
        at = steps[-1].after
    return tuple(reversed(steps))


def critical(waits: Waits) -> CriticalRun:
    """The way to the last end."""
    name = waits.by_end[-1] if waits.by_end else None
    last = waits.calls[name].end_s if name is not None else waits.span.start_s
    steps = () if name is None else way_to(waits, name)
    rest = max(0.0, waits.span.end_s - last)
    return CriticalRun(waits.phase, waits.span, steps, rest)


def covered_s(calls: Iterable[Callback]) -> float:
    """For how long at least one of them ran, in seconds."""
    total, until = 0.0, float("-inf")
    for call in sorted(calls, key=lambda call: call.start_s):
        total += max(0.0, call.end_s - max(call.start_s, until))
        until = max(until, call.end_s)
    return total
