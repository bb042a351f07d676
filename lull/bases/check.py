# SPDX-License-Identifier: GPL-2.0-only
"""What becomes of each hook, and of what the overlay adds, in another tree.

Everything here is pure: hooks and a way to read the tree go in, records come out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum

from lull.errors import LabError
from lull.kernels.patches import FilePatch, apply_at, parse_patch
from lull.model import Record

Read = Callable[[str], str | None]


class Fate(StrEnum):
    """What becomes of a hook."""

    APPLIES = "applies"
    MOVED = "moved"
    CONFLICTS = "conflicts"


class File(Record):
    """A hook's part for one file."""

    path: str
    fate: Fate
    lines: int = 0  #: where it moved: by how many at most, with their sign
    why: str = ""  #: where it conflicts
    after: str = ""  #: an earlier hook for the file that conflicts, too


class Hook(Record):
    """One hook: the worst of its files."""

    name: str  #: freeze/0001-skip-the-dead
    files: tuple[File, ...]

    @property
    def fate(self) -> Fate:
        return max((file.fate for file in self.files), key=list(Fate).index)


class Report(Record):
    """All hooks in their order, and what the overlay would overwrite."""

    hooks: tuple[Hook, ...]
    taken: tuple[str, ...]  #: files of the overlay that the tree has, too
    #: hooked files that differ from the base's own; None where that is not here
    changed: tuple[str, ...] | None

    @property
    def ok(self) -> bool:
        return not self.taken and not self.of(Fate.CONFLICTS)

    def of(self, fate: Fate) -> tuple[Hook, ...]:
        return tuple(hook for hook in self.hooks if hook.fate is fate)


def check(
    hooks: Sequence[tuple[str, str]],
    overlay: Mapping[str, str],
    read: Read,
    base: Read | None = None,
) -> Report:
    """Try each of ``hooks`` (name, text) after those before it.

    One that conflicts leaves its file as it was, so that those behind it are still
    tried. ``overlay`` are the texts, by path, that must not be there yet; a hook may
    change one. ``read`` and ``base`` give a file's text in the tree and in the base's
    own sources, or None; a hook has moved where it is elsewhere than in these, without
    them elsewhere than it says.
    Raises LabError for a hook that is no patch.
    """
    new = _Tree(_over(read, overlay))
    own = _Tree(_over(base, overlay)) if base else None
    found = []
    for name, text in hooks:
        parts = parse_patch(name, text)
        files = [_fate(name, part, new, own) for part in parts]
        found.append(Hook(name=name, files=tuple(files)))
    changed = None
    if base is not None:
        changed = tuple(sorted(p for p in new.now if base(p) != read(p)))
    return Report(
        hooks=tuple(found),
        taken=tuple(path for path in sorted(overlay) if read(path) is not None),
        changed=changed,
    )


def _over(read: Read, overlay: Mapping[str, str]) -> Read:
    """A tree's files, with those of the overlay that it has not."""

    def both(path: str) -> str | None:
        there = read(path)
        return overlay.get(path) if there is None else there

    return both


class _Tree:
    """A tree into which hooks go one by one."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.now: dict[str, str | None] = {}
        self.broken: dict[str, str] = {}  #: by path, the first hook that conflicts

    def apply(self, name: str, part: FilePatch) -> list[int]:
        """By how many lines each hunk is off. Raises LabError where one conflicts."""
        before = self.now.setdefault(part.path, self._read(part.path))
        try:
            if before is None and part.old is not None:
                raise LabError("there is no such file")
            if before is not None and part.old is None:
                raise LabError("there is such a file already")
            after, off = apply_at(name, part, before or "")
        except LabError:
            self.broken.setdefault(part.path, name)
            raise
        self.now[part.path] = None if part.new is None else after
        return off


def _fate(name: str, part: FilePatch, new: _Tree, own: _Tree | None) -> File:
    expected = [0] * len(part.hunks)
    if own:
        with suppress(LabError):  # a hook that is being mended for another release
            expected = own.apply(name, part)
    after = new.broken.get(part.path, "")
    try:
        off = new.apply(name, part)
    except LabError as error:
        return File(path=part.path, fate=Fate.CONFLICTS, why=error.what, after=after)
    moved = (at - there for at, there in zip(off, expected, strict=True))
    lines = max(moved, key=abs, default=0)
    return File(path=part.path, fate=Fate.MOVED if lines else Fate.APPLIES, lines=lines)
