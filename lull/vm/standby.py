# SPDX-License-Identifier: GPL-2.0-only
"""A machine that has booted once and stands by: its files, and what it is handed.

A boot of a kernel that looks for faults takes several seconds of a CPU, the same
ones each time. Such a machine was saved where its first program waits for a job.
Whoever resumes it has its memory as a private view of a file, from which QEMU reads
what the guest touches, and hands it the files of a job; from there on it is a
machine as any other.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from lull.vm.compile import Recipe

SOURCES = ("lull/vm/standby.c", "probe/port.c")

#: The guest's first program says this as a result line when it waits.
READY = "standby"

_ENTROPY = 32  #: bytes


@dataclass(frozen=True)
class Standby:
    """Where one is, and how many seconds it took to boot."""

    folder: Path
    boot_s: float = 0.0

    @property
    def memory(self) -> Path:
        """As large as the guest's memory, with holes."""
        return self.folder / "memory"

    @property
    def state(self) -> Path:
        """CPUs and devices, as QEMU writes them."""
        return self.folder / "state"

    @property
    def initramfs(self) -> Path:
        """What it was booted with."""
        return self.folder / "initramfs"

    @property
    def console(self) -> Path:
        """What it has said until then."""
        return self.folder / "console.log"

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them."""
        return (self.memory, self.state, self.initramfs, self.console)


def recipe() -> Recipe:
    """How its first program is compiled."""
    return Recipe(
        name="standby",
        room="lull/vm",
        flags=(
            *("-O2", "-static", "-no-pie", "-std=gnu11", "-Iprobe"),
            "-Wl,--build-id=none",
        ),
        sources=SOURCES,
        headers=("probe/port.h",),
    )


def wait_at(pipe: Path) -> None:
    """Make the two ends of QEMU's chardev ``pipe`` so that nothing comes from it."""
    os.mkfifo(f"{pipe}.in")
    Path(f"{pipe}.out").touch()


def hand_over(pipe: Path, archive: bytes) -> None:
    """Make them so that ``archive`` comes, and what makes a guest differ from others
    that were resumed from the same: its random numbers."""
    header = os.urandom(_ENTROPY) + struct.pack("<Q", len(archive))
    Path(f"{pipe}.in").write_bytes(header + archive)
    Path(f"{pipe}.out").touch()
