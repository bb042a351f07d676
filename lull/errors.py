# SPDX-License-Identifier: GPL-2.0-only
"""What can go wrong, and the exit status that tells it to a script.

Library code raises these; only ``lull.cli`` turns one into a process exit.
"""

from __future__ import annotations


class LullError(Exception):
    """Something the user has to hear about.

    ``what`` happened, ``where`` (a file, a step, a case; may be empty) and a
    ``hint``: what to do next (may be empty).
    """

    exit_code = 125

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.hint:
            lines.append(f"  try: {self.hint}")
        return "\n".join(lines)


class ExpectationMissed(LullError):
    """A figure was measured, and it is not the one that was promised."""

    exit_code = 1


class UsageError(LullError):
    """The command asks for something that does not exist."""

    exit_code = 2


class BadTree(LullError):
    """A description of devices is not one; the line and the device are named."""

    exit_code = 2


class NoRecording(UsageError):
    """A file was given as a recording of suspend, and nothing in it is one."""


class CannotRun(LullError):
    """A part that is needed is missing on this machine; it is named."""

    exit_code = 4


class NoMemory(CannotRun):
    """The machine has the memory, and somebody else has it now."""


class TimedOut(LullError):
    """The guest stopped making progress."""

    exit_code = 124


class LabError(LullError):
    """The lab itself failed: a build, a patch, a lost virtual machine."""

    exit_code = 125


class LostVM(LabError):
    """QEMU ended without the guest saying that it was done."""


class HostFailed(LostVM):
    """What the host did to a guest says nothing of its kernel."""


class Late(HostFailed):
    """A busy host had a part of the machine ready too late: the port that results
    leave by, or a CPU of the guest; or for a minute QEMU's thread of the CPUs."""


class Killed(HostFailed):
    """QEMU was killed, and not by the lab: by the host, where memory ran out."""


class GuestFailed(LabError):
    """The probe said, in so many words, that it could not do its job."""


class Unmet(GuestFailed):
    """A safety workload could not bring about what it needs: no verdict."""


class GuestPanic(LullError):
    """The guest panicked, or its log shows a kernel bug.

    ``report`` is the first of them, as ``KIND: TEXT`` (lull.vm.console).
    """

    exit_code = 255

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", report: str = ""
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.report = report
