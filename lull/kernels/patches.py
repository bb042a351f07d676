# SPDX-License-Identifier: GPL-2.0-only
"""Unified diffs, parsed and applied strictly.

Hooks are kept with one line of context, so that they survive point releases.
That little context makes a wrong place easy to hit, so the rules are:

- every context and removed line matches exactly (no fuzz);
- the hunk applies at the stated line, moved by what earlier hunks of the
  file moved, if its lines are there;
- where the lines are in more than one place, those below the line named in
  the hunk's heading (``@@ ... @@ int foo(void)``) come first;
- elsewhere than at the stated line, the place has to be the only one left.
  Two equal places are an error, however near one of them is.

Everything here is pure: text goes in, records and text come out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lull.errors import LabError

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$")
#: What git takes for a heading when no driver is set for the file.
_HEADING = re.compile(r"^[A-Za-z_$]")
_UNSUPPORTED = re.compile(
    r"^(rename |copy |old mode|new mode|GIT binary patch|Binary files )"
)


@dataclass(frozen=True)
class Hunk:
    """One ``@@`` block; ``lines`` keep their first character."""

    number: int  #: from 1, within the file
    header: str
    heading: str
    start: int
    lines: tuple[str, ...]
    old_ends_bare: bool = False  #: the old text ends without a newline
    new_ends_bare: bool = False

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " -"]

    @property
    def new(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] in " +"]


@dataclass(frozen=True)
class FilePatch:
    """The hunks for one file; ``old`` or ``new`` is None where it is not."""

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        path = self.new or self.old
        assert path is not None  # the parser refuses a file that is neither
        return path


class _Lines:
    """The patch's lines with a place to report."""

    def __init__(self, name: str, text: str) -> None:
        # Only \n ends a line here; str.splitlines knows nine other things
        # that do, and kernel files contain form feeds.
        self.lines = text.split("\n")
        self.name = name
        self.at = 0

    def peek(self) -> str | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def fail(self, what: str) -> LabError:
        return LabError(f"not a patch: {what}", where=f"{self.name}:{self.at + 1}")


def parse_patch(name: str, text: str) -> list[FilePatch]:
    """Parse a git-style diff with a message above it.

    Renames, mode changes and binary files are refused: the project has no
    use for them, and half an application would be worse.
    """
    lines = _Lines(name, text)
    files: list[FilePatch] = []
    while (line := lines.peek()) is not None:
        in_header = bool(lines.at) and _UNSUPPORTED.match(line)
        if in_header and _after_git_line(lines):
            raise lines.fail(f"{line!r} is not supported")
        following = lines.lines[lines.at + 1 : lines.at + 2]
        if line.startswith("--- ") and following and following[0][:4] == "+++ ":
            files.append(_parse_file(lines))
        else:
            if line.startswith("@@ -"):
                raise lines.fail("a hunk without the two file lines above it")
            lines.at += 1
    if not files:
        raise LabError("not a patch: it changes no file", where=name)
    return files


def _after_git_line(lines: _Lines) -> bool:
    """Whether this line is in a ``diff --git`` header, not in a message."""
    for line in reversed(lines.lines[max(0, lines.at - 6) : lines.at]):
        if line.startswith("diff --git "):
            return True
        if not line:
            return False
    return False


def _parse_file(lines: _Lines) -> FilePatch:
    old = _file_name(lines, "a/")
    lines.at += 1
    new = _file_name(lines, "b/")
    lines.at += 1
    if old is None and new is None:
        raise lines.fail("neither an old file nor a new one")
    if old is not None and new is not None and old != new:
        raise lines.fail(f"{old} becomes {new}: renames are not supported")
    hunks: list[Hunk] = []
    while (line := lines.peek()) is not None and line.startswith("@@ "):
        hunks.append(_parse_hunk(lines, len(hunks) + 1))
    if not hunks:
        raise lines.fail("no hunk after the two file lines")
    return FilePatch(old, new, tuple(hunks))


def _file_name(lines: _Lines, prefix: str) -> str | None:
    name = lines.lines[lines.at][4:].split("\t")[0].rstrip(" ")
    if name == "/dev/null":
        return None
    path = name.removeprefix(prefix)
    parts = path.split("/")
    if path == name or ".." in parts or "" in parts:
        raise lines.fail(f"{name!r} is not {prefix}<a path in the tree>")
    return path


