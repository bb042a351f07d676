# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's log as a recording: what pm_print_times makes it say.

With /sys/power/pm_print_times (or initcall_debug) the kernel prints each callback
when it begins and when it has ended, and so the last lines of a console, or of
pstore, say what a machine that hung was doing. Kernels up to 4.19 or so print

    calling  1-2+ @ 4122, parent: usb1
    call 1-2+ returned 0 after 12 usecs

and later ones the driver, the device and the function:

    usb 1-2: PM: calling usb_dev_resume @ 4122, parent: usb1
    usb 1-2: PM: usb_dev_resume returned 0 after 12 usecs

The phase is told by the totals that are printed when one has ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lull.errors import NoRecording
from lull.graph.cycles import Cycles
from lull.graph.events import End, Mark, Start
from lull.graph.lines import Lines
from lull.graph.one_cycle import MOST_DEVICES, TOO_MANY
from lull.graph.recording import ACTION, Caveat, Header, Recording
from lull.graph.tally import Tally
from lull.graph.unpack import unpack
from lull.trees.model import Phase

HINT = (
    "boot with no_console_suspend, echo 1 > /sys/power/pm_print_times before the"
    " suspend, and name the console's log or the file of pstore"
)
_NEEDLES = (
    b"calling ",
    b" returned ",
    b" of devices ",
    b"DPM device timeout",
)
_TIME = re.compile(r"\[ *(\d{1,9}\.\d{1,9})(?:\]|\[)")
_CALL = re.compile(
    r"(?:(?P<who>\S[^:]*(?::[^ ]+)*): (?:PM: )?)?calling +(?P<name>\S+)"
    r" @ (?P<pid>\d{1,10}), parent: (?P<parent>.*)"
)
_RETURNED = re.compile(
    r"(?:(?P<who>\S[^:]*(?::[^ ]+)*): (?:PM: )?|call )(?P<name>\S+)"
    r" returned (?P<err>-?\d{1,6}) after \d+ usecs"
)
_STUCK = re.compile(r"(?P<who>\S.*): \*{4} DPM device timeout.*")
_TOTAL = re.compile(
    r"PM: (?:(late|noirq|early) )?(suspend|freeze|hibernate|resume|thaw|restore)"
    r" of devices (?:complete|aborted|failed)"
)
_PHASES = list(Phase)


def read(source: bytes | Iterable[bytes], where: str) -> Recording:
    """The callbacks in a kernel's log, plain or gzip, whole or in pieces.

    Raises NoRecording where it has none.
    """
    pieces = [source] if isinstance(source, bytes) else source
    caveats: list[Caveat] = []
    reader = _Reader()
    lines = Lines(_NEEDLES)
    for number, line in lines.of(unpack(pieces, caveats)):
        if len(line) <= 1024:
            reader.take(number, line.decode("utf-8", "backslashreplace").rstrip())
    cycles = reader.cycles.result(frozenset())
    if not reader.calls:
        raise NoRecording(
            "no line of it is an event, nor a callback that pm_print_times shows",
            where=where,
            hint=HINT,
        )
    return Recording(cycles, Header(), caveats=(*caveats, *reader.tally.result()))


class _Reader:
    def __init__(self) -> None:
        self.cycles = Cycles()
        self.tally = Tally()
        self.calls = 0
        self._phase = Phase.SUSPEND
        self._begun = False
        self._time = 0.0
        self._open: dict[str, int] = {}

    def take(self, number: int, line: str) -> None:
        stamps = list(_TIME.finditer(line))
        if stamps:
            self._time = max(self._time, float(stamps[0][1]))
        text = line.rpartition("] ")[2].strip() if stamps else line.strip()
        if found := _CALL.fullmatch(text):
            self._call(number, found)
        elif found := _RETURNED.fullmatch(text):
            self._returned(number, found)
        elif found := _STUCK.fullmatch(text):
            what = f"the kernel's watchdog says that {found['who']} is stuck"
            self.tally.add(what, number)
        elif total := _TOTAL.search(text):
            self._total(number, total)

    def _call(self, number: int, found: re.Match[str]) -> None:
        if not self._begun:
            self._begun = True
            self._mark(number, True)
        who = _who(found)
        parent = found["parent"].strip()
        pid = int(found["pid"])
        self.calls += 1
        if who not in self._open and len(self._open) >= MOST_DEVICES:
            self.tally.add(TOO_MANY, number)
            return
        self._open[who] = pid
        self.cycles.take(
            Start(
                number,
                self._time,
                "",
                pid,
                who,
                None if parent in ("none", "") else parent,
                _INFO[self._phase],
                self._phase.down,
            )
        )

    def _returned(self, number: int, found: re.Match[str]) -> None:
        who = _who(found)
        if who not in self._open:
            self.tally.add("a callback returns without having been called", number)
            return
        pid = self._open.pop(who)
        self.cycles.take(End(number, self._time, "", pid, who, int(found["err"])))

    def _total(self, number: int, found: re.Match[str]) -> None:
        down = found[2] in ("suspend", "freeze", "hibernate")
        phase = (_DOWN if down else _UP)[found[1]]
        if self._begun and self._phase is phase:
            self._mark(number, False)
        self._phase = _PHASES[(_PHASES.index(phase) + 1) % len(_PHASES)]
        self._begun = False

    def _mark(self, number: int, begin: bool) -> None:
        action = ACTION[self._phase]
        self.cycles.take(Mark(number, self._time, "", 0, action, begin))


def _who(found: re.Match[str]) -> str:
    """Driver and device as an event has them; the older lines have no driver."""
    return found["who"] or found["name"].removesuffix("+")


_DOWN = {
    None: Phase.SUSPEND,
    "late": Phase.SUSPEND_LATE,
    "noirq": Phase.SUSPEND_NOIRQ,
}
_UP = {None: Phase.RESUME, "early": Phase.RESUME_EARLY, "noirq": Phase.RESUME_NOIRQ}
_INFO = {
    Phase.SUSPEND: "bus",
    Phase.SUSPEND_LATE: "late bus",
    Phase.SUSPEND_NOIRQ: "noirq bus",
    Phase.RESUME_NOIRQ: "noirq bus",
    Phase.RESUME_EARLY: "early bus",
    Phase.RESUME: "bus",
}
