# SPDX-License-Identifier: GPL-2.0-only
"""Which files of the checkout a test reads, and whether they are the same later.

Who remembers by digests has no names of files left: Python itself tells them, by an
audit hook, as they are opened. How a file was is noted before it is read, so that
whatever was written later shows.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

#: How a file was, or what a folder had in it; None where there was nothing.
State = tuple[int, ...] | tuple[str, ...] | None

_EVENTS = frozenset({"open", "os.listdir", "os.scandir"})

_watched: list[Reads] = []


class Reads:
    """What was read below ``root`` since somebody watches."""

    def __init__(self, root: Path) -> None:
        self._above = f"{root}{os.sep}"
        self._seen: dict[str, State] = {}

    def so_far(self) -> Mapping[str, State]:
        """Names below the root, each with how it was: of files, and of folders that
        were looked through."""
        return dict(self._seen)

    def changed(self, seen: Mapping[str, State]) -> list[str]:
        """Those of them that were written, made or removed since."""
        return [name for name, was in seen.items() if _state(self._above + name) != was]

    def more(self, seen: Mapping[str, State]) -> list[str]:
        """Files that are there and were read since, and not before. Modules are left
        out: whoever makes digests of them makes these once for many tests."""
        return [
            name
            for name, was in self._seen.items()
            if name not in seen and _is_file(was) and not name.endswith(".py")
        ]

    def note(self, path: str) -> None:
        """It is about to be read. The root's own folder is not looked at: results
        of any kind come and go there."""
        full = os.path.abspath(path)
        if not full.startswith(self._above):
            return
        name = full.removeprefix(self._above)
        if name not in self._seen and all(map(_is_meant, name.split(os.sep))):
            # Ours are heard as well: of this one no second time.
            self._seen[name] = None
            self._seen[name] = _state(full)


@contextmanager
def watching(root: Path) -> Iterator[Reads]:
    """What this process reads below ``root`` until the block ends."""
    _hook()
    reads = Reads(root)
    _watched.append(reads)
    try:
        yield reads
    finally:
        _watched.remove(reads)


def began() -> float:
    """When this process began, as a time of day in seconds (proc(5))."""
    words = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    since_boot = int(words[19]) / os.sysconf("SC_CLK_TCK")
    return time.time() - (time.clock_gettime(time.CLOCK_BOOTTIME) - since_boot)


def written_since(when: float, root: Path, paths: Iterable[Path]) -> list[str]:
    """Those that were written since, by their names below ``root``."""
    return [str(path.relative_to(root)) for path in paths if _written(path) >= when]


def _written(path: Path) -> float:
    """When, whatever date it was given; one that has just gone is written, too."""
    try:
        return path.stat().st_ctime
    except FileNotFoundError:
        return inf


@cache
def _hook() -> None:
    """Once for all: a hook stays as long as the process."""
    sys.addaudithook(_heard)


def _heard(event: str, args: tuple[Any, ...]) -> None:
    if not _watched or event not in _EVENTS:
        return
    # What is only written is nothing that anything depends on.
    if event == "open" and args[2] & os.O_ACCMODE == os.O_WRONLY:
        return
    path = args[0]
    # What is named by a number was opened by its name.
    if isinstance(path, str | bytes):
        for reads in tuple(_watched):
            reads.note(os.fsdecode(path))


def _is_meant(name: str) -> bool:
    """Editors, compilers and Python leave others about."""
    return not name.startswith((".", "__pycache__")) and not name.endswith(
        ("~", ".o", ".orig", ".rej")
    )


def _is_file(state: State) -> bool:
    return state is not None and bool(state) and isinstance(state[0], int)


def _state(path: str) -> State:
    try:
        if os.path.isdir(path):
            return tuple(sorted(filter(_is_meant, os.listdir(path))))
        about = os.stat(path)
    except OSError:
        return None
    # That it was written counts: it may have been another text in between.
    return about.st_ino, about.st_size, about.st_mtime_ns