def _parse_hunk(lines: _Lines, number: int) -> Hunk:
    header = lines.peek() or ""
    match = _HUNK.match(header)
    if not match:
        raise lines.fail(f"hunk {number}: malformed header {header!r}")
    start = int(match[1])
    left_old, left_new = (int(n) if n is not None else 1 for n in match.group(2, 4))
    lines.at += 1
    body: list[str] = []
    bare = {"old": False, "new": False}
    while left_old or left_new:
        line = lines.peek()
        # Editors and mailers strip the blank of an empty context line.
        line = " " if line == "" and lines.at + 1 < len(lines.lines) else line
        if line is None or line[:1] not in (" ", "-", "+", "\\"):
            raise lines.fail(f"hunk {number} is shorter than its header says")
        if line[0] == "\\":
            _mark_bare(bare, body)
        else:
            left_old -= line[0] in " -"
            left_new -= line[0] in " +"
            body.append(line)
        if left_old < 0 or left_new < 0:
            raise lines.fail(f"hunk {number} is longer than its header says")
        lines.at += 1
    if (line := lines.peek()) is not None and line.startswith("\\"):
        _mark_bare(bare, body)
        lines.at += 1
    # "-- " is the signature line of a mail; "--- " starts the next file.
    following = lines.peek() or ""
    if following[:1] in ("+", " ", "-") and not following.startswith(("-- ", "--- ")):
        raise lines.fail(f"hunk {number} is longer than its header says")
    return Hunk(
        number, header, match[5].strip(), start, tuple(body), bare["old"], bare["new"]
    )


def _mark_bare(bare: dict[str, bool], body: list[str]) -> None:
    last = body[-1][0] if body else " "
    bare["old"] |= last in " -"
    bare["new"] |= last in " +"


def apply_patch(
    name: str, text: str, read: Callable[[str], str | None]
) -> dict[str, str | None]:
    """Apply one patch file; returns the changed files, None for a removed one.

    ``read`` gives a file's text, or None where there is no such file.
    """
    changed: dict[str, str | None] = {}
    for part in parse_patch(name, text):
        before = changed[part.path] if part.path in changed else read(part.path)
        if part.old is None and before is not None:
            raise LabError(f"{part.path} exists, and the patch adds it", where=name)
        if part.old is not None and before is None:
            raise LabError(f"{part.path} is not in the tree", where=name)
        after = apply_file(name, part, before or "")
        if part.new is None and after:
            raise LabError(f"{part.path} is removed, but not all of it", where=name)
        changed[part.path] = None if part.new is None else after
    return changed


def apply_file(name: str, part: FilePatch, text: str) -> str:
    """Apply the hunks for one file to its text."""
    return apply_at(name, part, text)[0]


def apply_at(name: str, part: FilePatch, text: str) -> tuple[str, list[int]]:
    """The same, and by how many lines each hunk was off the stated one."""
    ends_bare = bool(text) and not text.endswith("\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    done: list[str] = []
    taken = 0  # lines of the old text that are dealt with
    moved = 0  # how far the last hunk was from where it said
    off: list[int] = []
    for hunk in part.hunks:
        stated = hunk.start - 1 if hunk.old else hunk.start
        place = _find(name, part, hunk, lines, taken, stated + moved)
        moved = place - stated
        off.append(moved)
        done += lines[taken:place] + hunk.new
        taken = place + len(hunk.old)
        if taken == len(lines):
            if hunk.old_ends_bare != ends_bare and hunk.old:
                raise _refused(name, part, hunk, "the newline at the end of file")
            ends_bare = hunk.new_ends_bare
        elif hunk.old_ends_bare or hunk.new_ends_bare:
            raise _refused(name, part, hunk, "it is not at the end of the file")
    done += lines[taken:]
    if not done:
        return "", off
    return "\n".join(done) + ("" if ends_bare else "\n"), off


def _find(
    name: str, part: FilePatch, hunk: Hunk, lines: list[str], first: int, stated: int
) -> int:
    """The one place where a hunk applies."""
    old = hunk.old
    if not old:  # a hunk without context: the header is all there is
        if first <= stated <= len(lines) and (part.old is None or hunk.start):
            return stated
        if not lines:
            return 0
        raise _refused(name, part, hunk, f"the file has {len(lines)} lines")
    places = list(_places(old, lines, first))
    if not places:
        raise _refused(name, part, hunk, "these lines are not in the file")
    if hunk.heading:
        below = [at for at in places if _heading(lines, at) == hunk.heading[:80]]
        places = below or places
    if stated in places:
        return stated
    if len(places) == 1:
        return places[0]
    found = ", ".join(str(at + 1) for at in places[:6])
    raise _refused(name, part, hunk, f"these lines are in several places ({found})")


def _places(old: list[str], lines: list[str], first: int) -> Iterator[int]:
    for at in range(first, len(lines) - len(old) + 1):
        if lines[at] == old[0] and lines[at : at + len(old)] == old:
            yield at


def _heading(lines: list[str], at: int) -> str:
    for line in reversed(lines[:at]):
        if _HEADING.match(line):
            return line[:80].strip()
    return ""


def _refused(name: str, part: FilePatch, hunk: Hunk, why: str) -> LabError:
    expected = "\n".join(f"    |{line}" for line in hunk.old[:12])
    return LabError(
        f"hunk {hunk.number} for {part.path} does not apply: {why}\n"
        f"    {hunk.header}\n{expected}",
        where=name,
        hint="refresh the patch against this version of the kernel",
    )
