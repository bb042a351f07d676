# SPDX-License-Identifier: GPL-2.0-only
"""What a recording of suspend and resume says, as records.

Times are seconds of the trace's own clock. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lull.errors import UsageError
from lull.trees.model import Phase

PREPARE = "dpm_prepare"
COMPLETE = "dpm_complete"

#: The name that suspend_resume events have for a phase.
ACTION = {phase: f"dpm_{phase}" for phase in Phase}
PHASE = {action: phase for phase, action in ACTION.items()}


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something that is missing or odd: what, how often, and where first.

    ``line`` counts from 1; 0 where no line is to blame.
    """

    text: str
    count: int = 1
    line: int = 0

    def __str__(self) -> str:
        times = f"{self.count} times, " if self.count > 1 else ""
        if self.line:
            first = "first at line" if self.count > 1 else "line"
            return f"{self.text} ({times}{first} {self.line})"
        return f"{self.text} ({self.count} times)" if self.count > 1 else self.text


@dataclass(frozen=True, slots=True)
class Callback:
    """One call of a driver's, bus's or class's function for one device.

    ``driver`` may be empty, ``parent`` None. Without ``ended`` the end is not
    recorded: ``end_s`` is then ``start_s``, so that nothing rests on a time that
    nobody took, ``until_s`` when it has ended at the latest, and ``err`` 0.
    """

    device: str
    driver: str
    parent: str | None
    phase: Phase
    start_s: float
    end_s: float
    task: str
    pid: int
    err: int = 0
    line: int = 0
    ended: bool = True
    until_s: float = 0.0

    @property
    def us(self) -> float:
        """How long it took, in microseconds; 0 where that is not recorded."""
        return (self.end_s - self.start_s) * 1e6

    @property
    def last_s(self) -> float:
        """When it has ended at the latest."""
        return self.end_s if self.ended else self.until_s


@dataclass(frozen=True, slots=True)
class Span:
    """From ``begin`` to ``end`` of a suspend_resume event; ``pid`` began it."""

    action: str
    start_s: float
    end_s: float
    pid: int
    line: int = 0
    ended: bool = True

    @property
    def ms(self) -> float:
        """Its length in milliseconds."""
        return (self.end_s - self.start_s) * 1e3


@dataclass(frozen=True, slots=True)
class Named:
    """A device as dpm_prepare saw it: the order of these is that of dpm_list."""

    device: str
    driver: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Aside:
    """A call of ->prepare() or ->complete(): ``action`` has the walk's name.

    ``end_s`` is ``start_s`` where the end is not recorded.
    """

    device: str
    parent: str | None
    action: str
    start_s: float
    end_s: float
    err: int = 0
    line: int = 0

    @property
    def us(self) -> float:
        """How long it took, in microseconds; 0 where that is not recorded."""
        return (self.end_s - self.start_s) * 1e6


@dataclass(frozen=True, slots=True)
class Whole:
    """All of a cycle: from the write to the state file to its return.

    Where one of the two is not recorded, from the first event or to the last.
    """

    start_s: float
    end_s: float
    write: bool
    returned: bool


@dataclass(frozen=True)
class Cycle:
    """One way down and up again.

    ``spans`` has the six phases, by their field of dev_pm_ops; ``steps`` all
    suspend_resume events in order. ``prepared`` is empty where dpm_prepare is
    not recorded (Linux 6.12 does not). ``asides`` are the callbacks of that walk
    and of dpm_complete. Of a cycle that is not ``kept`` there
    are only the six phases.
    """

    spans: Mapping[Phase, Span] = field(default_factory=dict)
    callbacks: tuple[Callback, ...] = ()
    prepared: tuple[Named, ...] = ()
    steps: tuple[Span, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    asides: tuple[Aside, ...] = ()
    whole: Whole | None = None
    kept: bool = True

    @property
    def size(self) -> int:
        """How many records it holds."""
        both = len(self.prepared) + len(self.asides)
        return len(self.callbacks) + both + len(self.steps)

    @property
    def complete(self) -> bool:
        """All six phases are here, each with its end."""
        return len(self.spans) == len(Phase) and all(
            span.ended for span in self.spans.values()
        )

    def calls(self, phase: Phase) -> tuple[Callback, ...]:
        """The callbacks of a phase, by start."""
        return tuple(call for call in self.callbacks if call.phase is phase)


@dataclass(frozen=True)
class Header:
    """What the recording says of itself; empty or None where it does not."""

    kernel: str = ""
    host: str = ""
    mode: str = ""
    cpus: int | None = None
    rules: str = ""


@dataclass(frozen=True)
class Recording:
    """A file that was read as far as it went; at least one cycle.

    ``asynchronous`` is power/async by device name, empty where not recorded;
    ``description`` a description of the tree that the recording carries.
    """

    cycles: tuple[Cycle, ...]
    header: Header = Header()
    asynchronous: Mapping[str, bool] = field(default_factory=dict)
    description: str = ""
    caveats: tuple[Caveat, ...] = ()

    def cycle(self, number: int | None = None) -> tuple[int, Cycle]:
        """Cycle ``number`` from 1, else the last complete one, else the last.

        Returns its number too. Raises UsageError where there is none such.
        """
        if number is None:
            whole = [n for n, each in enumerate(self.cycles, 1) if each.complete]
            number = whole[-1] if whole else len(self.cycles)
        if not 1 <= number <= len(self.cycles):
            raise UsageError(
                f"there is no cycle {number}",
                hint=f"--cycle 1 to {len(self.cycles)}",
            )
        if not self.cycles[number - 1].kept:
            raise UsageError(
                f"cycle {number} was read and not kept: there are too many",
                hint=f"--cycle {number}",
            )
        return number, self.cycles[number - 1]
