# SPDX-License-Identifier: GPL-2.0-only
"""One cycle of suspend and resume, built of its events as they come."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lull.graph.events import WRITE, End, Event, Mark, Start, phase_of
from lull.graph.recording import (
    COMPLETE,
    PHASE,
    PREPARE,
    Aside,
    Callback,
    Cycle,
    Named,
    Span,
    Whole,
)
from lull.graph.tally import Tally
from lull.trees.model import Phase

#: A trace of several CPUs is in order to about this.
_SLACK_S = 1e-3
NO_END = "a callback does not end: its time is not known, and counts as nothing"

#: Where one of these begins a second time, a new cycle begins. (The noirq
#: phases repeat inside a cycle: s2idle walks them at every wake-up.)
_FIRST = (PREPARE, "dpm_suspend", "dpm_suspend_late")
_EARLY = ("suspend_enter", *_FIRST)
#: What is held at most of one: a laptop has some 1,000 devices and 4,000 callbacks.
MOST_DEVICES, MOST_CALLS, MOST_MARKS = 10_000, 40_000, 10_000
TOO_MANY = "there is too much of one cycle: the rest of it is left out"
#: The walks, none of which runs while another does; but where the one down
#: fails the one up runs inside it.
_WALKS = frozenset({PREPARE, *PHASE, COMPLETE})
_BACK = {
    "dpm_suspend_noirq": "dpm_resume_noirq",
    "dpm_suspend_late": "dpm_resume_early",
}


@dataclass
class _Open:
    """A callback that has not ended; phase None is ->prepare() or so."""

    start: Start
    phase: Phase | None


@dataclass
class OneCycle:
    """A cycle whose events are still coming."""

    marks: list[Mark] = field(default_factory=list)
    steps: list[Span] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    calls: list[Callback] = field(default_factory=list)
    prepared: list[Named] = field(default_factory=list)
    running: dict[int, _Open] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    asides: list[Aside] = field(default_factory=list)
    first: float = float("inf")
    last: float = 0.0
    #: When the state file was written, and when that returned.
    write: float | None = None
    returned: float | None = None
    #: Each name once: a device's is in sixteen events or so.
    texts: dict[str, str] = field(default_factory=dict)
    devices: set[tuple[str, str | None]] = field(default_factory=set)
    started: int = 0
    marked: int = 0

    def over(self, action: str) -> bool:
        """``action`` begins what comes after this cycle."""
        if action in ("suspend_enter", WRITE):
            return bool(self.seen - {"suspend_enter"}) or (
                action == WRITE and self.write is not None
            )
        return action in _FIRST and bool(
            self.seen & {action, *_EARLY[_EARLY.index(action) + 1 :]}
            or self.seen & {a for a, p in PHASE.items() if not p.down}
        )

    def take(self, event: Event) -> None:
        self.first = min(self.first, event.time)
        self.last = max(self.last, event.time)
        match event:
            case Mark():
                self._mark(event)
            case Start():
                self._start(event)
            case End():
                self._end(event)

    def _mark(self, mark: Mark) -> None:
        self.marked += 1
        if self.marked > MOST_MARKS:
            self.tally.add(TOO_MANY, mark.line)
            return
        if mark.action == WRITE:
            if mark.begin:
                self.write = mark.time
            else:
                self.returned = mark.time
            return
        if mark.begin:
            if mark.action in _WALKS:
                self._cut(mark)
            self.marks.append(mark)
            self.seen.add(mark.action)
            return
        for at in range(len(self.marks) - 1, -1, -1):
            if self.marks[at].action == mark.action:
                begin = self.marks.pop(at)
                break
        else:
            what = mark.action if mark.action in _WALKS else "something"
            self.tally.add(f"{what} ends without having begun", mark.line)
            if (phase := PHASE.get(mark.action)) and mark.action not in self.seen:
                self.seen.add(mark.action)
                self._abandon(phase, mark.time)
                self._span(mark.action, mark, None, mark.time, True)
            return
        self._span(mark.action, begin, begin.time, mark.time, True)
        if phase := PHASE.get(mark.action):
            self._abandon(phase, mark.time)

    def _cut(self, mark: Mark) -> None:
        """End the walks that are open where ``mark`` begins another one."""
        for each in [m for m in self.marks if m.action in _WALKS]:
            self._abandon(PHASE.get(each.action), mark.time)
            if _BACK.get(each.action) != mark.action:
                self.marks.remove(each)
                self._lost(each, mark.time)

    def _lost(self, mark: Mark, end: float) -> None:
        """A walk of which the end is not recorded: at ``end`` it is over."""
        self.tally.add(f"{mark.action} begins and does not end", mark.line)
        self._span(mark.action, mark, mark.time, end, False)

    def _span(
        self, action: str, mark: Mark, start: float | None, end: float, ended: bool
    ) -> None:
        """A span, whose begin may not be recorded: then it is not whole."""
        if start is None:
            phase = PHASE[action]
            times = [c.start_s for c in self.calls if c.phase is phase]
            start, ended = min(times, default=end), False
        if end < start:
            self.tally.add("time runs backwards", mark.line)
            end = start
        self.steps.append(Span(action, start, end, mark.pid, mark.line, ended))

    def _start(self, start: Start) -> None:
        self.started += 1
        self.devices.add((start.who, start.parent))
        if self.started > MOST_CALLS or len(self.devices) > MOST_DEVICES:
            self.devices.discard((start.who, start.parent))
            self.tally.add(TOO_MANY, start.line)
            return
        inside = self.marks[-1].action if self.marks else ""
        phase = phase_of(start, PHASE.get(inside))
        if phase is None and start.down:
            self.prepared.append(
                Named(self._text(start.who), "", self._parent(start.parent))
            )
        # No callback runs inside another of the same task: an end was lost.
        if lost := self.running.pop(start.pid, None):
            self._close(lost, start.time, 0, False)
        self.running[start.pid] = _Open(start, phase)

    def _end(self, end: End) -> None:
        # By task, not by name: two devices may have the same one.
        call = self.running.get(end.pid)
        if call is None or call.start.who != end.who:
            self.tally.add("a callback ends without having started", end.line)
            return
        del self.running[end.pid]
        self._close(call, end.time, end.err, True)

    def _close(self, call: _Open, time: float, err: int, ended: bool) -> None:
        start = call.start
        if not ended:
            self.tally.add(NO_END, start.line)
        if time < start.time:
            self.tally.add("time runs backwards", start.line)
        if call.phase is None:
            self.asides.append(
                Aside(
                    self._text(start.who),
                    self._parent(start.parent),
                    PREPARE if start.down else COMPLETE,
                    start.time,
                    max(time, start.time) if ended else start.time,
                    err,
                    start.line,
                )
            )
            return
        until = max(time, start.time)
        self.calls.append(
            Callback(
                self._text(start.who),
                "",
                self._parent(start.parent),
                call.phase,
                start.time,
                until if ended else start.time,
                self._text(start.task),
                start.pid,
                err,
                start.line,
                ended,
                until,
            )
        )

    def _text(self, text: str) -> str:
        return self.texts.setdefault(text, text)

    def _parent(self, parent: str | None) -> str | None:
        return None if parent is None else self._text(parent)

    def _abandon(self, phase: Phase | None, time: float) -> None:
        """Close what is still open in ``phase``, or everything for None."""
        for pid, call in list(self.running.items()):
            if phase is None or call.phase is phase:
                del self.running[pid]
                self._close(call, time, 0, False)

    def finish(self) -> Cycle:
        self._abandon(None, self.last)
        for mark in self.marks:
            if mark.action in _WALKS:
                self._lost(mark, self.last)
        spans = self._spans()
        calls = sorted(self.calls, key=lambda call: (call.start_s, call.line))
        if spans and not calls:
            self.tally.add("no callback of a device is recorded")
        for phase in Phase:
            times = [(c.start_s, c.last_s) for c in calls if c.phase is phase]
            if times and phase not in spans:
                self.tally.add(f"begin and end of dpm_{phase} are not recorded")
                first, last = min(s for s, _ in times), max(e for _, e in times)
                # Who walked the list is not known: nobody's pid is -1.
                spans[phase] = Span(f"dpm_{phase}", first, last, -1, 0, False)
        kept = tuple(
            self._bounded(call, spans[call.phase])
            for call in calls
            if _within(call, spans[call.phase])
        )
        return Cycle(
            {phase: spans[phase] for phase in Phase if phase in spans},
            kept,
            tuple(self.prepared),
            tuple(sorted(self.steps, key=lambda span: span.start_s)),
            self.tally.result(),
            tuple(self.asides),
            self._all(),
        )

    def _all(self) -> Whole | None:
        start = self.first if self.write is None else self.write
        end = self.last if self.returned is None else self.returned
        if end < start:
            return None
        return Whole(start, end, self.write is not None, self.returned is not None)

    def _bounded(self, call: Callback, span: Span) -> Callback:
        """A callback that goes on after its phase has an end of another one."""
        if call.last_s <= span.end_s + _SLACK_S:
            return call
        if call.ended:
            self.tally.add(NO_END, call.line)
        until = max(call.start_s, span.end_s)
        return replace(call, end_s=call.start_s, ended=False, err=0, until_s=until)

    def _spans(self) -> dict[Phase, Span]:
        """One span a phase: the first way down, the last way up."""
        spans: dict[Phase, Span] = {}
        for span in sorted(self.steps, key=lambda span: span.start_s):
            phase = PHASE.get(span.action)
            if phase is None:
                continue
            if phase in spans:
                self.tally.add(
                    f"{span.action} runs again: the first down and the last up count",
                    span.line,
                )
            if phase not in spans or not phase.down:
                spans[phase] = span
        return _unnest(spans)


def _unnest(spans: dict[Phase, Span]) -> dict[Phase, Span]:
    """Where a walk down fails, the one up runs inside it: it ends there."""
    for down, up in _BACK.items():
        outer, inner = spans.get(PHASE[down]), spans.get(PHASE[up])
        if (
            outer
            and inner
            and outer.start_s <= inner.start_s
            and inner.end_s <= outer.end_s
        ):
            spans[PHASE[down]] = replace(outer, end_s=inner.start_s)
    return spans


def _within(call: Callback, span: Span) -> bool:
    return span.start_s - _SLACK_S <= call.start_s <= span.end_s + _SLACK_S
