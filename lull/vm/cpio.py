# SPDX-License-Identifier: GPL-2.0-only
"""A writer of newc cpio archives: the form in which a kernel takes an initramfs.

Pure, and deterministic: no times, no owners, inodes numbered from 1 in the
order of the entries. The layout is that of the kernel's
Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_TRAILER = "TRAILER!!!"
_FIELD_MAX = 0xFFFFFFFF
_DIRS = ("dev", "proc", "sys", "tmp", "run", "mnt")


@dataclass(frozen=True)
class Entry:
    """One member of an archive; ``mode`` holds the file type bits too."""

    path: str
    mode: int
    data: bytes = b""
    rdev: tuple[int, int] = (0, 0)  #: major, minor of a device node


def file(path: str, data: bytes, mode: int = 0o644) -> Entry:
    """A regular file with the permission bits ``mode``."""
    return Entry(path, stat.S_IFREG | mode, data)


def directory(path: str, mode: int = 0o755) -> Entry:
    """A directory."""
    return Entry(path, stat.S_IFDIR | mode)


def symlink(path: str, target: str) -> Entry:
    """A symbolic link to ``target``."""
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def char_device(path: str, major: int, minor: int, mode: int = 0o600) -> Entry:
    """A character device node."""
    return Entry(path, stat.S_IFCHR | mode, rdev=(major, minor))


def archive(entries: Iterable[Entry]) -> bytes:
    """The archive that holds ``entries`` in their order, padded to 512 bytes.

    Raises ValueError for a path that is absolute, climbs with ``..``, is
    empty or comes twice, and for data of 4 GiB or more.
    """
    out = bytearray()
    seen: set[str] = set()
    for inode, entry in enumerate(entries, 1):
        _refuse_bad_path(entry.path)
        if entry.path in seen:
            raise ValueError(f"{entry.path} is in the archive twice")
        seen.add(entry.path)
        _append(out, entry, inode)
    _append(out, Entry(_TRAILER, 0), 0)
    out += bytes(-len(out) % 512)
    return bytes(out)


def initramfs(
    probe: bytes, job: str, extra: Mapping[str, bytes] | None = None
) -> bytes:
    """The guest's first file system: ``/init`` is the probe, ``/job`` the job.

    ``extra`` maps more paths (a leading slash is dropped) to their bytes;
    they are executable, and the directories above them are made. Raises
    ValueError for paths that ``archive`` refuses or that are taken.
    """
    entries = [directory(name, 0o1777 if name == "tmp" else 0o755) for name in _DIRS]
    # The kernel opens /dev/console for init before anything is mounted.
    entries.append(char_device("dev/console", 5, 1))
    entries.append(char_device("dev/null", 1, 3, 0o666))
    entries.append(file("init", probe, 0o755))
    entries.append(file("job", job.encode()))
    made = {entry.path for entry in entries}
    for path, data in sorted((extra or {}).items()):
        name = path.removeprefix("/")
        for parent in reversed(PurePosixPath(name).parents):
            above = str(parent)
            if above != "." and above not in made:
                made.add(above)
                entries.append(directory(above))
        made.add(name)
        entries.append(file(name, data, 0o755))
    return archive(entries)


def _refuse_bad_path(path: str) -> None:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\0" in path:
        raise ValueError(f"not a path inside an archive: {path!r}")
    if path == _TRAILER:
        raise ValueError(f"{path} ends an archive and cannot be a member")


def _append(out: bytearray, entry: Entry, inode: int) -> None:
    name = entry.path.encode() + b"\0"
    if len(entry.data) > _FIELD_MAX:
        raise ValueError(f"{entry.path} is too large for newc: 4 GiB or more")
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    major, minor = entry.rdev
    fields = (
        inode,
        entry.mode,
        0,  # uid
        0,  # gid
        links,
        0,  # mtime
        len(entry.data),
        0,  # major and minor of the device that holds the file
        0,
        major,
        minor,
        len(name),
        0,  # checksum, unused in newc
    )
    out += b"070701" + b"".join(b"%08X" % field for field in fields)
    out += name
    out += bytes(-len(out) % 4)
    out += entry.data
    out += bytes(-len(out) % 4)
