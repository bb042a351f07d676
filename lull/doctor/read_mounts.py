# SPDX-License-Identifier: GPL-2.0-only
"""The step ``mounts``: what may hang whoever waits in it, and cgroup v2. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lull.doctor.bundle import number, sections

_OCTAL = re.compile(r"\\([0-7]{3})")
_WAITING = re.compile(r"^/sys/fs/fuse/connections/(\d+)/waiting$")


@dataclass(frozen=True)
class Mount:
    """A line of mountinfo. ``minor`` is the device's, which names a FUSE
    connection, and ``waiting`` how many requests nobody has answered there."""

    at: str
    fstype: str
    source: str
    options: tuple[str, ...]
    minor: int
    waiting: int | None = None

    @property
    def fuse(self) -> bool:
        """Whether a program serves it."""
        return self.fstype in ("fuse", "fuseblk") or self.fstype.startswith(
            ("fuse.", "fuseblk.")
        )

    @property
    def nfs(self) -> bool:
        """Whether a server on the network does."""
        return self.fstype in ("nfs", "nfs4", "cifs", "smb3", "9p", "ceph")


def read_mounts(text: str) -> tuple[Mount, ...]:
    """Each file system once, at the first place where it is mounted."""
    parts = sections(text)
    waiting = {
        number(match[1]): number(body.strip())
        for path, body in parts.items()
        if (match := _WAITING.match(path))
    }
    found: dict[str, Mount] = {}
    for line in parts.get("/proc/self/mountinfo", "").splitlines():
        left, dash, right = line.partition(" - ")
        here, there = left.split(" "), right.split(" ")
        if not dash or len(here) < 6 or len(there) < 3 or here[2] in found:
            continue
        minor = number(here[2].partition(":")[2])
        found[here[2]] = Mount(
            at=_plain(here[4]),
            fstype=there[0],
            source=_plain(there[1]),
            options=tuple(there[2].split(",")),
            minor=minor,
            waiting=waiting.get(minor),
        )
    return tuple(found.values())


def _plain(text: str) -> str:
    return _OCTAL.sub(lambda m: chr(int(m[1], 8)), text)
