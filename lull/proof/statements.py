# SPDX-License-Identifier: GPL-2.0-only
"""The numbered statements, as docs/statements.md lists them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from lull.errors import LabError
from lull.host.files import repo_root

#: A heading, with a link to the README of each feature whose statements follow.
_HEADING = re.compile(r"## ")
_FEATURE = re.compile(r"\(\.\./features/([\w-]+)/README\.md\)")
_ROW = re.compile(r"\| ([A-Z]+[0-9]+) \|")


def numbers_of(features: Collection[str], root: Path | None = None) -> tuple[str, ...]:
    """The numbers of what these features have to keep, in the list's order."""
    path = (root or repo_root()) / "docs/statements.md"
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise LabError(f"cannot be read: {error.strerror}", where=str(path)) from error
    return tuple(
        number for number, whose in _listed(text) if whose.intersection(features)
    )


def _listed(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    whose: frozenset[str] = frozenset()
    for line in text.splitlines():
        if _HEADING.match(line):
            whose = frozenset(_FEATURE.findall(line))
        elif row := _ROW.match(line):
            yield row[1], whose
