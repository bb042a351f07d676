# SPDX-License-Identifier: GPL-2.0-only
"""The step ``mounts``: what may hang whoever waits in it, and cgroup v2. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lull.doctor.bundle import number, sections

_OCTAL = re.compile(r"\\([0-7]{3})")
_STATS = re.compile(r"^device \S+ mounted on (\S+) with fstype \S+")
#: Which number of an xprt line says how many replies have come (net/sunrpc/xprtsock.c).
_REPLIES = {"tcp": 7, "udp": 4}
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


def read_replies(text: str) -> dict[str, int]:
    """/proc/self/mountstats: place -> replies that its NFS server has ever sent."""
    found: dict[str, int] = {}
    at = ""
    for line in text.splitlines():
        words = line.split()
        if match := _STATS.match(line):
            at = _plain(match[1])
        elif len(words) > 1 and words[0] == "xprt:" and at:
            place = _REPLIES.get(words[1], len(words))
            if place + 1 < len(words):
                # One mount may have several connections.
                found[at] = found.get(at, 0) + number(words[place + 1])
    return found


def silent(before: str, after: str) -> frozenset[str]:
    """Where a server has sent nothing between two steps, ``mounts`` and ``again``."""
    path = "/proc/self/mountstats"
    then, now = (read_replies(sections(t).get(path, "")) for t in (before, after))
    return frozenset(at for at in then.keys() & now.keys() if then[at] == now[at])


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
