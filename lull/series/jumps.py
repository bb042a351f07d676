# SPDX-License-Identifier: GPL-2.0-only
"""What cannot be reached any more behind a ``goto`` or a ``return``. Pure."""

from __future__ import annotations

import re

from lull.series.c_text import code_only

_JUMP = re.compile(r"(?:\bgoto (\w+)|\breturn\b[^;]*);\s*$")
_LABEL = re.compile(r"^[ \t]*(?!default\b)(\w+):(?!:)", re.MULTILINE)


def cut(head: str, tail: str) -> str:
    """The two together; where ``head`` ends in a jump, without what comes between
    that and the end of the block, or a label that somebody jumps to."""
    masked = code_only(head)
    jump = _JUMP.search(masked)
    if not jump:
        return head + tail
    before = masked[masked.rfind("\n}") + 1 : jump.start()]
    code = code_only(tail)
    end = _reached(before, jump[1], code)
    if code[end] == "}":
        return f"{head}\n{tail[tail.rfind(chr(10), 0, end) + 1 :]}"
    label = _LABEL.match(code, end)
    if label and label[1] == jump[1] and not _wanted(jump[1], before, code[end:]):
        # It goes on where it is.
        return head[: jump.start()].rstrip() + tail[label.end() :]
    return f"{head}\n\n{tail[end:]}"


def _reached(before: str, target: str | None, code: str) -> int:
    """The next label that is jumped to, or the bracket that ends the block."""
    depth = 0
    for at, sign in enumerate(code):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            if not depth:
                return at
            depth -= 1
        elif sign == "\n" and not depth:
            label = _LABEL.match(code, at + 1)
            if label and (
                label[1] == target or _wanted(label[1], before, code[label.end() :])
            ):
                return at + 1
    raise AssertionError("a block that is never closed")


def _wanted(label: str, *texts: str) -> bool:
    """Whether one of them, up to its function's end, jumps there."""
    jump = re.compile(rf"\bgoto {re.escape(label)};")
    return any(jump.search(text.split("\n}")[0]) for text in texts)


def unlabelled(before: str, after: str) -> str:
    """The second text without labels that were jumped to in the first, and to which
    nobody in their function jumps any more."""
    wanted = set(re.findall(r"\bgoto (\w+);", code_only(before)))
    code = code_only(after)
    done, at = "", 0
    for label in re.finditer(r"^ ?(\w+):\n", code, re.MULTILINE):
        begin, end = code.rfind("\n}", 0, label.start()), code.find("\n}", label.end())
        if label[1] in wanted and not _wanted(label[1], code[begin + 2 : end]):
            done += after[at : label.start()]
            at = label.end()
    return done + after[at:]
