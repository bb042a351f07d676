# SPDX-License-Identifier: GPL-2.0-only
"""The cache: where it is, who may write, and how it survives being killed.

Whatever a later run trusts is made in a directory of its own under ``tmp``
and renamed into place when it is complete, so a kill or a full disk leaves
either the whole thing or nothing. Such a directory has a lock beside it that
its process holds: the kernel drops the lock with the process, and the next
start removes what has no owner. (A process number would not do: numbers are
reused, and a cache can be shared between containers.)
"""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from lull.errors import CannotRun
from lull.host.files import cache_root
from lull.host.resources import GB, require_disk

#: A cold build: 0.3 GB package and tarball, 1.7 GB sources, and for each of
#: three arms 0.3 (stock) to 1.5 (debug) GB of objects, and the ccache.
NEED_COLD = 6 * GB
#: A build whose sources are there: objects, and a second tree to verify.
NEED_WARM = 2 * GB


class Cache:
    """The cache's directories; made when they are first needed."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or cache_root()
        # The kernel's Makefile refuses these, late and in other words.
        if re.search(r"[\s:]", str(self.root)):
            raise CannotRun(
                "a kernel cannot be built where the path has a space or a colon",
                where=str(self.root),
                hint="XDG_CACHE_HOME=/some/plain/path",
            )
        self.sources = self.root / "sources"
        self.kernels = self.root / "kernels"
        self.work = self.root / "work"
        self.logs = self.root / "logs"
        self.stamps = self.root / "stamps"
        self.ccache = self.root / "ccache"
        self._tmp = self.root / "tmp"
        self._locks = self.root / "locks"

    def __repr__(self) -> str:
        return f"Cache({self.root})"

    def prepare(self) -> None:
        """Make the directories and remove what dead processes left."""
        self._make()
        self._sweep()

    def _make(self) -> None:
        try:
            for path in (
                self.sources,
                self.kernels,
                self.work,
                self.logs,
                self.stamps,
                self._tmp,
                self._locks,
            ):
                path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotRun(
                f"the cache cannot be made: {error.strerror}",
                where=str(self.root),
                hint="XDG_CACHE_HOME=/a/writable/directory",
            ) from error

    def need(self, size: int, step: str) -> None:
        """Refuse a step that would fill the disk."""
        hint = "free some space, or XDG_CACHE_HOME=/a/larger/disk"
        require_disk(self.root, size, step, hint)

    @contextmanager
    def lock(
        self, name: str, waiting: Callable[[str], None] | None = None
    ) -> Iterator[int]:
        """Hold a named lock; yields its descriptor.

        A child that is given the descriptor keeps the lock for as long as it
        lives, even when this process is killed first.
        """
        self._make()
        path = self._locks / f"{name}.lock"
        with path.open("a", encoding="ascii") as file:
            if not _try_lock(file):
                if waiting:
                    waiting(f"waiting: another lull works on {name}")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file.fileno()

    @contextmanager
    def temp(self, label: str) -> Iterator[Path]:
        """A directory on the cache's own disk, gone when the block ends.

        What is to stay is renamed out of it. Its name has the label last, so
        that two directories of one label have paths of the same length.
        """
        name = f"{token_hex(4)}-{label}"
        path = self._tmp / name
        owner = self._tmp / f"{name}.owner"
        # Between making the owner file and locking it, it looks abandoned.
        with self.lock("tmp"):
            file = owner.open("w", encoding="ascii")
            fcntl.flock(file, fcntl.LOCK_EX)
            path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            owner.unlink(missing_ok=True)
            file.close()

    def discard(self, path: Path) -> None:
        """Remove what is in the cache: at once for whoever looks for it."""
        with self.temp("gone") as place:
            path.rename(place / path.name)

    def _sweep(self) -> None:
        with self.lock("tmp"):
            for path in list(self._tmp.iterdir()):
                if path.suffix == ".owner":
                    continue
                owner = path.with_name(path.name + ".owner")
                with owner.open("a", encoding="ascii") as file:
                    if not _try_lock(file):
                        continue
                    remove_tree(path)
                    owner.unlink(missing_ok=True)


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def remove_tree(path: Path) -> None:
    """Remove a file or a directory, there or not."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def replace_tree(new: Path, place: Path) -> None:
    """Put a complete directory into its place, over an older one.

    Whoever is killed meanwhile leaves the new one, the older one, or none: half of
    one is never in that place. The older one is removed beside ``new``, which is in
    a ``Cache.temp()``.
    """
    old = new.with_name(f"{new.name}.old")
    place.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        place.rename(old)
    new.rename(place)
    remove_tree(old)


def link_tree(source: Path, target: Path) -> None:
    """Copy a tree as hard links; as copies where the disk has no links."""
    for flags in ("-al", "-a"):
        remove_tree(target)
        done = subprocess.run(
            ["cp", flags, "--", str(source), str(target)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return
    raise CannotRun(
        f"the sources cannot be copied: {done.stderr.strip().splitlines()[-1:]}",
        where=str(target),
    )
