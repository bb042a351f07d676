# SPDX-License-Identifier: GPL-2.0-only
"""Whose a cache is: what another user has left there is not used.

Verdicts, stamps and guests that stand by are held against their user one by one. This
is for the rest, kernels, compiled programs, disks and counts, once a command; and for
what is used by commands that do not look at all of the cache.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from shutil import rmtree

from lull.errors import CannotRun

#: How far down it is looked: the cache, its rooms, and what is in a room.
_DEPTH = 2
_AWAY = ".forgotten-"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def trust_cache(root: Path, say: Callable[[str], None]) -> None:
    """Forget what is not this user's below a cache, and shut others out of the rest.

    ``say`` is told a line for each thing that is forgotten. A cache that is not
    there yet is trusted. Raises CannotRun for one that is another user's whole, in
    which nothing can be forgotten.
    """
    if not os.path.lexists(root):
        return
    if (owner := _other_owner(root)) is not None:
        raise CannotRun(
            f"the cache belongs to another user ({owner})",
            where=str(root),
            hint="name one of your own in XDG_CACHE_HOME",
        )
    _go_through(root, _DEPTH, say)


def is_ours(path: Path, cache: Path | None = None) -> bool:
    """Whether nobody else can have put there what is at ``path``, or will be: who owns
    a folder can put another into its place at any time.

    What is in ``cache`` has to be this user's; folders above, and all of it without
    one, may be root's, too.
    """
    try:
        for step in (path, *path.parents, *path.resolve().parents):
            own = cache is not None and step.is_relative_to(cache)
            if not _held(step, {os.geteuid()} if own else {os.geteuid(), 0}):
                return False
    except (OSError, RuntimeError):
        # It cannot be looked at, or is a link to itself.
        return False
    return True


def _held(path: Path, by: set[int]) -> bool:
    """Of a link and of what it leads to; so is what is not there."""
    for look in (os.lstat, os.stat):
        try:
            about = look(path)
        except FileNotFoundError:
            return True
        # Others may have a place in /tmp, and none in what is another's there.
        theirs = about.st_mode & stat.S_IWOTH and not about.st_mode & stat.S_ISVTX
        if about.st_uid not in by or (theirs and not stat.S_ISLNK(about.st_mode)):
            return False
    return True


def _go_through(folder: Path, depth: int, say: Callable[[str], None]) -> None:
    """The folder is ours. Shut it first: what is looked at then stays what it is."""
    mode = folder.stat().st_mode
    if mode & _OTHERS:
        folder.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    if not depth:
        return
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(_AWAY):
            continue
        owner = _other_owner(entry)
        if owner is not None:
            say(f"{entry} is forgotten: it belongs to another user ({owner})")
            _forget(entry)
        elif entry.is_dir():
            # What another command has just done with.
            with suppress(FileNotFoundError):
                _go_through(entry, depth - 1, say)


def _other_owner(path: Path) -> int | None:
    """Of a link and of what it leads to; None where it is gone or nowhere."""
    for look in (os.lstat, os.stat):
        try:
            owner = look(path).st_uid
        except FileNotFoundError:
            return None
        if owner != os.geteuid():
            return owner
    return None


def _forget(path: Path) -> None:
    """Out of the way first: of a folder that is not ours some files may stay."""
    try:
        away = path.replace(path.with_name(f"{_AWAY}{token_hex(4)}"))
        if away.is_dir() and not away.is_symlink():
            rmtree(away, ignore_errors=True)
        else:
            away.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise CannotRun(
            f"what belongs to another user cannot be taken out of the cache:"
            f" {error.strerror}",
            where=str(path),
            hint="remove it, or name another cache in XDG_CACHE_HOME",
        ) from error
