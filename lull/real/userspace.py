# SPDX-License-Identifier: GPL-2.0-only
"""A Debian without its kernel and services, as an initramfs."""

from __future__ import annotations

import shlex
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from lull.errors import LabError
from lull.guest.image import SUITE, need_tools, take
from lull.host.files import digest, write_file
from lull.host.programs import run, tail
from lull.host.progress import Progress
from lull.kernels.cache import Cache
from lull.vm.cpio import Entry, archive, char_device, directory, file, symlink

#: What no program of these reads.
_LEFT_OUT = ("doc", "man", "locale", "zoneinfo", "i18n", "info")
_NEED = 1 << 30  #: bytes, while the root is made


def root_of(packages: Sequence[str], cache: Cache, progress: Progress) -> bytes:
    """The user space as an initramfs: from the cache, or that in which root makes them
    for all, else from Debian's archive."""
    place = cache.root / "guest" / f"stress-{digest(SUITE, *packages, *_LEFT_OUT)}.cpio"
    with cache.lock("guest", lambda text: progress.update(text, 0, 0)):
        if not place.is_file() and not take(cache, place, progress):
            need_tools()
            cache.need(_NEED, "making the user space of a Debian")
            progress.step(f"Debian {SUITE} with {', '.join(packages)}")
            with cache.temp("guest") as temp:
                tar = temp / "root.tar"
                _debootstrap(packages, tar)
                with tarfile.open(tar) as members:
                    write_file(place, archive(entries(members)))
    return place.read_bytes()


def _debootstrap(packages: Sequence[str], tar: Path) -> None:
    less = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT]
    words = ["mmdebstrap", "--quiet", "--variant=essential", *less]
    words += [f"--include={','.join(packages)}", SUITE, str(tar)]
    done = run(words)
    if done.returncode:
        raise LabError(f"{shlex.join(words)}\n{tail(done.stdout)}", where=SUITE)


def entries(members: tarfile.TarFile) -> list[Entry]:
    """A root in a tar archive as what an initramfs has; caches and lists stay out."""
    found = [char_device("dev/console", 5, 1), char_device("dev/null", 1, 3, 0o666)]
    taken = {entry.path for entry in found}
    for member in members:
        path = str(PurePosixPath(member.name.removeprefix("./")))
        if path in (".", *taken) or path.startswith(
            ("dev/", "var/cache", "var/lib/apt")
        ):
            continue
        taken.add(path)
        if member.isdir():
            found.append(directory(path, member.mode))
        elif member.issym():
            found.append(symlink(path, member.linkname))
        elif member.isreg() or member.islnk():
            data = members.extractfile(member)
            found.append(file(path, data.read() if data else b"", member.mode))
    return sorted(found, key=lambda entry: entry.path)
