# SPDX-License-Identifier: GPL-2.0-only
"""Where the lab's files are, and files that are seen whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from lull.errors import CannotRun, UsageError

_PIECE = 1 << 18


def repo_root() -> Path:
    """The checkout this package runs from, else the one around the cwd.

    Raises CannotRun where neither has a ``features`` directory.
    """
    here = Path.cwd().resolve()
    for path in (Path(__file__).resolve().parents[2], here, *here.parents):
        if (path / "features").is_dir() and (path / "lull").is_dir():
            return path
    raise CannotRun(
        "the directory features/ is not found",
        where=str(here),
        hint="run it inside a checkout of the project",
    )


def cache_root(environ: Mapping[str, str] | None = None) -> Path:
    """``$XDG_CACHE_HOME/lull``; a relative XDG_CACHE_HOME counts as unset."""
    env = os.environ if environ is None else environ
    home = env.get("XDG_CACHE_HOME", "")
    if not home.startswith("/"):
        home = os.path.join(env.get("HOME") or os.path.expanduser("~"), ".cache")
    return Path(home) / "lull"


def shown_path(path: Path) -> str:
    """The path as a user at this directory would write it: short below it."""
    here = Path.cwd()
    full = here / path
    return str(full.relative_to(here) if full.is_relative_to(here) else full)


def untrusted(about: os.stat_result) -> str | None:
    """Why what somebody has left in a cache is not used: who else could have."""
    if about.st_uid != os.geteuid():
        return "it belongs to another user"
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write it"
    return None


def slug(text: str) -> str:
    """As a part of a file's name: letters, digits, and ``-`` for all else."""
    return "".join(c if c.isalnum() else "-" for c in text)


def digest(*texts: str | bytes) -> str:
    """20 hex digits for texts, each with its length."""
    found = hashlib.sha256()
    for text in texts:
        data = text.encode() if isinstance(text, str) else text
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()[:20]


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk, too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a whole file or nothing, never through an existing hard link.

    It is on the disk when this returns. Raises OSError; the directories above
    are made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(mode)
        new.replace(path)
        _sync(path.parent)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def write_output(path: Path, data: bytes) -> None:
    """Write a file that the user named: whole or not at all, by write_file.

    A link, a pipe or a device is written through, as /dev/stdout is:
    write_file would put a file in its place. Raises OSError.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(data)
        return
    try:
        write_file(path, data)
    except FileExistsError as error:
        # Of mkdir: a file is where the directory should be.
        code = errno.ENOTDIR
        raise NotADirectoryError(code, os.strerror(code), error.filename) from error


def save_output(path: Path, data: bytes, hint: str, mode: int | None = None) -> None:
    """Write a file that the user named, as write_output does; with ``mode``, which
    only a file of its own can have, by write_file. ``hint`` is what else to name.

    Raises UsageError where it cannot be written.
    """
    try:
        if mode is None:
            write_output(path, data)
        else:
            write_file(path, data, mode)
    except OSError as error:
        raise unwritable(path, hint, error) from error


def unwritable(path: Path, hint: str, error: OSError) -> UsageError:
    """What is said of a file, or a folder, that the user named."""
    return UsageError(
        f"cannot be written: {error.strerror or error}", where=str(path), hint=hint
    )


def read_input(path: Path, hint: str) -> bytes:
    """All of a file that the user named; ``hint`` is what else to name.

    Raises UsageError where it cannot be read.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, hint, error) from error


def stream_input(path: Path, hint: str) -> Iterator[bytes]:
    """A file that the user named, in pieces; ``hint`` is what else to name.

    Raises UsageError where it cannot be read, when the first piece is asked for
    or later.
    """
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece
    except (OSError, ValueError) as error:
        raise _unreadable(path, hint, error) from error


def _unreadable(path: Path, hint: str, error: Exception) -> UsageError:
    # ValueError: a name with a NUL in it.
    what = getattr(error, "strerror", None) or error
    return UsageError(f"cannot be read: {what}", where=str(path), hint=hint)
