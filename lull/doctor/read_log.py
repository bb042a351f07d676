# SPDX-License-Identifier: GPL-2.0-only
"""Suspends in the kernel's log: how long, and who made them fail. Pure.

The words are those of kernel/power/{process,suspend,main}.c and
drivers/base/power/main.c, 5.10 to 7.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lull.doctor.read_power import errno_name

_LINE = re.compile(
    r"^(?:<\d+>)?\[\s*(\d+\.\d+)\]\s?(?:\[\s*[TC]\d+\]\s)?(?:\S+ (kernel): )?(.*)$"
)
_ENTRY = re.compile(r"^PM: suspend entry \(([\w-]+)\)")
_SYNC = re.compile(r"Filesystems sync: (\d+\.\d+) seconds")
_FROZEN = re.compile(
    r"Freezing (user space|remaining freezable).*\(elapsed (\d+\.\d+) seconds\)"
)
_REFUSED = re.compile(
    r"Freezing (.+?) (failed|aborted) after (\d+\.\d+) seconds "
    r"\((\d+) tasks refusing to freeze, wq_busy=(\d+)\)"
)
_TASK = re.compile(r"^task:(\S.*?)\s+state:(\S)\b.*?\bpid:\s*(\d+)")
_FRAME = re.compile(r"^ (?:\? )?([A-Za-z_][\w.]*)\+0x")
_DEVICE = re.compile(
    r"^(\S+) (\S+): PM: failed to (\w+)((?: async| late| noirq| early)*): error (-?\d+)"
)
_OLD_DEVICE = re.compile(
    r"^PM: Device (\S+) failed to (\w+)((?: async| late| noirq| early)*): "
    r"error (-?\d+)"
)
_CALLBACK = re.compile(r"PM: (?:\w+\(\): )?([\w.]+)\+0x\S+ returns (-?\d+)")
_WAKEUP = re.compile(r"PM: (?:Wakeup pending, aborting suspend|wakeup pending)")
_SOURCE = re.compile(r"PM: (?:last )?active wakeup source: (.+)")
_PHASE = re.compile(
    r"PM: ((?:late |noirq |early )?(?:suspend|resume)) of devices complete after "
    r"(\d+\.\d+) msecs"
)
#: The first of these that a machine says is when it is back.
_WAKING = re.compile(
    r"Low-level resume complete|Waking up from system sleep state|"
    r"Enabling non-boot CPUs|EC: interrupt unblocked|resume from suspend-to-idle"
)
#: Of 6.16 and later: before, one line has both, and the time of its beginning.
_THAW = re.compile(r"Restarting tasks: Starting")
_THAWED = re.compile(r"Restarting tasks: Done")
_EXIT = re.compile(r"^PM: suspend exit")
#: How lines of a stack begin that are neither the task nor a frame.
_DUMP = (" ", "Call Trace", "RIP:", "RSP:", "RAX:", "RDX:", "RBP:", "R0", "R1", "ORIG_")
#: Frames at the top of any stack, which say nothing.
_TOP = frozenset({"__schedule", "schedule", "__switch_to", "schedule_timeout"})


@dataclass(frozen=True)
class Refuser:
    """A task that would not freeze, with the functions it was in."""

    name: str
    pid: int
    state: str
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """``kind``: freeze, wakeup (freezing or devices given up for one), device.

    ``what`` was tried, ``error`` the errno's name, ``seconds`` what it took where
    the log says.
    """

    kind: str
    what: str
    seconds: float = 0.0
    refusers: tuple[Refuser, ...] = ()
    count: int = 0
    device: str = ""
    driver: str = ""
    callback: str = ""
    error: str = ""
    source: str = ""


@dataclass(frozen=True)
class Suspend:
    """A suspend that was tried. Times are seconds, None where the log has none.

    ``freeze_s`` is of user space and kernel threads together; ``resume_s`` from the
    first word of a kernel that is back to the end, by the log's own clock, which
    stands still in sleep; ``thaw_s`` likewise.
    """

    began: float
    state: str
    sync_s: float | None = None
    freeze_s: float | None = None
    resume_s: float | None = None
    thaw_s: float | None = None
    phases_ms: tuple[tuple[str, float], ...] = ()
    failures: tuple[Failure, ...] = ()
    complete: bool = False


@dataclass
class _Open:
    """An attempt while it is read."""

    began: float
    state: str
    sync_s: float | None = None
    freeze_s: float | None = None
    waking: float | None = None
    thaw: float | None = None
    thaw_s: float | None = None
    callback: str = ""
    phases: list[tuple[str, float]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def closed(self, at: float | None, timed: bool) -> Suspend:
        resume = None
        if at is not None and self.waking is not None and timed and not self.failures:
            resume = at - self.waking
        return Suspend(
            self.began,
            self.state,
            self.sync_s,
            self.freeze_s,
            resume,
            self.thaw_s if timed else None,
            tuple(self.phases),
            tuple(self.failures),
            complete=at is not None,
        )


def read_log(text: str) -> tuple[Suspend, ...]:
    """Attempts in the order of the log: of klogctl, dmesg, or journalctl -o
    short-monotonic. The journal's clock says when it was told, not when it was, so
    that its attempts have no times but those that the lines themselves say."""
    found: list[Suspend] = []
    now: _Open | None = None
    dump: _Dump | None = None
    timed = True
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        at, said = float(match[1]), match[3]
        if dump is not None and now is not None:
            if dump.takes(said):
                continue
            now.failures[dump.index] = dump.closed(now.failures[dump.index])
            dump = None
        if entry := _ENTRY.match(said):
            if now is not None:
                found.append(now.closed(None, timed))
            now, timed = _Open(at, entry[1]), match[2] is None
            continue
        if now is None:
            # A freeze that the log's beginning, or hibernation, has no entry for.
            if not _REFUSED.search(said):
                continue
            now, timed = _Open(at, ""), match[2] is None
        if refused := _REFUSED.search(said):
            now.failures.append(_refused(refused))
            dump = _Dump(len(now.failures) - 1)
        elif _EXIT.match(said):
            found.append(now.closed(at, timed))
            now = None
        else:
            _step(now, at, said)
    if now is not None:
        if dump is not None:
            now.failures[dump.index] = dump.closed(now.failures[dump.index])
        found.append(now.closed(None, timed))
    return tuple(found)


def _refused(match: re.Match[str]) -> Failure:
    kind = "freeze" if match[2] == "failed" else "wakeup"
    what = (
        "user space" if match[1] in ("of tasks", "user space processes") else match[1]
    )
    return Failure(
        kind, f"freezing {what}", float(match[3]), count=int(match[4]) + int(match[5])
    )


def _step(now: _Open, at: float, said: str) -> None:
    if match := _SYNC.search(said):
        now.sync_s = float(match[1])
    elif match := _FROZEN.search(said):
        now.freeze_s = (now.freeze_s or 0.0) + float(match[2])
    elif match := _CALLBACK.search(said):
        now.callback = match[1]
    elif match := _DEVICE.match(said):
        _device(now, match[2], match[1], match[3] + match[4], int(match[5]))
    elif match := _OLD_DEVICE.match(said):
        _device(now, match[1], "", match[2] + match[3], int(match[4]))
    elif _WAKEUP.search(said):
        now.failures.append(Failure("wakeup", "suspending devices"))
    elif match := _SOURCE.search(said):
        now.failures.append(Failure("wakeup", "suspending", source=match[1].strip()))
    elif match := _PHASE.search(said):
        now.phases.append((match[1], float(match[2])))
    elif _THAW.search(said):
        now.thaw = at
    if now.waking is None and _WAKING.search(said):
        now.waking = at
    if now.thaw is not None and _THAWED.search(said):
        now.thaw_s = at - now.thaw


def _device(now: _Open, device: str, driver: str, what: str, error: int) -> None:
    callback, now.callback = now.callback, ""
    now.failures.append(
        Failure(
            "device",
            what,
            device=device,
            driver=driver,
            callback=callback,
            error=errno_name(error),
        )
    )


class _Dump:
    """The stacks that follow a freeze which failed."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.tasks: list[tuple[str, int, str, list[str]]] = []

    def takes(self, said: str) -> bool:
        """Whether the line belongs to it."""
        if match := _TASK.match(said):
            self.tasks.append((match[1], int(match[3]), match[2], []))
            return True
        if frame := _FRAME.match(said):
            if self.tasks and frame[1] not in _TOP:
                self.tasks[-1][3].append(frame[1])
            return True
        return not said or said.startswith(_DUMP)

    def closed(self, failure: Failure) -> Failure:
        """The failure, with who refused."""
        tasks = tuple(Refuser(n, p, s, tuple(f[:6])) for n, p, s, f in self.tasks)
        return Failure(
            failure.kind,
            failure.what,
            failure.seconds,
            refusers=tasks,
            count=failure.count,
        )


def attempts(log: str, journal: str) -> tuple[tuple[Suspend, ...], tuple[Suspend, ...]]:
    """Those whose failures count, and those whose times do.

    The journal goes further back and has the log's own besides, so that only one of
    the two is taken for failures.
    """
    timed, kept = read_log(log), read_log(journal)
    return (kept if len(kept) >= len(timed) else timed), timed


def failed(found: Iterable[Suspend]) -> tuple[tuple[Suspend, Failure], ...]:
    """Each attempt that failed, with what made it fail first."""
    pairs = []
    for attempt in found:
        if attempt.failures:
            # A device's own error comes before what the core says of it.
            first = next(
                (f for f in attempt.failures if f.kind != "wakeup"), attempt.failures[0]
            )
            pairs.append((attempt, first))
    return tuple(pairs)
