# SPDX-License-Identifier: GPL-2.0-only
"""How a boot ended is held against what a trial wants. Pure.

Whoever breaks a safeguard accepts every way in which that fault can show, and
nothing else: memory freed twice may be told by KASAN, by a lock or a list that
it lay in, or by an oops; a watchdog says nothing of it. A check that is bad as
the fault makes none is another fault, whatever else was seen: unless the kernel
has told of the fault itself, for a guest may go on for a moment after that, and
whatever its checks say then may come of it. What the workload could not bring
about, or what the lab failed at, is no verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from lull.errors import (
    GuestFailed,
    GuestPanic,
    HostFailed,
    LostVM,
    LullError,
    TimedOut,
    Unmet,
)
from lull.model import Check

if TYPE_CHECKING:
    from lull.proof.trial import Fault, Trial

#: Where a kernel warns: "WARNING: CPU: 0 PID: 1 at mm/slub.c:1 f+0x1/0x2" in 6.1 and
#: 6.12, "WARNING: mm/slub.c:1 at f+0x1/0x2, CPU#0: sh/1" in 7.3.
_AT = r"WARNING: (?:WARNING: |.* at )"

#: A way in which faults show -> what the kernel's first report then is, as
#: ``KIND: TEXT`` with the kinds of lull.vm.console.
WAYS: Mapping[str, str] = {
    # Used after it was freed, freed twice, or written to where somebody else is.
    "memory": (
        r"KASAN: |KFENCE: |Oops: |list corruption: "
        r"|BUG: (?!.*(workqueue|lockup|stall))"
        r"|panic: .*(stack-protector|stack guard|corrupted stack)"
        rf"|{_AT}(mm|lib|kernel/(locking|rcu)|include)/"
        rf"|{_AT}kernel/workqueue\.c:"
        r"|lockdep: .*(non-static key|\[ BUG: |DEBUG_LOCKS_WARN_ON|bad unlock)"
    ),
    # The counts and lists of cgroups.
    "cgroup": _AT + r"(kernel/cgroup|mm/memcontrol|mm/page_counter)",
    # A page, a slot or a count of swap that is not what it has to be.
    "swap": _AT + r"(mm|drivers/block/zram)/|BUG: .*Bad (page|rss|swap)",
    "sleep": r"atomic sleep: ",
    "lockdep": rf"lockdep: |{_AT}kernel/locking/",
    "leak": (
        r"(BUG|WARNING): .*(kmem_cache_destroy|Objects remaining|still has objects)"
    ),
    # The dpm or the soft watchdog, or whoever sees that nobody makes progress.
    "hang": (
        r"panic: .*([Ww]atchdog|softdog|DPM|hung_task)|hung task: "
        r"|WARNING: .*dpm_watchdog|BUG: .*workqueue lockup|RCU stall: |soft lockup: "
    ),
    # All sleep, and nobody will wake them: who spins is another's fault.
    "blocked": (
        r"panic: .*([Ww]atchdog|softdog|DPM)|hung task: |WARNING: .*dpm_watchdog"
    ),
    "hung": r"hung task: ",
}


class Result(StrEnum):
    """What a boot was for its trial."""

    PASS = "pass"  #: it held, or the fault was seen
    FAIL = "fail"  #: it did not hold, or ended in a way that it must not
    LUCKY = "lucky"  #: the fault was not seen: another boot may see it
    NONE = "no verdict"  #: what had to come before it did not


@dataclass(frozen=True)
class Judged:
    """A result and why; ``how`` is the way in which it showed."""

    result: Result
    how: str


_HANGS = re.compile(WAYS["hang"])

#: The checks of a boot that came to its end, or what ended it.
Ended = tuple[Check, ...] | LullError


def known_ways(ways: Iterable[str]) -> re.Pattern[str]:
    """One expression for all of them; ValueError for one that is none."""
    try:
        return re.compile("|".join(f"(?:{WAYS.get(way, way)})" for way in ways))
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error


def judge(trial: Trial, ended: Ended, said: tuple[Check, ...] = ()) -> Judged:
    """What a boot of the trial shows.

    ``said`` are the checks of a boot that something ended: one that was to be good
    and is not is a verdict, whatever came after it. One that shows the fault is one
    where nothing but a hang or an error of the probe came after it.
    """
    if isinstance(ended, GuestPanic) and trial.fault and _is_its(trial.fault, ended):
        return Judged(Result.PASS, f"the kernel: {ended.report}")
    for check in said:
        if not check.ok and not _may_be_bad(trial, check):
            return Judged(Result.FAIL, f"{check.name}: {check.text}\n{ended}")
    if isinstance(ended, GuestPanic):
        # The kernel has seen what else the host would see: that nothing goes on.
        if trial.fault and _HANGS.match(ended.report):
            return _shown(said) or Judged(Result.NONE, str(ended))
        return Judged(Result.FAIL, str(ended))
    if isinstance(ended, LullError):
        return _ended_early(trial.fault, ended, said)
    text = "\n".join(f"{c.name}: {'' if c.ok else 'not '}ok: {c.text}" for c in ended)
    if trial.fault:
        return _seen(trial, ended, text)
    good = Counter(check.name for check in ended if check.ok)
    bad = Counter(check.name for check in ended if not check.ok)
    if good == Counter(trial.checks) and bad == Counter(trial.fails):
        return Judged(Result.PASS, "as it has to be")
    return Judged(Result.FAIL, text or "no check was reported")


def _is_its(fault: Fault, panic: GuestPanic) -> bool:
    return bool(fault.kernel and known_ways(fault.kernel).match(panic.report))


def _ended_early(
    fault: Fault | None, error: LullError, checks: tuple[Check, ...]
) -> Judged:
    """Where a hang, a machine that is gone or a probe that could not do its job is all
    that there is, only who was to hold has failed: who lacks a safeguard may be slow,
    and gets another boot."""
    said = str(error)
    if isinstance(error, Unmet | HostFailed):
        return Judged(Result.NONE, said)
    if fault and fault.guest and re.search(fault.guest, error.what):
        return Judged(Result.PASS, f"the probe: {error.what.splitlines()[0]}")
    if fault and isinstance(error, TimedOut | LostVM | GuestFailed):
        return _shown(checks) or Judged(Result.NONE, said)
    return Judged(Result.FAIL, said)


def _may_be_bad(trial: Trial, check: Check) -> bool:
    """Is it bad as it has to be, or as the fault makes it?"""
    if trial.fault is None:
        return check.name in trial.fails
    pattern = trial.fault.checks.get(check.name)
    return pattern is not None and re.search(pattern, check.text) is not None


def _seen(trial: Trial, checks: tuple[Check, ...], said: str) -> Judged:
    if not checks:
        return Judged(Result.NONE, "no check was reported")
    if not all(check.ok or _may_be_bad(trial, check) for check in checks):
        return Judged(Result.FAIL, f"in a way that it must not:\n{said}")
    return _shown(checks) or Judged(Result.LUCKY, said)


def _shown(checks: tuple[Check, ...]) -> Judged | None:
    """By the first that is bad, of those that are as the fault makes them."""
    for check in checks:
        if not check.ok:
            return Judged(Result.PASS, f"{check.name}: {check.text}")
    return None
