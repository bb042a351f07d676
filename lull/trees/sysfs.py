# SPDX-License-Identifier: GPL-2.0-only
"""The tree of a live machine, as far as sysfs tells it.

What it does not tell: how long callbacks take, which of them there are, and
the order of dpm_list. Files: Documentation/ABI/testing/sysfs-devices-power
and sysfs-class-devlink of the kernel.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import networkx as nx

from lull.errors import UsageError
from lull.trees.model import Device, Tree
from lull.trees.names import unique

SYSFS = Path("/sys")

_TIMES = "callbacks and their times are not in sysfs: no device has any here"
_ORDER = (
    "the order of dpm_list is not in sysfs: parents and suppliers come first, the"
    " rest by path"
)


@dataclass(frozen=True)
class Found:
    """A tree, and what it does not say, a sentence each."""

    tree: Tree
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class _Link:
    consumer: Path
    supplier: Path


def scan(root: Path = SYSFS) -> Found:
    """The devices below ``root``/devices and the links in its class/devlink.

    A device is a directory with a ``power`` directory in it; its parent is the
    next one above it. Raises UsageError where there is none.
    """
    devices = root / "devices"
    parents = _devices(devices)
    if not parents:
        raise UsageError(
            "no device here has a power directory",
            where=str(devices),
            hint="name the directory where sysfs is mounted: lull tree sysfs /sys",
        )
    flags = {path: _async(path) for path in parents}
    links, odd = _links(root / "class" / "devlink", parents)
    graph, dropped = _graph(parents, links)
    places = {path: i for i, path in enumerate(parents)}
    order = list(nx.lexicographical_topological_sort(graph, key=places.__getitem__))
    names = dict(zip(order, unique(path.name for path in order), strict=True))
    suppliers: defaultdict[Path, list[str]] = defaultdict(list)
    for link in links:
        if link not in dropped:
            suppliers[link.consumer].append(names[link.supplier])
    tree = Tree(
        tuple(
            Device(
                name=names[path],
                parent=names[above] if (above := parents[path]) else None,
                suppliers=tuple(suppliers[path]),
                is_async=flags[path] is True,
            )
            for path in order
        )
    )
    cycles = [
        f"the link of {names[link.consumer]} to its supplier {names[link.supplier]}"
        " is left out: it closes a cycle"
        for link in dropped
    ]
    return Found(tree, (*_async_caveats(flags), *odd, *cycles, _TIMES, _ORDER))


def _devices(top: Path) -> dict[Path, Path | None]:
    """Each device's directory to its parent's, parents first, by path."""
    found: dict[Path, Path | None] = {}
    for where, folders, _ in os.walk(top):
        folders.sort()
        path = Path(where)
        if "power" in folders:
            folders.remove("power")
            above = (p for p in path.parents if p in found)
            # The directory that holds all devices is none itself.
            if path != top:
                found[path] = next(above, None)
    return found


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace").strip()
    except OSError:
        return None


def _async(path: Path) -> bool | None:
    """None where the file is missing or says neither."""
    return {"enabled": True, "disabled": False}.get(_read(path / "power/async") or "")


def _async_caveats(flags: Mapping[Path, bool | None]) -> list[str]:
    missing = sum(flag is None for flag in flags.values())
    if not missing:
        return []
    who = (
        "all devices" if missing == len(flags) else f"{missing} of {len(flags)} devices"
    )
    return [
        f"power/async is missing for {who}: they stand here as not async; the file"
        " needs CONFIG_PM_ADVANCED_DEBUG"
    ]


def _links(
    top: Path, devices: Mapping[Path, Path | None]
) -> tuple[list[_Link], list[str]]:
    """The links that suspend waits for, and caveats about the others.

    dpm_wait_for_suppliers() passes over dormant links, newer kernels over
    those of sync_state, too.
    """
    real = {Path(os.path.realpath(path)): path for path in devices}
    found = []
    skipped: Counter[str] = Counter()
    for entry in sorted(top.iterdir()) if top.is_dir() else ():
        status = _read(entry / "status")
        if status == "dormant":
            skipped["dormant"] += 1
        elif _read(entry / "sync_state_only") not in ("0", None):
            skipped["sync_state_only"] += 1
        else:
            ends = [
                real.get(Path(os.path.realpath(entry / end)))
                for end in ("consumer", "supplier")
            ]
            if status is None or not ends[0] or not ends[1] or ends[0] == ends[1]:
                skipped["incomplete"] += 1
            else:
                found.append(_Link(ends[0], ends[1]))
    caveats = [f"device links left out: {n} {why}" for why, n in skipped.items()]
    if not top.is_dir():
        caveats.append("there is no class/devlink: suppliers are unknown")
    return found, caveats


def _graph(
    parents: Mapping[Path, Path | None], links: Iterable[_Link]
) -> tuple[nx.DiGraph[Path], list[_Link]]:
    """What comes before what, and the links that would close a cycle."""
    graph: nx.DiGraph[Path] = nx.DiGraph()
    for path, above in parents.items():
        graph.add_node(path)
        if above:
            graph.add_edge(above, path)
    dropped = []
    for link in links:
        if nx.has_path(graph, link.consumer, link.supplier):
            dropped.append(link)
        else:
            graph.add_edge(link.supplier, link.consumer)
    return graph, dropped
