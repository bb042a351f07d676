# SPDX-License-Identifier: GPL-2.0-only
"""Places in a text of C: comments and strings, brackets, where an expression ends.

Pure. A control character stands for each of true, false and a place where
something was (``lull.series.evaluate``).
"""

from __future__ import annotations

import re
from functools import lru_cache

from lull.errors import LabError

TRUE, FALSE, GONE = "\x01", "\x02", "\x03"

#: Blanks, and lines that go on.
WS = r"(?:[ \t\n]|\\\n)*"
_COMMENT = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_OPEN, _CLOSE = "([{", ")]}"


@lru_cache(maxsize=64)
def code_only(text: str) -> str:
    """The same text with blanks for what is in comments and strings."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return _COMMENT.sub(blank, text)


def fail(text: str, at: int, where: str, what: str) -> LabError:
    """An error that shows the line."""
    line = text[text.rfind("\n", 0, at) + 1 :].split("\n")[0].strip()
    shown = line.translate({1: "true", 2: "false", 3: None})
    return LabError(f"cannot be settled: {what}: {shown!r}", where=where)


def matching(text: str, at: int, where: str) -> int:
    """Where the bracket that opens at ``at`` is closed."""
    depth = 0
    masked = code_only(text)
    for place in range(at, len(masked)):
        if masked[place] in _OPEN:
            depth += 1
        elif masked[place] in _CLOSE:
            depth -= 1
            if not depth:
                return place
    raise fail(text, at, where, "a bracket is never closed")


def opening(head: str) -> int | None:
    """The bracket that is open at the end of ``head``, if it is a round one."""
    depth = 0
    masked = code_only(head)
    for place in range(len(masked) - 1, -1, -1):
        if masked[place] in _CLOSE:
            depth += 1
        elif masked[place] in _OPEN:
            if not depth:
                return place if masked[place] == "(" else None
            depth -= 1
    return None


def extent(text: str, at: int, stops: re.Pattern[str]) -> int:
    """Where an expression that begins at ``at`` ends."""
    depth = 0
    masked = code_only(text)
    while at < len(masked):
        if masked[at] in _OPEN:
            depth += 1
        elif masked[at] in _CLOSE:
            if not depth:
                return at
            depth -= 1
        elif not depth and stops.match(masked, at):
            return at
        at += 1
    return at


def extent_back(text: str, at: int, stops: re.Pattern[str]) -> int:
    """Where one that ends at ``at`` begins."""
    depth = 0
    masked = code_only(text)
    begin = 0
    for place in range(at - 1, -1, -1):
        if masked[place] in _CLOSE:
            depth += 1
        elif masked[place] in _OPEN:
            if not depth:
                begin = place + 1
                break
            depth -= 1
        elif not depth and (match := stops.match(masked, place)):
            begin = match.end()
            break
    return begin + len(masked[begin:at]) - len(masked[begin:at].lstrip())
