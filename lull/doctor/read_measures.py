# SPDX-License-Identifier: GPL-2.0-only
"""What ``lull-probe collect --measure`` wrote. Pure.

A file begins, or ends, with ``lacks WORD ERRNO`` where it could not be measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from lull.doctor.bundle import number
from lull.doctor.read_hooks import SleepHooks, read_hooks
from lull.doctor.read_recording import About, Recorded, read_recording

#: What can be measured, and the file that it is in; the collector has the same.
FILES = {
    "sleep-hooks": "sleep-hooks",
    "attach": "attach",
    "zfree": "zfree",
    "freezer": "freezer",
    "devices": "recording",
    "suspend": "suspend",
}
NAMES = tuple(FILES)

#: Whatever somebody has written into the file: no more is read.
_MOST = 1000

_MOVE = re.compile(r"^move\t(\d{1,15}) ns$", re.MULTILINE)
_MUNMAP = re.compile(r"^munmap\t(\d{1,15}) ns\t(\d{1,12}) KiB$", re.MULTILINE)
_CYCLE = re.compile(r"^cycle\t(\d{1,15}) us\t(\w+)$", re.MULTILINE)
_STAMP = re.compile(
    r"^(?:<\d+>)?\[\s*(\d{1,12}\.\d{1,9})\]\s?(?:\[\s*[TC]\d+\]\s)?(.*)$"
)

#: Why something was not measured, by the word of the collector.
_LACKS = {
    "root": "it needs root",
    "cgroup2": "no cgroup v2 is mounted",
    "cgroup": "its cgroups could not be made",
    "move": "a move failed",
    "zram": "not all swap is zram, or there is none",
    "memory": "it would take more than a quarter of the memory, or half the swap, "
    "that is free",
    "pageout": "the kernel does not swap out what it is asked to",
    "suspend": "this kernel cannot suspend",
    "pm_test": "there is no /sys/power/pm_test: the kernel needs CONFIG_PM_DEBUG and "
    "CONFIG_PM_SLEEP_DEBUG; --measure suspend does without",
    "alarm": "there is no clock that wakes the machine, or somebody else has set it",
    "tracefs": "the kernel does not trace suspends, or does already, for another",
    "note": "what it changes could not be noted first in /var/lib/lull",
    "back": "what it changed is not put back yet; the next start tries again",
    "journal": "the journal could not be read",
    "sleep": "the journal has no suspend",
}


@dataclass(frozen=True)
class Spread:
    """Milliseconds of n samples; the 99th percentile is one of them (nearest rank),
    which of fewer than 100 is the longest."""

    n: int
    p50: float
    p99: float
    longest: float


@dataclass(frozen=True)
class Unmapped:
    """So much of its own memory, in zram, was unmapped."""

    mib: float
    times: Spread


@dataclass(frozen=True)
class Cycles:
    """Suspends, most of which the kernel was told to turn back.

    ``whole`` is the write to /sys/power/state, ``phases`` what the log says of it, by
    name: sync, user (processes), kernel (threads), freeze (both), thaw (to the end of
    the suspend).
    ``error`` is the errno's name of the one that failed, which was the last.
    """

    whole: Spread | None
    phases: dict[str, Spread]
    error: str


@dataclass(frozen=True)
class Missing:
    """A measurement that was asked for and not made, or not whole, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Suspends:
    """Cycles of which one was recorded; None where nothing of it can be read."""

    name: str
    cycles: Cycles
    recorded: Recorded | None


@dataclass(frozen=True)
class Measured:
    """What was asked for and came out; None is what was not, or did not."""

    attach: Spread | None
    zfree: Unmapped | None
    freezer: Cycles | None
    sleep_hooks: SleepHooks | None
    suspends: tuple[Suspends, ...]
    missing: tuple[Missing, ...]


def spread(values: Sequence[float]) -> Spread | None:
    """Of milliseconds; None where there are none."""
    if not values:
        return None
    ordered = sorted(values)
    p99 = ordered[ceil(0.99 * len(ordered)) - 1]
    return Spread(len(ordered), median(ordered), p99, ordered[-1])


def read_measures(files: Mapping[str, str], about: About) -> Measured:
    """All of them, by the names of their steps."""

    def text(name: str) -> str:
        return files.get(FILES[name], "")

    return Measured(
        attach=read_attach(text("attach")),
        zfree=read_zfree(text("zfree")),
        freezer=read_freezer(text("freezer")),
        sleep_hooks=read_hooks(text("sleep-hooks")),
        suspends=tuple(
            found
            for name in ("devices", "suspend")
            if (found := read_suspends(name, text(name), about)) is not None
        ),
        missing=tuple(why for name in NAMES for why in read_lacks(name, text(name))),
    )


