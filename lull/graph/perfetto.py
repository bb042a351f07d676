# SPDX-License-Identifier: GPL-2.0-only
"""A cycle for the Perfetto viewer, as Chrome's trace JSON.

One track for the phases, one for the main thread, and as many for workers as
ran at once: on one track slices must not overlap. Arrows go along the
critical path of each phase.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from lull.graph.path import CriticalRun
from lull.graph.recording import Callback, Cycle
from lull.graph.tree import Graph

_PID = 1
#: The first track of each kind; there is room for 99,999 more of each.
_PHASES, _MAIN, _WORKERS = 100_000, 200_000, 300_000
_NAMES = {_PHASES: "phases", _MAIN: "main thread", _WORKERS: "worker"}

_Event = dict[str, Any]


def to_json(cycle: Cycle, graph: Graph, paths: Iterable[CriticalRun]) -> str:
    """The JSON text; times are microseconds from the first event."""
    spans = [*cycle.steps, *(s for s in cycle.spans.values() if s not in cycle.steps)]
    zero = min((span.start_s for span in spans), default=0.0)
    clock = _Clock(zero)
    events: list[_Event] = []
    tracks: list[int] = []

    def put(first: int, slices: Sequence[_Event]) -> None:
        for lane, each in zip(_lanes(slices, first == _PHASES), slices, strict=True):
            each["tid"] = first + lane
            tracks.append(first + lane)
        events.extend(slices)

    put(
        _PHASES,
        [
            clock.slice(span.action, "phase", span.start_s, span.end_s, {})
            for span in sorted(spans, key=lambda span: (span.start_s, -span.end_s))
        ],
    )
    slices: dict[int, _Event] = {}
    main: list[_Event] = []
    workers: list[_Event] = []
    for name, call in sorted(
        ((n, c) for calls in graph.calls.values() for n, c in calls.items()),
        key=lambda item: item[1].start_s,
    ):
        each = slices[id(call)] = clock.slice(
            name, "callback", call.start_s, call.last_s, _args(call)
        )
        in_main = call.pid == cycle.spans[call.phase].pid
        (main if in_main else workers).append(each)
    put(_MAIN, main)
    put(_WORKERS, workers)
    events += _flows(paths, slices)
    events += _metadata(sorted(set(tracks)))
    # One event a line: the whole at once takes several times as much memory.
    lines = ",\n".join(map(json.dumps, events))
    return f'{{"displayTimeUnit": "ms", "traceEvents": [\n{lines}\n]}}\n'


class _Clock:
    """Times of the trace to microseconds from ``zero``, in whole nanoseconds."""

    def __init__(self, zero: float) -> None:
        self.zero = zero

    def us(self, time: float) -> float:
        return round((time - self.zero) * 1e6, 3)

    def slice(
        self, name: str, kind: str, start: float, end: float, args: Mapping[str, Any]
    ) -> _Event:
        begin = self.us(start)
        return {
            "ph": "X",
            "name": name,
            "cat": kind,
            "pid": _PID,
            "ts": begin,
            "dur": round(max(0.0, self.us(end) - begin), 3),
            "args": dict(args),
        }


def _args(call: Callback) -> dict[str, Any]:
    args: dict[str, Any] = {"phase": call.phase, "task": f"{call.task}-{call.pid}"}
    if call.driver:
        args["driver"] = call.driver
    if call.parent:
        args["parent"] = call.parent
    if call.err:
        args["err"] = call.err
    if not call.ended:
        args["note"] = "the end is not recorded"
    return args


def _lanes(slices: Iterable[_Event], nest: bool) -> list[int]:
    """A track for each of ``slices``, which are in order of their start: the
    first on which all before it has ended, or with ``nest`` is around it."""
    lanes: list[list[int]] = []
    found = []
    for each in slices:
        start, length = _ns(each["ts"]), _ns(each["dur"])
        for stack in lanes:
            while stack and stack[-1] <= start:
                stack.pop()
        free = (
            lane
            for lane, stack in enumerate(lanes)
            if not stack or (nest and start + length <= stack[-1])
        )
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append(start + length)
        found.append(lane)
    return found


def _ns(us: float) -> int:
    return round(us * 1000)


def _flows(
    paths: Iterable[CriticalRun], slices: Mapping[int, _Event]
) -> Iterable[_Event]:
    number = 0
    for path in paths:
        for before, after in pairwise(path.steps):
            number += 1
            source, target = slices[id(before.call)], slices[id(after.call)]
            common = {"cat": "critical path", "name": path.phase, "pid": _PID}
            # An arrow belongs to the slice around its end.
            middle = round(source["ts"] + source["dur"] / 2, 3)
            yield {
                **common,
                "ph": "s",
                "id": number,
                "tid": source["tid"],
                "ts": min(middle, target["ts"]),
            }
            yield {
                **common,
                "ph": "f",
                "bp": "e",
                "id": number,
                "tid": target["tid"],
                "ts": target["ts"],
            }


def _metadata(tracks: Iterable[int]) -> Iterable[_Event]:
    def meta(what: str, tid: int, args: Mapping[str, Any]) -> _Event:
        return {"ph": "M", "name": what, "pid": _PID, "tid": tid, "args": dict(args)}

    yield meta("process_name", 0, {"name": "suspend and resume"})
    for tid in tracks:
        name = _NAMES[tid // 100_000 * 100_000]
        lane = tid % 100_000
        number = f" {lane + 1}" if lane or tid >= _WORKERS else ""
        yield meta("thread_name", tid, {"name": name + number})
        yield meta("thread_sort_index", tid, {"sort_index": tid})
