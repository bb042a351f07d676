# SPDX-License-Identifier: GPL-2.0-only
"""Other names in a text of C, with the lines below an open bracket where they
belong. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lull.series.c_text import code_only

_TAB = 8


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with these names; one that ends in * is the beginning of some."""
    for old, new in names.items():
        text = _one(text, old, new)
    return text


def _one(text: str, old: str, new: str) -> str:
    stem = old.removesuffix("*")
    pattern = re.compile(rf"\b{re.escape(stem)}" + ("" if stem != old else r"\b"))
    at = 0
    while match := pattern.search(text, at):
        text, at = _put(text, match, new.removesuffix("*"))
    return text


def _put(text: str, match: re.Match[str], new: str) -> tuple[str, int]:
    """One of them, and where to go on."""
    end = text.find("\n", match.end())
    end = len(text) if end < 0 else end
    line = code_only(text[text.rfind("\n", 0, match.start()) + 1 : end])
    begin = end - len(line)
    brackets = [begin + n for n in _open(line) if begin + n >= match.end()]
    text = text[: match.start()] + new + text[match.end() :]
    at = match.start() + len(new)
    if not brackets:
        return text, at
    moved = len(new) - len(match[0])
    column = {_column(text, place + moved) - moved: place for place in brackets}
    return _aligned(text, end + moved, column, moved), at


def _open(line: str) -> list[int]:
    """The round brackets that a line opens and does not close."""
    found: list[int] = []
    for at, sign in enumerate(line):
        if sign == "(":
            found.append(at)
        elif sign == ")" and found:
            found.pop()
    return found


def _column(text: str, at: int) -> int:
    """Behind what is at a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at + 1]
    return len(line.expandtabs(_TAB))


def _aligned(text: str, at: int, columns: Mapping[int, int], moved: int) -> str:
    """The lines that stand right below what was open, as far as they do."""
    depth = 1
    while depth > 0 and at < len(text):
        end = text.find("\n", at + 1)
        end = len(text) if end < 0 else end
        line = text[at + 1 : end]
        blank = len(line) - len(line.lstrip(" \t"))
        here = len(line[:blank].expandtabs(_TAB))
        if here not in columns:
            return text
        room = here + moved
        indent = "\t" * (room // _TAB) + " " * (room % _TAB)
        text = text[: at + 1] + indent + text[at + 1 + blank :]
        code = code_only(line)
        depth += code.count("(") - code.count(")")
        at = end + len(indent) - blank
    return text
