# SPDX-License-Identifier: GPL-2.0-only
"""What is in a tree and how its phases would go, as plain ASCII. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from lull.report.table import plain, quantity, wrap
from lull.trees.model import DOWN, Device, Phase, Tree
from lull.trees.order import skipped, us_in
from lull.trees.schedule import Rules, critical_path, schedule

_LONGEST = 12  #: devices of a critical path that are named


def report(tree: Tree, cpus: int) -> str:
    """At most 75 columns; ends in a newline. ``cpus`` are for busy callbacks.

    Raises BadTree where the order of the list is not one.
    """
    skip = skipped(tree)
    lines = [*wrap(_head(tree, len(skip))), ""]
    rules = "".join(f"{each:>9}" for each in Rules)
    lines.append(f"{'phase':13} {'calls':>6} {'sum':>8} {'critical':>9}{rules}")
    for phase in Phase:
        times = [us_in(device, phase, skip) for device in tree.devices]
        calls = sum(phase in d.work and d.name not in skip for d in tree.devices)
        cells = [schedule(tree, phase, each, cpus=cpus).makespan_us for each in Rules]
        row = [_time(critical_path(tree, phase).us), *map(_time, cells)]
        lines.append(
            f"{phase:13} {calls:6} {_time(sum(times)):>8} "
            + "".join(f"{cell:>9}" for cell in row)
        )
    lines += ["", *_paths(tree, skip)]
    lines += wrap(
        f"Under each set of rules: the phase on {cpus} CPUs when starting a worker"
        " and waking a thread cost nothing."
    )
    for caveat in _caveats(tree):
        lines += wrap(caveat, "! ", "  ")
    return plain("\n".join(lines))


def _head(tree: Tree, skip: int) -> str:
    n = len(tree.devices)
    asyncs = sum(device.is_async for device in tree.devices)
    links = sum(len(device.suppliers) for device in tree.devices)
    text = f"{n} devices, {asyncs} async ({100 * asyncs / n:.0f}%), {links} links"
    direct = sum(device.direct for device in tree.devices)
    if direct:
        text += f", {direct} direct, of which {skip} get no callbacks"
    return text


def _paths(tree: Tree, skip: frozenset[str]) -> Iterator[str]:
    devices = {device.name: device for device in tree.devices}
    for phase in Phase:
        path = critical_path(tree, phase)
        if not path.devices:
            continue
        parts = [
            f"{name} {_time(us_in(devices[name], phase, skip))}"
            for name in path.devices[:_LONGEST]
        ]
        more = len(path.devices) - len(parts)
        parts += [f"and {more} more"] if more else []
        head = f"critical path of {phase}, {_time(path.us)}: "
        yield from wrap(head + ", ".join(parts), "", "  ")


def _caveats(tree: Tree) -> Iterator[str]:
    if not any(device.work for device in tree.devices):
        yield "no device has a callback: all times are 0"
    idle = [
        f"{device.name} in {phase}"
        for device in tree.devices
        for phase in DOWN
        if phase not in device.work and _promises(device, phase)
    ]
    if idle:
        yield (
            f"fail or wakeup without a callback, which never happens: {idle[0]}"
            + (f" and {len(idle) - 1} more" if len(idle) > 1 else "")
        )


def _promises(device: Device, phase: Phase) -> bool:
    return phase in device.fail or phase in device.wakeup


def _time(us: float) -> str:
    return quantity(us, "us")
