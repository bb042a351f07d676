# SPDX-License-Identifier: GPL-2.0-only
"""Made-up trees, by a short text such as ``chain:n=50,us=1000``.

The same text gives the same tree everywhere: Random.random() is the same in
every version of Python, and nothing else of ``random`` or of the machine's
math library is used. A device takes the same number of draws whatever the
percentages are, so that more ``sync`` leaves tree and times as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from pathlib import Path
from random import Random

from lull.errors import UsageError
from lull.host.files import read_input
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.reader import MAX_DEVICES, MAX_US, read

SUSPEND_RESUME = (Phase.SUSPEND, Phase.RESUME)
_FILE = "file"
_PERCENT = ("sync", "busy", "links", "rare")
_COUNT = ("n", "m")


def chain(
    n: int = 50,
    us: int = 1000,
    phases: tuple[Phase, ...] = SUSPEND_RESUME,
    sync: int = 0,
    busy: int = 0,
    seed: int = 1,
) -> Tree:
    """``n`` devices, each the child of the one before it.

    Each callback takes ``us`` in each of ``phases``. ``sync`` and ``busy`` are
    the percentages of devices that are not async, and that are busy, not
    asleep.
    """
    _check_count(n)
    work = dict.fromkeys(phases, Work(us))
    devices = [
        Device(f"d{i}", parent=f"d{i - 1}" if i else None, work=work) for i in range(n)
    ]
    return _mixed(devices, sync, busy, seed)


def fan(
    n: int = 50,
    us: int = 1000,
    top: int = 1000,
    phases: tuple[Phase, ...] = SUSPEND_RESUME,
    sync: int = 0,
    busy: int = 0,
    seed: int = 1,
) -> Tree:
    """A parent that takes ``top`` us, with ``n`` children of ``us`` each."""
    return fan2(n, 0, us, 0, top, phases, sync, busy, seed)


def fan2(
    n: int = 10,
    m: int = 10,
    us: int = 1000,
    leaf: int = 1000,
    top: int = 1000,
    phases: tuple[Phase, ...] = SUSPEND_RESUME,
    sync: int = 0,
    busy: int = 0,
    seed: int = 1,
) -> Tree:
    """A parent (``top`` us) with ``n`` children (``us``) of ``m`` each (``leaf``)."""
    _check_count(1 + n + n * m)
    devices = [Device("top", work=dict.fromkeys(phases, Work(top)))]
    for i in range(n):
        work = dict.fromkeys(phases, Work(us))
        devices.append(Device(f"d{i}", parent="top", work=work))
        work = dict.fromkeys(phases, Work(leaf))
        devices += (Device(f"d{i}.{j}", parent=f"d{i}", work=work) for j in range(m))
    return _mixed(devices, sync, busy, seed)


def random(
    n: int = 300,
    us: int = 110_000,
    resume: int = 110_000,
    late: int = 15_000,
    noirq: int = 30_000,
    rare: int = 15,
    links: int = 20,
    sync: int = 30,
    busy: int = 0,
    seed: int = 1,
) -> Tree:
    """A random graph: parents and suppliers are drawn from what came before.

    Most devices take little and few much, at most ``us`` in suspend,
    ``resume`` in resume, ``late`` in suspend_late and resume_early, ``noirq``
    in both of noirq. In these four only ``rare`` percent of the devices have a
    callback. ``links`` percent have a supplier.
    """
    _check_count(n)
    draw = Random(seed).random
    devices: list[Device] = []
    for i in range(n):
        parent, has_link, supplier = draw(), draw(), draw()
        # One in twenty has no parent, as the platform's own devices have none.
        above = f"d{_below(i, (parent - 0.05) / 0.95)}" if i and parent > 0.05 else None
        link = f"d{_below(i, supplier)}" if i and 100 * has_link < links else None
        work = {
            Phase.SUSPEND: Work(_skewed(us, draw())),
            Phase.RESUME: Work(_skewed(resume, draw())),
        }
        for phase, most in (
            (Phase.SUSPEND_LATE, late),
            (Phase.SUSPEND_NOIRQ, noirq),
            (Phase.RESUME_NOIRQ, noirq),
            (Phase.RESUME_EARLY, late),
        ):
            chosen, size = draw(), draw()
            if 100 * chosen < rare:
                work[phase] = Work(_skewed(most, size))
        suppliers = (link,) if link and link != above else ()
        devices.append(Device(f"d{i}", above, suppliers, work=work))
    return _mixed(devices, sync, busy, seed + 1)


def empty(n: int = 900, sync: int = 92) -> Tree:
    """The devices of a laptop, with callbacks that return at once, everywhere.

    Two buses, their devices, and a third level below those of the first bus,
    which are the async ones: 65 of the 863 devices are async in pm-graph's
    recordings of a Dell XPS 13 9360, those of PCI and USB above all.
    """
    _check_count(n)
    work = dict.fromkeys(Phase, Work(0))
    functions = n * (100 - sync) // 100
    devices = [Device("pci0", work=work), Device("platform", work=work)][:n]
    for i in range(min(functions, n - len(devices))):
        devices.append(Device(f"pci0:{i}", "pci0", is_async=True, work=work))
    for i in range(n - len(devices)):
        # Half of them below the second bus, half spread over the first's.
        above = f"pci0:{i // 2 % functions}" if functions and i % 2 else "platform"
        devices.append(Device(f"{above}.{i}", above, work=work))
    return Tree(tuple(devices))


SHAPES: Mapping[str, Callable[..., Tree]] = {
    shape.__name__: shape for shape in (chain, fan, fan2, random, empty)
}


def make(spec: str) -> Tree:
    """The tree of a text: ``SHAPE``, ``SHAPE:NAME=VALUE,...`` or ``file:PATH``.

    Phases are joined by ``+``. Raises UsageError for what there is not,
    BadTree for what a file says.
    """
    name, _, rest = spec.partition(":")
    if name == _FILE:
        return load(Path(rest))
    if name not in SHAPES:
        raise UsageError(
            f"unknown shape '{name}'", where=spec, hint=f"one of: {_list_shapes()}"
        )
    shape = SHAPES[name]
    values: dict[str, int | tuple[Phase, ...]] = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = part.partition("=")
        if key not in signature(shape).parameters or not equals:
            raise UsageError(
                f"unknown parameter '{part}' of {name}",
                where=spec,
                hint=f"one of: {' '.join(parameters(name))}",
            )
        if key in values:
            raise UsageError(
                f"{key} is given twice", where=spec, hint="keep one of them"
            )
        values[key] = _phases(spec, value) if key == "phases" else _int(spec, part)
    try:
        return shape(**values)
    except UsageError as error:
        raise UsageError(error.what, where=spec, hint=error.hint) from error


def parameters(name: str) -> list[str]:
    """The parameters of a shape as ``NAME=DEFAULT``."""
    return [
        f"{key}={'+'.join(p.default) if key == 'phases' else p.default}"
        for key, p in signature(SHAPES[name]).parameters.items()
    ]


def load(path: Path) -> Tree:
    """The tree of a file. Raises UsageError, BadTree."""
    hint = "name a description; lull tree make writes one"
    return read(read_input(path, hint), str(path))


def _list_shapes() -> str:
    return ", ".join([*SHAPES, f"{_FILE}:PATH"])


def _phases(spec: str, text: str) -> tuple[Phase, ...]:
    names = text.split("+")
    for name in names:
        if name not in tuple(Phase):
            raise UsageError(
                f"unknown phase '{name}'",
                where=spec,
                hint=f"some of, joined by +: {' '.join(Phase)}",
            )
    return tuple(phase for phase in Phase if phase in names)


def _int(spec: str, part: str) -> int:
    key, _, text = part.partition("=")
    most = 100 if key in _PERCENT else MAX_DEVICES if key in _COUNT else MAX_US
    if not re.fullmatch(r"[0-9]{1,8}", text) or int(text) > most:
        raise UsageError(
            f"'{part}' is not a number from 0 to {most}",
            where=spec,
            hint="in decimal digits; times are in microseconds",
        )
    return int(text)


def _check_count(devices: int) -> None:
    if not 0 < devices <= MAX_DEVICES:
        raise UsageError(f"{devices} devices", hint=f"a tree has 1 to {MAX_DEVICES}")


def _below(n: int, x: float) -> int:
    """One of 0 to n - 1 for an x of 0 to 1; x may miss 0 by a rounding."""
    return max(0, min(n - 1, int(x * n)))


def _skewed(most: int, x: float) -> int:
    """``most`` times the 16th power of x: half of them get nearly nothing."""
    # Products alone: a power may be rounded differently elsewhere.
    for _ in range(4):
        x *= x
    return int(most * x)


def _mixed(devices: list[Device], sync: int, busy: int, seed: int) -> Tree:
    """The devices with that percentage of each kind."""
    draw = Random(seed).random
    made = []
    for device in devices:
        is_async, is_busy = 100 * draw() >= sync, 100 * draw() < busy
        work = {phase: replace(w, busy=is_busy) for phase, w in device.work.items()}
        made.append(replace(device, is_async=is_async, work=work))
    return Tree(tuple(made))
