# SPDX-License-Identifier: GPL-2.0-only
"""What a text of C defines, by its name: where it is, and who needs it.

Pure. As the kernel writes it: what is outside of a function begins at the line's
first column, and its comment is right above.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from lull.errors import LabError
from lull.series.c_text import code_only, extent, matching

_TAGGED = re.compile(r"(?:struct|union|enum) \w+")
#: The beginning of what is outside of functions, up to a name.
_HEAD = r"^(?![ \t#}]|return\b|goto\b|else\b)[^(){};=\n]*"
_STATIC = re.compile(
    r"^static\b[^(),{};=\n]*?(?:\b(?:DEFINE|DECLARE)_\w+\()?\b(\w+)(?:\[[^\n]*\])?"
    r"[ \t]*(?=[(;=){])",
    re.MULTILINE,
)


def find(text: str, name: str, where: str) -> tuple[int, int]:
    """From the comment of a definition to the line after it.

    ``name`` is a function, a variable, a macro, or ``struct x`` and the like; a
    declaration is as good. Raises LabError where there is none, or more than one.
    """
    found = list(_places(text, name, where))
    if len(found) != 1:
        raise LabError(f"there is not one {name}, but {len(found)}", where=where)
    return found[0]


def defined(text: str, name: str, where: str) -> str:
    """A definition with its comment."""
    start, end = find(text, name, where)
    return text[start:end]


def texts(text: str, name: str, where: str) -> list[str]:
    """All that defines or declares it there, each with its comment."""
    return [text[start:end] for start, end in _places(text, name, where)]


def digest(text: str) -> str:
    """By which a definition is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def has(text: str, name: str, where: str) -> bool:
    """Whether it is defined or declared there."""
    return any(True for _ in _places(text, name, where))


def without(text: str, name: str, where: str) -> str:
    """The text without a definition, and without its declarations."""
    while has(text, name, where):
        start, end = next(_places(text, name, where))
        text = _joined(text[:start], text[end:])
    return text


def needed(text: str, base: str, where: str) -> str:
    """Without the static functions and variables that ``base`` has not, and that
    nobody in the text needs."""
    there = set(re.findall(r"\w+", code_only(base)))
    while True:
        names = re.findall(r"\w+", code_only(text))
        idle = next(
            (
                match[1]
                for match in _STATIC.finditer(code_only(text))
                if names.count(match[1]) == 1 and match[1] not in there
            ),
            None,
        )
        if idle is None:
            return text
        text = without(text, idle, where)


def _places(text: str, name: str, where: str) -> Iterator[tuple[int, int]]:
    masked = code_only(text)
    for start, end in _bare(masked, name, where):
        above = text[:start]
        if above.endswith("*/\n") and (at := above.rfind("/*")) >= 0:
            at = above.rfind("\n", 0, at) + 1
            # A comment in a line of code is that line's.
            start = at if above[at:].lstrip().startswith("/*") else start
        yield start, end


def _bare(masked: str, name: str, where: str) -> Iterator[tuple[int, int]]:
    """The same without the comment."""
    if _TAGGED.fullmatch(name):
        for match in re.finditer(rf"^{name} \{{", masked, re.MULTILINE):
            yield match.start(), _line_end(masked, _closed(masked, match, where))
        return
    word = re.escape(name)
    macro = rf"^#[ \t]*define[ \t]+{word}\b(?:[^\n]*\\\n)*[^\n]*\n"
    for match in re.finditer(macro, masked, re.MULTILINE):
        yield match.span()
    made = rf"^(?:static )?(?:DEFINE|DECLARE)_\w+\({word}\)[^\n]*;\n"
    for match in re.finditer(made, masked, re.MULTILINE):
        yield match.span()
    for match in re.finditer(rf"{_HEAD}\b{word}\b", masked, re.MULTILINE):
        end = _end(masked, match.end(), where)
        if end is not None:
            yield match.start(), _line_end(masked, end)


def _closed(masked: str, match: re.Match[str], where: str) -> int:
    return extent(masked, matching(masked, match.end() - 1, where) + 1, re.compile(";"))


def _end(masked: str, at: int, where: str) -> int | None:
    """Where a function or a variable ends, whose name ends at ``at``."""
    if masked[at : at + 1] == "(":
        # Between its arguments and its body there may be annotations.
        body = re.compile("[{;]").search(masked, matching(masked, at, where))
        if body is None:
            return None
        return matching(masked, body.start(), where) if body[0] == "{" else body.start()
    match = re.compile(r"(?:\[[^\n]*?\])*[ \t]*[=;]").match(masked, at)
    return extent(masked, match.end() - 1, re.compile(";")) if match else None


def _line_end(masked: str, at: int) -> int:
    end = masked.find("\n", at)
    return len(masked) if end < 0 else end + 1


def _joined(head: str, tail: str) -> str:
    """No empty line more than there was."""
    if head.endswith("\n\n") and (not tail or tail.startswith("\n")):
        head = head[:-1]
    return head + tail
