# SPDX-License-Identifier: GPL-2.0-only
"""From a recorded cycle to the description of its devices."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import networkx as nx

from lull.graph.recording import Callback, Caveat, Cycle, Named, Recording
from lull.graph.tally import Tally
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.names import unique
from lull.trees.order import waits_for
from lull.trees.reader import read as read_tree

NO_LINKS = (
    "suppliers are not recorded: the order between devices that are not related"
    " by parent is unknown, and a predicted time may be too good"
)
BEYOND = "a callback ends after what waits for it has begun: it counts up to there"
LONGEST_US = 60_000_000
#: Two times of a trace are told apart from here on.
_RESOLUTION_S = 1.5e-6


@dataclass(frozen=True)
class Graph:
    """The devices of a cycle, and what each of them did.

    ``calls`` has the callbacks by the device's name in ``tree``, which is the
    recorded one made unique and legal. Without ``links`` no supplier is known.
    """

    tree: Tree
    calls: Mapping[Phase, Mapping[str, Callback]]
    links: bool
    caveats: tuple[Caveat, ...] = ()


#: A device as events name it: its name, its parent's, and which of several
#: that share both, from 0, in the order of dpm_list.
_Key = tuple[str, str | None, int]


def graph(recording: Recording, cycle: Cycle) -> Graph:
    """The tree of ``cycle``. Raises BadTree for a description that is bad."""
    tally = Tally()
    if recording.description:
        tree = read_tree(recording.description.encode(), "the recording's lull-tree")
        named = {
            key: device.name
            for device in tree.devices
            for key in (
                (device.name, device.parent, 0),
                (
                    _in_guest(device.name),
                    device.parent and _in_guest(device.parent),
                    0,
                ),
            )
        }
        calls = _named(_calls(cycle), named, tally)
        return Graph(_measured(tree, calls, tally), calls, True, tally.result())
    by_key = _calls(cycle)
    prepared = list(_numbered(cycle.prepared))
    if not prepared:
        tally.add("dpm_prepare is not recorded: the order of the list is a guess")
    walks, others = _sequences(cycle, by_key)
    order = prepared
    for seen in (*walks, *others):
        order = merge(order, seen)
    parents = _parents(order, tally)
    order = _sorted(order, parents, [prepared, *walks], tally)
    names = dict(zip(order, unique([key[0] for key in order]), strict=True))
    flags = _flags(order, parents, recording, cycle, by_key, tally)
    devices = tuple(
        Device(names[key], names[up] if (up := parents.get(key)) else None)
        for key in order
    )
    calls = _named(by_key, names, tally)
    tree = _measured(
        Tree(
            tuple(
                replace(device, is_async=flags[key])
                for key, device in zip(order, devices, strict=True)
            )
        ),
        calls,
        tally,
    )
    tally.add(NO_LINKS)
    return Graph(tree, calls, False, tally.result())


def _in_guest(name: str) -> str:
    """What the kernel's synthetic bus calls a device, so that it may have the
    name of a real one."""
    return f"lull:{name}"


def merge(order: Sequence[_Key], seen: Sequence[_Key]) -> list[_Key]:
    """``order`` with what it lacks of ``seen``.

    Each goes after who came before it, or before who comes after it; at the
    end where the two have nothing in common.
    """
    have = set(order)
    if have.isdisjoint(seen):
        return [*order, *dict.fromkeys(seen)]
    after: dict[_Key, list[_Key]] = defaultdict(list)
    first: list[_Key] = []
    last: _Key | None = None
    for key in dict.fromkeys(seen):
        if key not in have:
            (first if last is None else after[last]).append(key)
        elif last is None:
            last = key
            before = key
        else:
            last = key
    merged: list[_Key] = []
    for key in order:
        merged += [*(first if key == before else ()), key, *after.get(key, ())]
    return merged


def _numbered(devices: Iterable[Named]) -> dict[_Key, Named]:
    count: Counter[tuple[str, str | None]] = Counter()
    found: dict[_Key, Named] = {}
    for device in devices:
        name = (device.device, device.parent)
        found[*name, count[name]] = device
        count[name] += 1
    return found


def _calls(cycle: Cycle) -> dict[Phase, dict[_Key, Callback]]:
    """Callbacks by phase and device, in the order of dpm_list as they ran."""
    found: dict[Phase, dict[_Key, Callback]] = {}
    for phase in Phase:
        count: Counter[tuple[str, str | None]] = Counter()
        calls = cycle.calls(phase)
        found[phase] = {}
        for call in reversed(calls) if phase.down else calls:
            name = (call.device, call.parent)
            found[phase][*name, count[name]] = call
            count[name] += 1
    return found


def _main(cycle: Cycle, call: Callback) -> bool:
    """The thread that walks the list ran it."""
    walker = cycle.spans[call.phase].pid
    return not call.task.startswith("kworker") if walker < 0 else call.pid == walker


def _sequences(
    cycle: Cycle, by_key: Mapping[Phase, Mapping[_Key, Callback]]
) -> tuple[list[list[_Key]], list[list[_Key]]]:
    """What shows the order of the list, of every phase: what the walk ran, which
    is in that order, and all that ran, which is so about."""
    phases = sorted(Phase, key=lambda phase: -len(by_key[phase]))
    walks = [
        [key for key, call in by_key[phase].items() if _main(cycle, call)]
        for phase in phases
    ]
    return walks, [list(by_key[phase]) for phase in phases]


def _parents(order: Sequence[_Key], tally: Tally) -> dict[_Key, _Key | None]:
    """Each device's parent; one that nothing else names is a new device."""
    place = {key: i for i, key in enumerate(order)}
    named: dict[str, list[_Key]] = defaultdict(list)
    for key in order:
        named[key[0]].append(key)
    parents: dict[_Key, _Key | None] = {}
    for key in order:
        if key[1] is None:
            parents[key] = None
            continue
        choice = [k for k in named[key[1]] if k != key]
        if len(choice) > 1:
            tally.add("a parent's name is that of several devices")
            before = [k for k in choice if place[k] < place[key]]
            choice = before[-1:] or choice[:1]
        parents[key] = choice[0] if choice else (key[1], None, -1)
    return parents


