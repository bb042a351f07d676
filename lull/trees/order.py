# SPDX-License-Identifier: GPL-2.0-only
"""Who depends on whom in a tree, and whether the order of the list agrees."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import networkx as nx

from lull.errors import BadTree
from lull.trees.model import Device, Phase, Tree

_SHOWN = 12  #: devices of a cycle that a message names


def check_order(tree: Tree, places: Mapping[str, str] | None = None) -> None:
    """Every parent and supplier exists and comes before what needs it.

    ``places`` say where a device is written (``file:line``). Raises BadTree
    for the first device that breaks this; a cycle is named as such.
    """
    where = places or {}
    names = {device.name for device in tree.devices}
    before: set[str] = set()
    for device in tree.devices:
        for superior in device.superiors:
            if superior in before:
                continue
            role = "parent" if superior == device.parent else "supplier"
            what = f"device {device.name}: its {role} {superior}"
            place = where.get(device.name, "")
            if superior not in names:
                raise BadTree(
                    f"{what} is unknown", where=place, hint=_hint(superior, names)
                )
            cycle = _cycle(tree, device.name, superior)
            if cycle:
                raise BadTree(
                    f"device {device.name}: a cycle: {cycle}",
                    where=place,
                    hint="drop one of these parents or suppliers",
                )
            later = where.get(superior, "")
            raise BadTree(
                f"{what} is declared later" + (f", at {later}" if later else ""),
                where=place,
                hint=f"move {superior} before {device.name}",
            )
        if device.name in before:
            raise BadTree(
                f"device {device.name} is there twice",
                where=where.get(device.name, ""),
                hint="rename one",
            )
        before.add(device.name)


def subordinates(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Device to its children and consumers, in the order of the list."""
    found: dict[str, list[str]] = {device.name: [] for device in tree.devices}
    for device in tree.devices:
        for superior in device.superiors:
            found[superior].append(device.name)
    return {name: tuple(below) for name, below in found.items()}


def waits_for(tree: Tree, phase: Phase) -> dict[str, tuple[str, ...]]:
    """Device to those that have to end before its callback starts.

    On the way up a device with power.direct_complete is complete at once
    (device_resume() in drivers/base/power/main.c): it waits for nobody, nor does the
    walk, where it is not async.
    """
    if phase.down:
        return subordinates(tree)
    alone = idle(tree)
    return {d.name: () if d.name in alone else d.superiors for d in tree.devices}


def idle(tree: Tree) -> frozenset[str]:
    """The devices that keep power.direct_complete: ``direct`` ones and those without
    callbacks, below which there is nothing else."""
    below = subordinates(tree)
    found: set[str] = set()
    for device in reversed(tree.devices):
        if (device.direct or not device.work) and found.issuperset(below[device.name]):
            found.add(device.name)
    return frozenset(found)


def skipped(tree: Tree) -> frozenset[str]:
    """The devices that stay suspended and get no callback in any phase.

    Those are the ``direct`` ones below which there is nothing but other such
    devices and devices without callbacks: device_suspend() clears
    power.direct_complete of the superiors of a device that it suspends
    (dpm_clear_superiors_direct_complete() in drivers/base/power/main.c).
    """
    alone = idle(tree)
    return frozenset(d.name for d in tree.devices if d.direct and d.name in alone)


def us_in(device: Device, phase: Phase, skip: frozenset[str] = frozenset()) -> int:
    """What the device's callback takes in a phase, in microseconds."""
    if device.name in skip or phase not in device.work:
        return 0
    return device.work[phase].us


def _hint(name: str, names: set[str]) -> str:
    close = get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]}"
    return f"declare it on an earlier line: device {name}"


def _cycle(tree: Tree, name: str, superior: str) -> str:
    """``a -> b -> a`` if the superior depends on the device again."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for device in tree.devices:
        graph.add_edges_from((device.name, above) for above in device.superiors)
    try:
        path = [name, *nx.shortest_path(graph, superior, name)]
    except nx.NetworkXNoPath:
        return ""
    if len(path) > _SHOWN:
        path = [*path[: _SHOWN - 1], "...", name]
    return " -> ".join(path)
