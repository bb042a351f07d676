# SPDX-License-Identifier: GPL-2.0-only
"""Verdicts of boots that are remembered: passes only, below the cache.

A file is trusted where it is whole, of this version, of this user, and says
itself what it is the verdict of. Any other is forgotten, with a line.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from lull.host.files import cache_root, untrusted, write_file
from lull.model import Record
from lull.proof.key import key_of

#: How many are kept; those that were not asked for the longest go first.
KEEP = 5000


class Remembered(Record):
    """A pass. ``parts`` are what it depends on, ``when`` is UTC."""

    schema_version: Literal[1] = 1
    id: str
    parts: Mapping[str, str]
    how: str
    tries: int
    seed: int
    seconds: float
    when: str


class Store:
    """Remembered verdicts below ``root``; ``say`` is told what is forgotten."""

    def __init__(
        self, root: Path | None = None, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self.root = root or cache_root() / "verdicts"
        self._say = say

    def recall(self, id: str, parts: Mapping[str, str]) -> Remembered | None:
        """The verdict that these parts were given, if it can be trusted."""
        path = self._path(id, parts)
        try:
            with path.open("rb") as file:
                data = file.read()
                about = os.fstat(file.fileno())
        except FileNotFoundError:
            return None
        except OSError as error:
            self._say(f"not trusted: {path}: {error.strerror}")
            return None
        why = untrusted(about) or untrusted(self.root.stat())
        found = None
        if why is None:
            found, why = _read(data, id, parts)
        if found is None:
            self._say(f"a verdict of {id} is forgotten: {why}")
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return found

    def has(self, id: str, parts: Mapping[str, str]) -> bool:
        """Is there one, be it to be trusted or not? That is told by recall()."""
        return self._path(id, parts).is_file()

    def keep(self, verdict: Remembered) -> None:
        """Remember a pass; one that cannot be written costs another boot."""
        path = self._path(verdict.id, verdict.parts)
        with suppress(OSError):
            # Whatever the umask: what others may write is not trusted.
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(path, verdict.model_dump_json().encode(), 0o600)

    def forget(self, id: str, parts: Mapping[str, str]) -> None:
        """As if it had never been."""
        with suppress(OSError):
            self._path(id, parts).unlink()

    def doubt(self, id: str, seed: int) -> None:
        """Note the seed with which it failed, to be tried first the next time."""
        with suppress(OSError):
            write_file(self._doubts(id), f"{seed}\n".encode(), 0o600)

    def doubted(self, id: str) -> int | None:
        """The seed with which it failed last, if it has not passed with it since."""
        try:
            return int(self._doubts(id).read_text("ascii"))
        except (OSError, ValueError):
            return None

    def settle(self, id: str, seed: int) -> None:
        """It has passed with that seed."""
        if self.doubted(id) == seed:
            with suppress(OSError):
                self._doubts(id).unlink()

    def prune(self) -> None:
        """Drop the oldest beyond what is kept."""
        with suppress(OSError):
            found = sorted(self.root.glob("*.json"), key=lambda p: p.stat().st_mtime)
            for path in found[:-KEEP]:
                path.unlink(missing_ok=True)

    def _doubts(self, id: str) -> Path:
        return self.root / "failed" / key_of({"id": id})

    def _path(self, id: str, parts: Mapping[str, str]) -> Path:
        return self.root / f"{key_of({**parts, 'id': id})}.json"


def _read(
    data: bytes, id: str, parts: Mapping[str, str]
) -> tuple[Remembered | None, str]:
    try:
        found = Remembered.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        other = first["loc"] == ("schema_version",)
        return None, "of another version" if other else "cut off, or not one"
    if found.id != id or dict(found.parts) != dict(parts):
        return None, "it is the verdict of something else"
    return found, ""