def read_attach(text: str) -> Spread | None:
    """Moves of a child between two cgroups."""
    return spread([number(ns) / 1e6 for ns in _MOVE.findall(text)[:_MOST]])


def read_zfree(text: str) -> Unmapped | None:
    """Only those of which nearly all was in swap, as the collector wants it."""
    found = [(number(ns) / 1e6, number(kb)) for ns, kb in _MUNMAP.findall(text)[:_MOST]]
    most = max((kb for _, kb in found), default=0)
    times = spread([ms for ms, kb in found if kb >= 0.9 * most])
    if not most or times is None:
        return None
    return Unmapped(most / 1024, times)


def read_suspends(name: str, text: str, about: About) -> Suspends | None:
    """The cycles, and the recording of the last one."""
    told, _, trace = text.partition("\ntrace\n")
    cycles = read_freezer(told)
    return Suspends(name, cycles, read_recording(trace, about)) if cycles else None


def read_freezer(text: str) -> Cycles | None:
    """The cycles, and the phases of those that came through."""
    head, _, log = text.partition("log\n")
    found = [(number(us) / 1e3, error) for us, error in _CYCLE.findall(head)[:_MOST]]
    if not found:
        return None
    error = next((error for _, error in found if error != "0"), "")
    phases = {
        name: times
        for name, values in _phases(log).items()
        if (times := spread(values)) is not None
    }
    return Cycles(spread([ms for ms, e in found if e == "0"]), phases, error)


#: By what a line says when a phase begins, and ends. Of kernel/power/{process,
#: suspend}.c, 5.10 to 7.3; before 6.1 freezing is one line, with its own seconds.
_BEGIN = {
    "user": re.compile(r"^Freezing user space processes\s*(?:\.\.\.\s*)?$"),
    "kernel": re.compile(r"^Freezing remaining freezable tasks\s*(?:\.\.\.\s*)?$"),
    "thaw": re.compile(r"^Restarting tasks"),
}
_END = {
    "user": re.compile(r"^Freezing user space processes completed"),
    "kernel": re.compile(r"^Freezing remaining freezable tasks completed"),
    "thaw": re.compile(r"^PM: suspend exit"),
}
_SECONDS = {
    "sync": re.compile(r"Filesystems sync: (\d{1,9}\.\d{1,9}) seconds"),
    "user": re.compile(r"^Freezing user space.*\(elapsed (\d{1,9}\.\d{1,9}) seconds"),
    "kernel": re.compile(r"^Freezing remaining.*\(elapsed (\d{1,9}\.\d{1,9}) seconds"),
}
_ENTRY = re.compile(r"^PM: suspend entry")
_EXIT = re.compile(r"^PM: suspend exit")


def _phases(log: str) -> dict[str, list[float]]:
    """Milliseconds of each phase, of suspends that froze all. The log's own clock is
    finer than the seconds that a line says, which are for who has no better."""
    found: dict[str, list[float]] = {}
    now: dict[str, float] = {}
    begun: dict[str, float] = {}
    for line in log.splitlines():
        match = _STAMP.match(line)
        if match is None:
            continue
        at, said = float(match[1]), match[2]
        if _ENTRY.match(said):
            now, begun = {}, {}
        begun.update({name: at for name in _BEGIN if _BEGIN[name].match(said)})
        for name, seconds in _SECONDS.items():
            if told := seconds.search(said):
                now[name] = float(told[1]) * 1e3
        for name, end in _END.items():
            if name in begun and end.match(said):
                now[name] = (at - begun[name]) * 1e3
        if _EXIT.match(said):
            if "user" in now and "kernel" in now:
                now["freeze"] = now["user"] + now["kernel"]
                for name in now:
                    found.setdefault(name, []).append(now[name])
            now, begun = {}, {}
    return {name: values[:_MOST] for name, values in found.items()}


def read_lacks(name: str, text: str) -> tuple[Missing, ...]:
    """Why it was not measured, or not to its end."""
    found = []
    for line in text.splitlines():
        word, *rest = line.split("\t")
        if word == "lacks" and len(rest) == 2:
            known = _LACKS.get(rest[0], rest[0])
            errno = "" if rest[0] in _PLAIN else f" ({rest[1]})"
            found.append(Missing(name, known + errno))
        elif line == "late":
            found.append(Missing(name, "its time was over"))
    return tuple(found)


#: Of these the errno says no more than the words.
_PLAIN = frozenset({"root", "cgroup2", "zram", "memory", "suspend", "sleep", "tracefs"})
