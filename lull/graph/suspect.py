# SPDX-License-Identifier: GPL-2.0-only
"""Which two devices have an order that nobody declared, and needed it. Pure.

With pm_async off every device runs in the order of dpm_list; with it on, only
what is declared (parents and links) is kept. A pair is suspected that had its
order before and lost it, and of which one was the worse for it: it hung, it
failed, or it took longer than alone. What it waited for in its callback then
shows in the times: it went on when the other had ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import pstdev

import networkx as nx

from lull.graph.recording import Callback, Caveat, Cycle, Recording
from lull.graph.tree import Graph, graph
from lull.trees.model import Phase, Tree

#: A callback that takes this much longer is the worse for something: in
#: seconds, and as a share of what it took alone.
_LONGER_S, _LONGER = 1e-3, 0.25
#: What is taken for "right after": the clock, and work that varies.
_SLACK_S, _VARIES = 5e-5, 0.06


class Symptom(StrEnum):
    """What happened to a device that ran out of order."""

    HUNG = "never ended"
    FAILED = "failed"
    SLOW = "took longer"


@dataclass(frozen=True)
class Run:
    """A cycle with pm_async on or off, and its graph."""

    cycle: Cycle
    graph: Graph


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Suspect:
    """``supplier`` may have to be there before ``consumer``, and after it on the
    way down. ``disable`` are those of the two that are async: with none of them
    the walk keeps the two in order."""

    supplier: str
    consumer: str
    score: float
    evidence: tuple[Evidence, ...]
    disable: tuple[str, ...]


@dataclass(frozen=True)
class _Victim:
    name: str
    symptom: Symptom
    call: Callback
    alone: Callback


def runs(recording: Recording) -> tuple[Run, ...]:
    """All cycles of a recording that are held whole, each with its graph."""
    return tuple(
        Run(cycle, graph(recording, cycle)) for cycle in recording.cycles if cycle.kept
    )


def not_in_order(off: Run) -> tuple[Caveat, ...]:
    """A caveat where callbacks overlap, as they do not with pm_async off."""
    last, count, line = 0.0, 0, 0
    for call in off.cycle.callbacks:
        if call.start_s < last - _SLACK_S:
            count, line = count + 1, line or call.line
        last = max(last, call.end_s)
    text = "callbacks overlap in the first recording: pm_async was not off in it"
    return (Caveat(text, count, line),) if count else ()


def suspects(off: Run, on: Sequence[Run]) -> tuple[Suspect, ...]:
    """Pairs by how likely it is that an order between them is missing.

    ``off`` ran with pm_async off, each of ``on`` with it on; devices are told by
    their names. What happens again in another run counts again, and a pair that
    ran out of order without harm in one counts for less.
    """
    place = {device.name: i for i, device in enumerate(off.graph.tree.devices)}
    declared = _declared(run.graph.tree for run in (off, *on))
    found: dict[tuple[str, str], list[Evidence]] = {}
    for run in on:
        for phase in Phase:
            for victim in _victims(off, run, phase):
                related = nx.ancestors(declared, victim.name)
                related |= nx.descendants(declared, victim.name)
                for other, fit in _others(off, run, phase, victim):
                    if other in related or other not in place:
                        continue
                    pair = sorted((other, victim.name), key=place.__getitem__)
                    call = run.graph.calls[phase].get(other)
                    found.setdefault((pair[0], pair[1]), []).append(
                        _evidence(phase, victim, fit, call)
                    )
    ranked = [
        Suspect(
            *pair,
            sum(e.fit * _weight(e) for e in each) * _steady(each)
            - _harmless(off, on, pair, each),
            tuple(sorted(each, key=lambda e: -e.fit * _weight(e))),
            tuple(n for n in pair if any(_is_async(run, n) for run in on)),
        )
        for pair, each in found.items()
    ]
    # Of those that explain as much, the pair whose other device was at work: many
    # with nothing to do end with the one that they all wait for.
    return tuple(
        sorted(
            ranked,
            key=lambda s: (-round(s.score, 6), -_work(off, s), place[s.consumer]),
        )
    )


def _work(off: Run, suspect: Suspect) -> float:
    first = suspect.evidence[0]
    other = {suspect.supplier, suspect.consumer} - {first.victim}
    calls = off.graph.calls.get(first.phase, {})
    return max(calls[name].us for name in other)


def _declared(trees: Iterable[Tree]) -> nx.DiGraph[str]:
    edges: nx.DiGraph[str] = nx.DiGraph()
    for tree in trees:
        for device in tree.devices:
            edges.add_node(device.name)
            edges.add_edges_from((above, device.name) for above in device.superiors)
    return edges


def _victims(off: Run, on: Run, phase: Phase) -> list[_Victim]:
    """Whoever is the worse for pm_async in a phase."""
    found = []
    before = off.graph.calls.get(phase, {})
    for name, call in on.graph.calls.get(phase, {}).items():
        alone = before.get(name)
        if alone is None or not alone.ended or alone.err:
            continue
        if _is_open(on.cycle, call):
            found.append(_Victim(name, Symptom.HUNG, call, alone))
        elif call.err:
            found.append(_Victim(name, Symptom.FAILED, call, alone))
        elif call.ended and _is_longer(call, alone):
            found.append(_Victim(name, Symptom.SLOW, call, alone))
    return found


def _is_open(cycle: Cycle, call: Callback) -> bool:
    """It ran when the recording ended; else its end was lost on the way."""
    last = cycle.whole.end_s if cycle.whole is not None else call.last_s
    return not call.ended and call.last_s >= last


def _is_longer(call: Callback, alone: Callback) -> bool:
    more = (call.us - alone.us) / 1e6
    return more > max(_LONGER_S, _LONGER * alone.us / 1e6)


def _others(
    off: Run, on: Run, phase: Phase, victim: _Victim
) -> Iterable[tuple[str, float]]:
    """Who was in order with the victim before and is not, and how well each
    explains what happened."""
    before, after = off.graph.calls.get(phase, {}), on.graph.calls.get(phase, {})
    for name, alone in before.items():
        if name == victim.name:
            continue
        call = after.get(name)
        if alone.last_s <= victim.alone.start_s:
            # It should have ended by then.
            if call is None or call.last_s > victim.call.start_s or not call.ended:
                yield name, _fit(victim, call)
        elif (
            phase.down
            and alone.start_s >= victim.alone.last_s
            and call is not None
            and call.start_s < victim.call.last_s
        ):
            # It should not have begun: what the victim needs may be gone.
            yield name, _gone(victim, call)


def _fit(victim: _Victim, other: Callback | None) -> float:
    """How well it explains the victim that ``other`` had not ended."""
    if victim.symptom is Symptom.HUNG:
        if other is None:
            return 0.5
        return 0.9 if not other.ended else 0.6
    if other is None or not other.ended:
        return 0.5
    if victim.symptom is Symptom.FAILED:
        return 0.9 if other.end_s >= victim.call.end_s else 0.3
    own = victim.alone.us / 1e6
    # It went on at some point of its own work, when the other had ended.
    after = victim.call.end_s - other.end_s
    most = own * (1 + _VARIES) + _SLACK_S
    if -_SLACK_S <= after <= most:
        return 1.0
    off = (-after if after < 0 else after - most) / max(most, _SLACK_S)
    return 0.3 / (1 + off)


def _gone(victim: _Victim, other: Callback) -> float:
    """How well it explains the victim that ``other`` had begun already."""
    if victim.symptom is Symptom.SLOW:
        return 0.2
    return 0.9 if other.ended and other.end_s <= victim.call.last_s else 0.6


def _evidence(
    phase: Phase, victim: _Victim, fit: float, other: Callback | None
) -> Evidence:
    call, alone = victim.call, victim.alone.us
    after = None
    if call.ended and other is not None and other.ended:
        after = (call.end_s - other.end_s) * 1e6
    return Evidence(
        phase, victim.name, victim.symptom, fit, alone, call.us, call.err, after
    )


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
            room = _VARIES * first.alone_us + _SLACK_S * 1e6
            worst = min(worst, 1 / (1 + (spread / room) ** 2))
    return worst


def _weight(evidence: Evidence) -> float:
    if evidence.symptom is not Symptom.SLOW:
        return 1.0
    return min(1.0, (evidence.us - evidence.alone_us) / 20e3)


def _harmless(
    off: Run, on: Sequence[Run], pair: tuple[str, str], evidence: Sequence[Evidence]
) -> float:
    """What the pair loses where it ran out of order and nothing came of it."""
    lost = 0.0
    hurt = {(each.phase, each.victim) for each in evidence}
    for run in on:
        for phase in {each.phase for each in evidence}:
            if _broken(off, run, phase, pair) and not any(
                (phase, victim.name) in hurt for victim in _victims(off, run, phase)
            ):
                lost += 0.5
    return lost


def _broken(off: Run, on: Run, phase: Phase, pair: tuple[str, str]) -> bool:
    """The two overlap or ran the other way about."""
    before, after = off.graph.calls.get(phase, {}), on.graph.calls.get(phase, {})
    if not all(name in calls for name in pair for calls in (before, after)):
        return False
    first, second = sorted(pair, key=lambda name: before[name].start_s)
    return after[first].last_s > after[second].start_s


def _is_async(run: Run, name: str) -> bool:
    return any(d.name == name and d.is_async for d in run.graph.tree.devices)


def async_path(names: Mapping[str, tuple[str, str | None]], name: str) -> str:
    """A pattern for ``find -path`` of the device's power/async.

    ``names`` has what the recording calls a device of the tree, and its parent.
    """
    device, parent = names.get(name, (name, None))
    above = f"{_quoted(parent)}*/" if parent else ""
    return f"*/{above}{_quoted(device)}/power/async"


def _quoted(name: str) -> str:
    return "".join(f"\\{c}" if c in "*?[]\\" else "?" if c == "'" else c for c in name)


def recorded_names(runs: Iterable[Run]) -> dict[str, tuple[str, str | None]]:
    """What the events call each device, and its parent."""
    found: dict[str, tuple[str, str | None]] = {}
    for run in runs:
        for calls in run.graph.calls.values():
            for name, call in calls.items():
                found.setdefault(name, (call.device, call.parent))
    return found
