# SPDX-License-Identifier: GPL-2.0-only
"""The list of what must never happen, and what speaks of it by number."""

from __future__ import annotations

import re

from lull.host.files import repo_root
from lull.proof.statements import numbers_of

ROOT = repo_root()
NUMBER = re.compile(r"\b(?:FZ|ZS|CG|PM)[1-9]\d*\b")
LISTED = re.findall(
    r"^\| ([A-Z]+\d+) \|", (ROOT / "docs/statements.md").read_text("utf-8"), re.M
)


def named(pattern: str) -> set[str]:
    texts = (path.read_text("utf-8") for path in ROOT.glob(pattern))
    return {number for text in texts for number in NUMBER.findall(text)}


def test_each_has_its_argument_in_a_readme() -> None:
    assert len(LISTED) == len(set(LISTED)) == 45
    assert set(LISTED) <= named("features/*/README.md")


def test_each_has_its_test_in_a_readme_or_why_there_is_none() -> None:
    parts = (
        part
        for path in ROOT.glob("features/*/README.md")
        for part in re.split(r"^##+ ", path.read_text("utf-8"), flags=re.M)
        if re.search(r"\btests\b", part.partition("\n")[0], re.I)
    )
    said = {number for part in parts for number in NUMBER.findall(part)}
    assert set(LISTED) - said == set()


def test_nobody_speaks_of_one_that_is_not_listed() -> None:
    for pattern in ("features/*/README.md", "features/*/safety.toml", "docs/*.md"):
        assert (found := named(pattern)) and found <= set(LISTED)
    assert named("features/*/kernel/**/*.[ch]") <= set(LISTED)


def test_each_is_in_the_list_of_a_feature() -> None:
    rooms = {path.parent.name for path in ROOT.glob("features/*/safety.toml")}
    assert list(numbers_of(rooms)) == LISTED
    assert all(numbers_of({name}) for name in rooms)
