# SPDX-License-Identifier: GPL-2.0-only
"""How long to wait for a guest. No limit is bare: all scale with the host.

The factor is the environment's ``LULL_TIMEOUT_SCALE`` where that is set. Else
it is measured twice: a short spin in this process before the boot (is the
host slow, or busy with something else?), and the guest's own time from start
to its first result line against a reference. The larger one counts, and never
less than 1: a fast host does not shorten a limit. Time in which others have the
CPU that QEMU wants does not count (``lull.vm.served``).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

from lull.errors import UsageError

SCALE_VARIABLE = "LULL_TIMEOUT_SCALE"

_SPINS = 200_000
_SPIN_REFERENCE_S = 0.012  #: of the machine that the limits were chosen on
_BOOT_REFERENCE_S = 3.0  #: start to first result line there, under plain TCG
_FACTOR_MAX = 20.0


@dataclass(frozen=True)
class TimeoutPolicy:
    """Limits in seconds of host time that QEMU was served, before scaling.

    ``boot_s``: to the first result line; ``stall_s``: without a result line
    and without console output; ``overall_s``: the whole run; ``leave_s``:
    from the ``done`` line to QEMU's end; ``quit_s``: from QMP's quit to that, before it
    is killed; ``bug_s``: on from where the console
    reports a kernel bug, of which only the aftermath is still to come; ``seen_s``:
    the same for one that was all that the guest was booted for. ``scale`` is for a
    guest that is known to be slow, as a debug kernel is.
    """

    boot_s: float = 60.0
    stall_s: float = 60.0
    overall_s: float = 900.0
    leave_s: float = 10.0
    quit_s: float = 4.0
    bug_s: float = 10.0
    seen_s: float = 0.5
    scale: float = 1.0


def host_factor(environ: Mapping[str, str] | None = None) -> float:
    """How much slower than the reference this host is just now, 1 to 20.

    Takes some tens of milliseconds. A value of ``LULL_TIMEOUT_SCALE`` that is
    not a positive number is a UsageError.
    """
    given = (os.environ if environ is None else environ).get(SCALE_VARIABLE)
    if given is not None:
        try:
            factor = float(given)
        except ValueError:
            factor = 0.0
        if not 0 < factor < float("inf"):
            raise UsageError(
                f"{SCALE_VARIABLE} is not a positive number: {given!r}",
                hint=f"{SCALE_VARIABLE}=3",
            )
        return factor
    started = time.perf_counter()
    total = 0
    for n in range(_SPINS):
        total += n
    return bounded((time.perf_counter() - started) / _SPIN_REFERENCE_S)


def bounded(factor: float) -> float:
    """``factor`` in the range that a measured one may have."""
    return min(max(factor, 1.0), _FACTOR_MAX)


def watchdog_here(policy: TimeoutPolicy, *, boot_s: float | None = None) -> Watchdog:
    """That of a guest on this host; ``boot_s`` as Watchdog takes it."""
    fixed = SCALE_VARIABLE in os.environ
    return Watchdog(policy, host_factor(), fixed=fixed, boot_s=boot_s)


class Watchdog:
    """Says when a guest is lost. Times are seconds since the start, of the clock
    of ``lull.vm.served``; no I/O.

    ``fixed`` keeps the factor as given: it came from the user. ``boot_s`` is how long
    the first line of a guest took that was saved: one that is resumed from there has
    its own at once, which tells nothing of how fast it is.
    """

    def __init__(
        self,
        policy: TimeoutPolicy,
        factor: float = 1.0,
        *,
        fixed: bool = False,
        boot_s: float | None = None,
    ) -> None:
        self._policy = policy
        self._factor = factor
        self._fixed = fixed
        if boot_s is not None:
            self._see_speed(boot_s)
        self._last = 0.0
        self._first_line: float | None = None
        self._done: float | None = None
        self._bug: float | None = None
        self._seen = False

    @property
    def factor(self) -> float:
        """What every limit is multiplied with, the policy's scale included."""
        return self._factor * self._policy.scale

    @property
    def first_line(self) -> float | None:
        """When the first result line came."""
        return self._first_line

    def console(self, now: float) -> None:
        """The console grew."""
        self._last = now

    def line(self, now: float) -> None:
        """A result line came; the first one tells how fast the guest is."""
        self._last = now
        if self._first_line is None:
            self._first_line = now
            self._see_speed(now)

    def _see_speed(self, boot_s: float) -> None:
        if not self._fixed:
            boot = boot_s / self._policy.scale / _BOOT_REFERENCE_S
            self._factor = max(self._factor, bounded(boot))

    def done(self, now: float) -> None:
        """The guest said that it was done."""
        self._done = now

    def bug(self, now: float, there: bool, seen: bool = False) -> None:
        """Whether the console reports a kernel bug, by what it says so far; ``seen``
        where it is the one that is looked for."""
        if not there:
            self._bug = None
        elif self._bug is None or (seen and not self._seen):
            self._bug = now
        self._seen = seen

    @property
    def quit_s(self) -> float:
        """How long QEMU has to obey QMP's quit."""
        return self._policy.quit_s * self.factor

    def left_open(self, now: float) -> bool:
        """The guest is done, and QEMU should have ended by itself by now."""
        limit = self._policy.leave_s * self.factor
        return self._done is not None and now - self._done > limit

    def verdict(self, now: float) -> str | None:
        """Why to give the guest up at ``now``; None while all is well."""
        if self._done is not None:
            return None
        policy = self._policy
        if now > (limit := policy.overall_s * self.factor):
            return f"not done after {limit:.0f} s"
        if now - self._last > (limit := policy.stall_s * self.factor):
            return f"no result and no console output for {limit:.1f} s"
        bug_s = policy.seen_s if self._seen else policy.bug_s
        if self._bug is not None and now - self._bug > bug_s * self.factor:
            return "its kernel had reported a bug, and it was not done since"
        if self._first_line is None and now > (limit := policy.boot_s * self.factor):
            return f"no first result after {limit:.1f} s"
        return None
