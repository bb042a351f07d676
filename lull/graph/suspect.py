# SPDX-License-Identifier: GPL-2.0-only
"""Which two devices have an order that nobody declared, and needed it. Pure.

With pm_async off every device runs in the order of dpm_list; with it on, only
what is declared (parents and links) is kept. A pair is suspected that had its
order before and lost it, and of which one was the worse for it: it hung, it
failed, or it took longer than alone. What it waited for in its callback then
shows in the times: it went on when the other had ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from statistics import pstdev

from lull.graph.recording import Caveat, Cycle, Recording
from lull.graph.reduced import Call, Calls, Pairs, Symptom
from lull.graph.symptoms import SLACK_S, VARIES, Victim, explains, symptom_of
from lull.graph.tree import Graph, graph
from lull.trees.model import Phase, Tree

#: What is held of what is found: pairs, and of what speaks for each.
MOST_PAIRS, MOST_EVIDENCE = 2_000, 4


@dataclass(frozen=True)
class CycleSet:
    """A cycle with pm_async on or off, and its graph."""

    cycle: Cycle
    graph: Graph


@dataclass(frozen=True, slots=True)
class Evidence:
    """What happened to ``victim``, and how well the pair explains it, 0 to 1.

    ``alone_us`` is how long it took with pm_async off, and ``us`` with it on: 0
    where it never ended. ``err`` is what it returned, ``after_us`` how long after
    the other's end it ended, None where one of the two did not.
    """

    phase: Phase
    victim: str
    symptom: Symptom
    fit: float
    alone_us: float
    us: float
    err: int
    after_us: float | None = None


@dataclass(frozen=True, slots=True)
class Suspect:
    """``supplier`` may have to be there before ``consumer``, and after it on the
    way down. ``disable`` are those of the two that are async: with none of them
    the walk keeps the two in order. ``evidence`` is the best of what speaks for
    it, which are ``times`` things."""

    supplier: str
    consumer: str
    score: float
    evidence: tuple[Evidence, ...]
    disable: tuple[str, ...]
    times: int


def runs(recording: Recording) -> Iterator[CycleSet]:
    """All cycles of a recording that are held whole, each with its graph."""
    for cycle in recording.cycles:
        if cycle.kept:
            yield CycleSet(cycle, graph(recording, cycle))


def not_in_order(off: CycleSet) -> tuple[Caveat, ...]:
    """A caveat where callbacks overlap, as they do not with pm_async off."""
    last, count, line = 0.0, 0, 0
    for call in off.cycle.callbacks:
        if call.start_s < last - SLACK_S:
            count, line = count + 1, line or call.line
        last = max(last, call.end_s)
    text = "callbacks overlap in the first recording: pm_async was not off in it"
    return (Caveat(text, count, line),) if count else ()


def suspects(off: CycleSet, on: Iterable[CycleSet]) -> tuple[Suspect, ...]:
    """Pairs by how likely it is that an order between them is missing: the
    likeliest of them. ``off`` ran with pm_async off, each of ``on`` with it on."""
    search = Search(off)
    for run in on:
        search.add(run)
    return search.result()[0]


class Search:
    """Looks for pairs, in runs that it takes one by one and of which it holds
    little: devices are told by their names, those that ran with pm_async off
    have numbers, in the order of dpm_list."""

    def __init__(self, off: CycleSet) -> None:
        ran = {name for calls in off.graph.calls.values() for name in calls}
        devices = off.graph.tree.devices
        self._names = tuple(d.name for d in devices if d.name in ran)
        self._number = {name: i for i, name in enumerate(self._names)}
        self._off = {
            phase: Calls((self._number[name], c, None) for name, c in calls.items())
            for phase, calls in off.graph.calls.items()
        }
        self._on: list[dict[Phase, Calls]] = []
        self._async: set[str] = set()
        #: Whom each device declares to come before it, in any of the runs.
        self._above: dict[str, tuple[str, ...]] = {}
        self._declare(off.graph.tree)

    def add(self, run: CycleSet) -> None:
        """The next run with pm_async on."""
        self._declare(run.graph.tree)
        self._async.update(
            d.name
            for d in run.graph.tree.devices
            if d.is_async and d.name in self._number
        )
        found = {}
        for phase, calls in run.graph.calls.items():
            before = self._off.get(phase, Calls())
            found[phase] = Calls(
                (number, call, symptom_of(run.cycle, before.get(number), call))
                for name, call in calls.items()
                if (number := self._number.get(name)) is not None
            )
        self._on.append(found)

    def _declare(self, tree: Tree) -> None:
        for device in tree.devices:
            known = self._above.get(device.name, ())
            more = [name for name in device.superiors if name not in known]
            if more or not known:
                self._above[device.name] = (*known, *more)

    def result(self) -> tuple[tuple[Suspect, ...], int]:
        """The likeliest pairs, and how many there are.

        What happens again in another run counts again, and a pair that ran out of
        order without harm in one counts for less.
        """
        count = 0

        def ranked() -> Iterator[tuple[Suspect, float]]:
            nonlocal count
            for low, high in self._pairs():
                count += 1
                yield self._suspect(low, high)

        # Of those that explain as much, the pair whose other device was at work: many
        # with nothing to do end with the one that they all wait for.
        best = nsmallest(
            MOST_PAIRS,
            ranked(),
            key=lambda each: (
                -round(each[0].score, 6),
                -each[1],
                self._number[each[0].consumer],
            ),
        )
        return tuple(suspect for suspect, _ in best), count

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Each pair of which one is a victim that the other explains, once."""
        seen, met = Pairs(len(self._names)), set()
        below = self._below()
        for run in self._on:
            for phase in Phase:
                for victim in self._victims(run, phase):
                    if victim.number not in met:
                        met.add(victim.number)
                        name = self._names[victim.number]
                        for other in (*_all(self._above, name), *_all(below, name)):
                            if (number := self._number.get(other)) is not None:
                                seen.add(victim.number, number)
                    calls = dict(run[phase].in_order())
                    for number, alone in self._off[phase].in_order():
                        fit = explains(phase, victim, number, alone, calls.get(number))
                        if fit is not None and seen.add(victim.number, number):
                            low, high = sorted((victim.number, number))
                            yield low, high

    def _below(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name, above in self._above.items():
            for other in above:
                found[other].append(name)
        return found

    def _victims(self, run: Mapping[Phase, Calls], phase: Phase) -> Iterator[Victim]:
        """Whoever is the worse for pm_async in a phase."""
        if phase in run and phase in self._off:
            for number, call in run[phase].victims():
                alone = self._off[phase].get(number)
                assert alone is not None and call.symptom is not None
                yield Victim(number, call.symptom, call, alone)

    def _suspect(self, low: int, high: int) -> tuple[Suspect, float]:
        """The pair, and how much work the other of its first victim has."""
        evidence = [
            each for run in self._on for each in self._evidence(run, (low, high))
        ]
        score = sum(e.fit * _weight(e) for e in evidence) * _steady(evidence)
        score -= self._harmless((low, high), evidence)
        evidence.sort(key=lambda e: -e.fit * _weight(e))
        first, names = evidence[0], (self._names[low], self._names[high])
        other = high if first.victim == names[0] else low
        alone = self._off[first.phase].get(other)
        assert alone is not None
        suspect = Suspect(
            *names,
            score,
            tuple(evidence[:MOST_EVIDENCE]),
            tuple(name for name in names if name in self._async),
            len(evidence),
        )
        return suspect, alone.us

    def _evidence(
        self, run: Mapping[Phase, Calls], pair: tuple[int, int]
    ) -> Iterator[Evidence]:
        for phase in Phase:
            if phase not in run or phase not in self._off:
                continue
            calls = {number: run[phase].get(number) for number in pair}
            victims = [
                (call.place, number)
                for number, call in calls.items()
                if call is not None and call.symptom is not None
            ]
            for _, number in sorted(victims):
                other = pair[0] + pair[1] - number
                call = calls[number]
                alone = self._off[phase].get(number)
                beside = self._off[phase].get(other)
                if beside is None:
                    continue
                assert call is not None and alone is not None and call.symptom
                victim = Victim(number, call.symptom, call, alone)
                fit = explains(phase, victim, other, beside, calls[other])
                if fit is not None:
                    name = self._names[number]
                    yield _evidence(phase, name, victim, fit, calls[other])

    def _harmless(self, pair: tuple[int, int], evidence: Sequence[Evidence]) -> float:
        """What the pair loses where it ran out of order and nothing came of it."""
        lost = 0.0
        hurt = {(each.phase, each.victim) for each in evidence}
        for run in self._on:
            for phase in {each.phase for each in evidence} & run.keys():
                if _broken(self._off[phase], run[phase], pair) and not any(
                    (phase, self._names[number]) in hurt
                    for number in pair
                    if (call := run[phase].get(number)) and call.symptom
                ):
                    lost += 0.5
        return lost


def _all(edges: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """Whom one comes to from ``name``."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for other in edges.get(todo.pop(), ()):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def _evidence(
    phase: Phase, name: str, victim: Victim, fit: float, other: Call | None
) -> Evidence:
    call, alone = victim.call, victim.alone.us
    after = None
    if call.ended and other is not None and other.ended:
        after = (call.end_s - other.end_s) * 1e6
    return Evidence(phase, name, victim.symptom, fit, alone, call.us, call.err, after)


def _steady(evidence: Sequence[Evidence]) -> float:
    """Whether the victim went on each time as long after the other had ended, 0 to
    1: what is left of its work is the same, and a coincidence is not."""
    worst = 1.0
    for first in evidence:
        same = [
            e.after_us
            for e in evidence
            if (e.phase, e.victim) == (first.phase, first.victim)
            and e.after_us is not None
        ]
        if first.symptom is Symptom.SLOW and len(same) > 1:
            spread = pstdev(same)
            room = VARIES * first.alone_us + SLACK_S * 1e6
            worst = min(worst, 1 / (1 + (spread / room) ** 2))
    return worst


def _weight(evidence: Evidence) -> float:
    if evidence.symptom is not Symptom.SLOW:
        return 1.0
    return min(1.0, (evidence.us - evidence.alone_us) / 20e3)


def _broken(before: Calls, after: Calls, pair: tuple[int, int]) -> bool:
    """The two overlap or ran the other way about."""
    was = [call for number in pair if (call := before.get(number))]
    now = [call for number in pair if (call := after.get(number))]
    if len(was) < 2 or len(now) < 2:
        return False
    first, second = now if was[0].start_s <= was[1].start_s else reversed(now)
    return first.last_s > second.start_s


#: What a recording calls a device of the tree, and that device's parent.
Names = Mapping[str, tuple[str, str | None]]


def async_path(names: Names, name: str) -> str:
    """A pattern for ``find -path`` of the device's power/async.

    ``names`` has what the recording calls a device of the tree, and its parent.
    """
    device, parent = names.get(name, (name, None))
    above = f"{_quoted(parent)}*/" if parent else ""
    return f"*/{above}{_quoted(device)}/power/async"


def _quoted(name: str) -> str:
    return "".join(f"\\{c}" if c in "*?[]\\" else "?" if c == "'" else c for c in name)


def recorded_names(runs: Iterable[CycleSet]) -> Names:
    """What the events call each device, and its parent."""
    found: dict[str, tuple[str, str | None]] = {}
    for run in runs:
        for calls in run.graph.calls.values():
            for name, call in calls.items():
                found.setdefault(name, (call.device, call.parent))
    return found
