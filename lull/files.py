# SPDX-License-Identifier: GPL-2.0-only
"""Where the lab's files are, and files that are seen whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from lull.errors import CannotRun


def repo_root() -> Path:
    """The checkout this package runs from, else the one around the cwd.

    Raises CannotRun where neither has a ``features`` directory.
    """
    here = Path.cwd().resolve()
    for path in (Path(__file__).resolve().parents[1], here, *here.parents):
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
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
