# SPDX-License-Identifier: GPL-2.0-only
"""What a machine's devices are to the suspend code: a tree with links.

The names of the phases are the fields of dev_pm_ops; the trace events of the
system ``power`` call them dpm_suspend, dpm_suspend_late and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Phase(StrEnum):
    """A walk over all devices; in the order of a suspend and its resume."""

    SUSPEND = "suspend"
    SUSPEND_LATE = "suspend_late"
    SUSPEND_NOIRQ = "suspend_noirq"
    RESUME_NOIRQ = "resume_noirq"
    RESUME_EARLY = "resume_early"
    RESUME = "resume"

    @property
    def down(self) -> bool:
        """A device goes after what depends on it; else before it."""
        return self.name.startswith("SUSPEND")


#: The phases in which a device can fail, or report a wake-up.
DOWN = tuple(phase for phase in Phase if phase.down)


@dataclass(frozen=True)
class Work:
    """What a callback takes, in microseconds: asleep, or busy on a CPU."""

    us: int
    busy: bool = False


@dataclass(frozen=True)
class Device:
    """One device.

    A phase without an entry in ``work`` has no callback; 0 us is one that
    returns at once. ``direct``: prepare() returns 1 and the device is
    runtime-suspended. ``fail``: the errno, positive, that the callback returns.
    ``wakeup``: the callback of these phases reports a wake-up event.
    """

    name: str
    parent: str | None = None
    suppliers: tuple[str, ...] = ()
    is_async: bool = False
    direct: bool = False
    work: Mapping[Phase, Work] = field(default_factory=dict)
    fail: Mapping[Phase, int] = field(default_factory=dict)
    wakeup: frozenset[Phase] = frozenset()

    @property
    def superiors(self) -> tuple[str, ...]:
        """What it depends on, each once: its parent, then its suppliers."""
        parent = () if self.parent is None else (self.parent,)
        return tuple(dict.fromkeys(parent + self.suppliers))


@dataclass(frozen=True)
class Tree:
    """Devices in the order of dpm_list: parents and suppliers come first."""

    devices: tuple[Device, ...]
