# SPDX-License-Identifier: GPL-2.0-only
"""Machines with a dependency that nobody declared, and recordings of them.

The machine is a random tree; one of its edges is left out of what the kernel is
told. With pm_async off all goes well. With it on, whoever should have come
second runs too early, and in the middle of its callback notices: it waits there
until the other has ended, or it fails, or it never ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import networkx as nx

from lull.graph.ftrace import read
from lull.graph.reduced import Symptom
from lull.graph.suspect import CycleSet, runs
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.schedule import Rules, Schedule, Slot, schedule
from lull.trees.shapes import random
from tests.graph import traces
from tests.graph.traces import Line

#: A time varies by so much from one run to another.
VARIES = 0.05


@dataclass(frozen=True)
class Missing:
    """What a machine of which nobody declared that ``consumer`` needs ``supplier``
    records, with pm_async off and on."""

    supplier: str
    consumer: str
    off: bytes
    on: tuple[bytes, ...]


def run(data: bytes) -> CycleSet:
    """The one run that a recording has."""
    (found,) = runs(read(data, "x"))
    return found


def machine(
    seed: int, symptom: Symptom, times: int = 1, n: int = 60, least_us: int = 100
) -> Missing | None:
    """None where the edge that the seed chooses does not matter: others keep the
    order, or it is kept by chance."""
    draw = Random(seed)
    tree = random(n=n, sync=15, links=40, rare=15, seed=seed)
    tree = _at_work(tree, least_us, draw)
    edges = [(s, d.name) for d in tree.devices for s in d.superiors]
    supplier, consumer = edges[int(draw.random() * len(edges))]
    told = Tree(tuple(_without(d, supplier, consumer) for d in tree.devices))
    if nx.has_path(_graph(told), supplier, consumer):
        return None
    still = Tree(tuple(replace(d, is_async=False) for d in told.devices))
    off = traces.of_tree(_varied(still, draw))
    #: How much of its work it does before it notices.
    share = draw.random()
    on = []
    for _ in range(times):
        lines = _broken(_varied(told, draw), supplier, consumer, symptom, share)
        if lines is None:
            return None
        on.append(_text(lines))
    return Missing(supplier, consumer, _text(off), tuple(on))


def _at_work(tree: Tree, least_us: int, draw: Random) -> Tree:
    """Each callback takes ``least_us`` and more, the longer the rarer."""

    def at_work(device: Device) -> Device:
        work = {
            phase: Work(w.us + round(least_us * 2 ** (6 * draw.random())))
            for phase, w in device.work.items()
        }
        return replace(device, work=work)

    return Tree(tuple(at_work(device) for device in tree.devices))


def _text(lines: list[Line]) -> bytes:
    return b"# lull-kernel: 6.12.1\n" + traces.text(lines)


def _without(device: Device, supplier: str, consumer: str) -> Device:
    if device.name != consumer:
        return device
    return replace(
        device,
        parent=None if device.parent == supplier else device.parent,
        suppliers=tuple(s for s in device.suppliers if s != supplier),
    )


def _graph(tree: Tree) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    for device in tree.devices:
        graph.add_node(device.name)
        graph.add_edges_from((above, device.name) for above in device.superiors)
    return graph


def _varied(tree: Tree, draw: Random) -> Tree:
    def varied(device: Device) -> Device:
        work = {
            phase: Work(round(w.us * (1 + VARIES * (2 * draw.random() - 1))))
            for phase, w in device.work.items()
        }
        return replace(device, work=work)

    return Tree(tuple(varied(device) for device in tree.devices))


def _plan(tree: Tree, phase: Phase) -> Schedule:
    return schedule(tree, phase, Rules.STOCK, cpus=len(tree.devices))


def _broken(
    tree: Tree, supplier: str, consumer: str, symptom: Symptom, share: float
) -> list[Line] | None:
    """A cycle in which the edge was missed at least once; else None."""
    us = 1_000_000
    order = [f"d {traces.said(tree, d.name)}" for d in tree.devices]
    calls = [
        traces.call(i, i, traces.MAIN, name, "[suspend]")
        for i, name in enumerate(order, 1)
    ]
    lines = traces.phase(us, us + len(calls) + 1, "dpm_prepare", *calls)
    us += len(calls) + 10
    missed = False
    for phase in Phase:
        first, second = (consumer, supplier) if phase.down else (supplier, consumer)
        plan = _plan(tree, phase)
        both = _has(tree, first, phase) and _has(tree, second, phase)
        if both and plan.slots[second].start_us < plan.slots[first].end_us:
            missed = True
            if symptom is Symptom.SLOW:
                waited = _waiting(tree, phase, first, second, share)
                if waited is None:
                    return None
                plan = waited
            elif symptom is Symptom.FAILED:
                lines += [
                    replace(x, rest=x.rest.replace("err=0", "err=-110"))
                    if x.rest.startswith(f"d {second}, err=0")
                    else x
                    for x in traces.of_slots(tree, phase, us, plan.slots)
                ]
                return lines
            else:
                return lines + _hung(tree, phase, us, plan, second)
        lines += traces.of_slots(tree, phase, us, plan.slots)
        us += round(plan.makespan_us) + 20
    return lines if missed else None


def _has(tree: Tree, name: str, phase: Phase) -> bool:
    return any(d.name == name and phase in d.work for d in tree.devices)


def _waiting(
    tree: Tree, phase: Phase, first: str, second: str, share: float
) -> Schedule | None:
    """``second`` waits in its callback until ``first`` has ended."""
    own = next(d.work[phase].us for d in tree.devices if d.name == second)
    done = round(own * share)
    us = own
    for _ in range(9):
        plan = _plan(_with(tree, phase, second, us), phase)
        start, end = plan.slots[second].start_us, plan.slots[first].end_us
        wanted = max(own, round(end - start) + own - done)
        if wanted == us:
            # One that nobody would notice is none to be found.
            return plan if us > 1.5 * own + 1_100 else None
        us = wanted
    return None


def _with(tree: Tree, phase: Phase, name: str, us: int) -> Tree:
    return Tree(
        tuple(
            replace(d, work={**d.work, phase: Work(us)}) if d.name == name else d
            for d in tree.devices
        )
    )


def _hung(tree: Tree, phase: Phase, us: int, plan: Schedule, name: str) -> list[Line]:
    """The machine stops in the middle of ``name``: nothing more is recorded."""
    slot: Slot = plan.slots[name]
    stop = us + round((slot.start_us + slot.end_us) / 2) + 6
    lines = traces.of_slots(tree, phase, us, plan.slots)
    return [
        x for x in lines if x.us <= stop and not x.rest.startswith(f"d {name}, err")
    ]
