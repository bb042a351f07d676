# SPDX-License-Identifier: GPL-2.0-only
"""Changes to a tree, as one writes them: what would be, and fitting.

Words with commas between them:

    async=all|none             every device, or none
    PHASE=xNUMBER              all times of a phase, times so much
    DEVICE=TIME                all its callbacks take this: 12ms, 800us, 0.3s
    DEVICE:PHASE=TIME          its callback in one phase does
    DEVICE=async|sync          run by a worker, or by the main thread
    DEVICE=supplier:OTHER      a device link to what comes earlier in the list
    DEVICE=after:OTHER         a new sync device, after OTHER in the list
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from lull.errors import UsageError
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.order import check_order

_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(us|ms|s)")
_US = {"us": 1.0, "ms": 1e3, "s": 1e6}
_FACTOR = re.compile(r"x(\d{1,6}(?:\.\d{1,6})?)")


@dataclass(frozen=True)
class Edit:
    """One word: ``key`` is left of the last ``=``, ``value`` right of it."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


def parse(text: str) -> tuple[Edit, ...]:
    """The words of ``text``. Raises UsageError for one without a ``=``."""
    edits = []
    for word in filter(None, (word.strip() for word in text.split(","))):
        key, equals, value = word.rpartition("=")
        if not (key and equals and value):
            raise UsageError(
                f"'{word}' is not a change",
                hint="mode=lull, async=all, DEVICE=0ms or DEVICE:suspend=12ms",
            )
        edits.append(Edit(key, value))
    return tuple(edits)


def apply(tree: Tree, edits: Iterable[Edit]) -> Tree:
    """``tree`` with the changes, in their order.

    Raises UsageError for what does not exist or is no value, BadTree where a
    supplier would come later in the list.
    """
    for edit in edits:
        tree = _apply(tree, edit)
    check_order(tree)
    return tree


def _apply(tree: Tree, edit: Edit) -> Tree:
    devices = {device.name: device for device in tree.devices}
    if edit.key == "async":
        if edit.value not in ("all", "none"):
            raise UsageError(f"async={edit.value}", hint="async=all or async=none")
        on = edit.value == "all"
        return Tree(tuple(replace(device, is_async=on) for device in tree.devices))
    factor = _FACTOR.fullmatch(edit.value)
    if edit.key in list(Phase) and factor:
        return _scaled(tree, Phase(edit.key), float(factor[1]))
    if edit.value.startswith("after:"):
        return _inserted(tree, devices, edit)
    name, _, phase = edit.key.rpartition(":")
    if phase in list(Phase) and name in devices:
        device = _with_times(devices[name], _us(edit), [Phase(phase)])
    else:
        device = _device(devices, edit)
    return Tree(tuple(device if d.name == device.name else d for d in tree.devices))


def _device(devices: Mapping[str, Device], edit: Edit) -> Device:
    device = devices[known(edit.key, devices)]
    if edit.value in ("async", "sync"):
        return replace(device, is_async=edit.value == "async")
    if edit.value.startswith("supplier:"):
        other = known(edit.value.removeprefix("supplier:"), devices)
        suppliers = tuple(dict.fromkeys((*device.suppliers, other)))
        return replace(device, suppliers=suppliers)
    return _with_times(device, _us(edit), list(device.work))


def known(name: str, names: Iterable[str]) -> str:
    """``name`` if it is one of ``names``. Raises UsageError, with the closest."""
    names = list(names)
    if name in names:
        return name
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    raise UsageError(
        f"there is no device '{name}'",
        hint=f"like it are {', '.join(close)}" if close else "names are case-sensitive",
    )


def _us(edit: Edit) -> int:
    found = _TIME.fullmatch(edit.value)
    if found is None:
        raise UsageError(f"'{edit}' has no time", hint="a time is 12ms, 800us or 0.3s")
    return round(float(found[1]) * _US[found[2]])


def _with_times(device: Device, us: int, phases: Iterable[Phase]) -> Device:
    work = {phase: replace(device.work.get(phase, Work(0)), us=us) for phase in phases}
    return replace(device, work={**device.work, **work})


def _scaled(tree: Tree, phase: Phase, factor: float) -> Tree:
    def scaled(device: Device) -> Device:
        if phase not in device.work:
            return device
        us = round(device.work[phase].us * factor)
        return _with_times(device, us, [phase])

    return Tree(tuple(map(scaled, tree.devices)))


def _inserted(tree: Tree, devices: Mapping[str, Device], edit: Edit) -> Tree:
    other = known(edit.value.removeprefix("after:"), devices)
    if edit.key in devices:
        raise UsageError(f"there is a device '{edit.key}' already", hint="rename it")
    if not re.fullmatch(r"[A-Za-z0-9._:-]{1,63}", edit.key):
        raise UsageError(f"'{edit.key}' is not a name", hint="A-Z a-z 0-9 . _ : -")
    at = list(devices).index(other) + 1
    new = Device(edit.key)
    return Tree((*tree.devices[:at], new, *tree.devices[at:]))
