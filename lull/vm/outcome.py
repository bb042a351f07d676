# SPDX-License-Identifier: GPL-2.0-only
"""What became of a boot: a value, or one of five errors. Pure."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path

from lull.errors import (
    GuestFailed,
    GuestPanic,
    Killed,
    Late,
    LostVM,
    LullError,
    TimedOut,
    Unmet,
)
from lull.vm.console import Finding, tail

#: The probe says so where it has to write results to the console (probe/main.c).
_NO_PORT = b"probe: no virtio port"


@dataclass(frozen=True)
class Outcome:
    """A boot that went as it should.

    ``seconds`` is host time of the whole run, ``boot_s`` up to the first
    result line. ``reason`` is what QEMU says of its end
    (``guest-shutdown``, ``guest-reset``, ``host-qmp-quit``).
    """

    results: bytes
    console: bytes
    seconds: float
    boot_s: float
    reason: str
    command: tuple[str, ...]
    accel: str


@dataclass(frozen=True)
class Ending:
    """What was seen of a boot up to its end, whatever that was."""

    results: bytes
    console: bytes
    stderr: bytes
    returncode: int
    gave_up: str | None  #: why the lab gave it up, where it did
    killed: bool  #: whether the lab killed QEMU, for whatever reason
    reason: str
    events: tuple[str, ...]  #: names of QEMU's events, in order


@dataclass(frozen=True)
class Closing:
    """What the result stream says of the job as a whole."""

    done: bool
    errors: tuple[str, ...]
    unmet: bool = False  #: the first error is that a precondition was not met


def closing(results: bytes) -> Closing:
    """Look for the ``done`` and ``error`` lines; skip whatever is no object."""
    done = False
    errors: list[str] = []
    unmet = False
    for line in results.split(b"\n"):
        kind, members = message(line)
        if kind == "done":
            done = True
        elif kind == "error":
            parts = [str(members.get(name, "")) for name in ("where", "what", "hint")]
            unmet = unmet or (not errors and members.get("unmet") is True)
            errors.append(": ".join(part for part in parts if part))
    return Closing(done, tuple(errors), unmet)


def message(line: bytes) -> tuple[str, dict[str, object]]:
    """The ``t`` and the members of a result line; ``""`` where it is not one."""
    if not line.startswith(b"{"):
        return "", {}
    try:
        members = json.loads(line)
    except (ValueError, RecursionError):
        return "", {}
    return str(members.get("t", "")), members


def failure(ending: Ending, findings: list[Finding], folder: Path) -> LullError | None:
    """The error that ``ending`` amounts to; None where the boot went well.

    A kernel bug comes before everything else: it explains the rest. Then a
    guest that was given up, one that says that it failed, and a QEMU that
    ended without ``done``.
    """
    where = str(folder)
    last = tail(ending.console) or "(the console is empty)"
    below = f"\nthe console's last lines:\n{last}"
    if findings:
        first = findings[0]
        more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
        block = "\n".join((first.text, *first.after))
        also = f"\nthe guest was given up: {ending.gave_up}" if ending.gave_up else ""
        return GuestPanic(
            f"the guest's kernel reports a bug ({first}){more}\n{block}{also}{below}",
            where=where,
            hint=f"read {folder / 'console.log'} from line {first.line}",
            report=first_report(findings),
        )
    if ending.gave_up:
        sleep = [name for name in ending.events if name in ("SUSPEND", "WAKEUP")]
        asleep = sleep[-1:] == ["SUSPEND"]
        why = ", the guest is suspended and nothing woke it" if asleep else ""
        return TimedOut(
            f"the guest stopped making progress: {ending.gave_up}{why}{below}",
            where=where,
            hint="on a slow machine set LULL_TIMEOUT_SCALE=3",
        )
    said = closing(ending.results)
    if said.errors:
        kind = Unmet if said.unmet else GuestFailed
        return kind(f"the probe failed: {said.errors[0]}{below}", where=where)
    if not ending.results and _NO_PORT in ending.console:
        return Late(
            f"the guest came up without the port that results leave by{below}",
            where=where,
            hint="on a busy host its devices were late: run it again with less beside",
        )
    if ending.returncode == -signal.SIGKILL and not ending.killed:
        return Killed(
            f"QEMU was {_status(ending.returncode)}{below}",
            where=where,
            hint="where memory ran out the kernel's log says so: dmesg",
        )
    if ending.returncode != 0 or not said.done:
        complaint = tail(ending.stderr, 5)
        own = f"\nQEMU says: {complaint}" if complaint else ""
        return LostVM(
            f"QEMU ended ({_status(ending.returncode)}) and the guest had"
            f"{'' if said.done else ' not'} said that it was done{own}{below}",
            where=where,
        )
    return None


def first_report(findings: list[Finding]) -> str:
    """The first that says what it is: of two CPUs that report at once, lines of
    the one come between those of the other."""
    named = (finding for finding in findings if finding.kind != "report")
    first = next(named, findings[0])
    return f"{first.kind}: {first.text}"


def _status(returncode: int) -> str:
    if returncode >= 0:
        return f"status {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"