def _sorted(
    keys: Iterable[_Key],
    parents: dict[_Key, _Key | None],
    walks: Iterable[Sequence[_Key]],
    tally: Tally,
) -> list[_Key]:
    """Parents first, then as the walks went, then as in ``keys``.

    Cuts what goes around in ``parents``, and adds those that only it has.
    """
    rank: dict[_Key, float] = {key: i for i, key in enumerate(keys)}
    for key, up in list(parents.items()):
        if up is not None and up not in parents:
            rank[up] = min(rank.get(up, rank[key]), rank[key] - 0.5)
    edges: nx.DiGraph[_Key] = nx.DiGraph()
    edges.add_nodes_from(rank)
    edges.add_edges_from((up, key) for key, up in parents.items() if up is not None)
    for around in list(nx.simple_cycles(edges)):
        # A device has one parent: no two of these share a device.
        tally.add(f"{around[0][0]} is its own ancestor")
        up = parents[around[0]]
        assert up is not None
        edges.remove_edge(up, around[0])
        parents[around[0]] = None
    for walk in walks:
        more = edges.copy()
        nx.add_path(more, walk)
        if nx.is_directed_acyclic_graph(more):
            edges = more
        else:
            tally.add("a walk contradicts the order of the list")
    return list(nx.lexicographical_topological_sort(edges, key=rank.__getitem__))


def _flags(
    order: Sequence[_Key],
    parents: Mapping[_Key, _Key | None],
    recording: Recording,
    cycle: Cycle,
    by_key: Mapping[Phase, Mapping[_Key, Callback]],
    tally: Tally,
) -> dict[_Key, bool]:
    """Which devices are async: as recorded, else by the task that ran them.

    One that nothing ran is async if a child of it is: the walk would wait for
    that child, and nothing shows that it did.
    """
    ran: dict[_Key, set[bool]] = defaultdict(set)
    for calls in by_key.values():
        for key, call in calls.items():
            ran[key].add(_main(cycle, call))
    flags: dict[_Key, bool] = {}
    with_async_child: set[_Key] = set()
    for key in reversed(order):
        recorded = recording.asynchronous.get(key[0])
        by_task = False in ran[key]
        if recorded is None:
            flags[key] = by_task if ran[key] else key in with_async_child
            if ran[key] or not recording.asynchronous:
                tally.add(
                    "power/async is not recorded: a device that a worker ran is"
                    " taken for async"
                )
        else:
            flags[key] = recorded
            if by_task and not recorded:
                tally.add("a device that is not async was run by a worker")
            elif recorded and True in ran[key]:
                tally.add("a device that is async was run by the main thread")
        up = parents.get(key)
        if flags[key] and up is not None:
            with_async_child.add(up)
    return flags


def _named(
    by_key: Mapping[Phase, Mapping[_Key, Callback]],
    names: Mapping[_Key, str],
    tally: Tally,
) -> dict[Phase, dict[str, Callback]]:
    found: dict[Phase, dict[str, Callback]] = {}
    for phase, calls in by_key.items():
        found[phase] = {}
        for key, call in calls.items():
            if key in names:
                found[phase][names[key]] = call
            else:
                tally.add("a device is not in the description", call.line)
    return found


def _measured(
    tree: Tree, calls: Mapping[Phase, Mapping[str, Callback]], tally: Tally
) -> Tree:
    """``tree`` with the recorded times: a callback's, without its waiting.

    dpm_run_callback() traces the call alone: what a device waits for its
    parent or its children is before that. A time that is not known is 0, and
    none goes beyond the beginning of what had to wait for it: so no chain of
    them is longer than the phase that was recorded.
    """
    # On the way up nobody waits for one that nothing was called for.
    us = {phase: dict.fromkeys(each, 0) for phase, each in calls.items()}
    tree = _with_work(tree, us)
    for phase, each in calls.items():
        limit = _limits(tree, phase, each)
        for name, call in each.items():
            if call.end_s > limit[name] + _RESOLUTION_S:
                tally.add(BEYOND, call.line)
            end = min(call.end_s, limit[name])
            length = max(0, round((end - call.start_s) * 1e6))
            us[phase][name] = min(LONGEST_US, length)
    return _with_work(tree, us)


def _with_work(tree: Tree, us: Mapping[Phase, Mapping[str, int]]) -> Tree:
    """``tree`` with the callbacks that ``us`` has, and their microseconds."""
    return Tree(
        tuple(
            replace(
                device,
                work={
                    phase: Work(us[phase][device.name])
                    for phase in Phase
                    if device.name in us.get(phase, ())
                },
            )
            for device in tree.devices
        )
    )


def _limits(
    tree: Tree, phase: Phase, calls: Mapping[str, Callback]
) -> Mapping[str, float]:
    """When each device had ended at the latest: what waits for it had begun."""
    limit = dict.fromkeys((device.name for device in tree.devices), float("inf"))
    needs = waits_for(tree, phase)
    # Whoever waits comes before those that it waits for.
    for device in tree.devices if phase.down else reversed(tree.devices):
        name = device.name
        begun = calls[name].start_s if name in calls else limit[name]
        for other in needs[name]:
            limit[other] = min(limit[other], begun)
    return limit
