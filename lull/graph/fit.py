# SPDX-License-Identifier: GPL-2.0-only
"""One description of a machine out of several recordings of it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import TypeVar

from lull.graph.recording import Recording
from lull.graph.tree import graph
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.names import unique

_T = TypeVar("_T")

#: Names that say which machine it is: network interfaces by their address.
_ADDRESS = re.compile(
    r"\b(en|wl|ww)x[0-9a-f]{12}\b|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b"
)


def fit(trees: Sequence[Tree], *, least_us: int = 20) -> Tree:
    """The devices that more than half of ``trees`` have, at their medians.

    A callback counts where more than half of those that have the device have
    it; its time is the median, and 0 below ``least_us``. The order is that of
    the first tree with most of them; parent, suppliers and async are those of
    the majority. Names of devices that hold an address are made plain.
    """
    found: dict[str, list[Device]] = defaultdict(list)
    for tree in trees:
        for device in tree.devices:
            found[device.name].append(device)
    kept = {name for name, same in found.items() if 2 * len(same) > len(trees)}
    base = max(trees, key=lambda tree: sum(d.name in kept for d in tree.devices))
    order = [d.name for d in base.devices if d.name in kept]
    # Whoever is in most of them but not in this one would have no place.
    return _plain(
        Tree(tuple(_fitted(found[name], set(order), least_us) for name in order))
    )


def _fitted(same: Sequence[Device], kept: set[str], least_us: int) -> Device:
    work: dict[Phase, Work] = {}
    for phase in Phase:
        us = [device.work[phase].us for device in same if phase in device.work]
        if 2 * len(us) > len(same):
            middle = round(median(us))
            work[phase] = Work(middle if middle >= least_us else 0)
    parent = _most(device.parent for device in same)
    return Device(
        same[0].name,
        parent if parent in kept else None,
        tuple(s for s in _most(device.suppliers for device in same) if s in kept),
        _most(device.is_async for device in same),
        _most(device.direct for device in same),
        work,
    )


def _most(values: Iterable[_T]) -> _T:
    return Counter(values).most_common(1)[0][0]


def _plain(tree: Tree) -> Tree:
    old = [device.name for device in tree.devices]
    new = unique(
        _ADDRESS.sub(lambda m: f"{m[1]}x0" if m[1] else "addr0", n) for n in old
    )
    names = dict(zip(old, new, strict=True))
    return Tree(
        tuple(
            replace(
                device,
                name=names[device.name],
                parent=names[device.parent] if device.parent else None,
                suppliers=tuple(names[s] for s in device.suppliers),
            )
            for device in tree.devices
        )
    )


def read_all(recordings: Iterable[Recording]) -> list[Tree]:
    """The tree of each one's default cycle."""
    return [graph(recording, recording.cycle()[1]).tree for recording in recordings]
