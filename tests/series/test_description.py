# SPDX-License-Identifier: GPL-2.0-only
"""Messages: of hooks, and in series.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.ask.catalog import feature
from lull.errors import LabError
from lull.host.files import repo_root
from lull.series.assemble import entries
from lull.series.definitions import defined, digest
from lull.series.description import load, message
from tests.series.made import SAYS, put


def test_a_hooks_message() -> None:
    text = (
        "From: nobody\nSubject: [PATCH v2] freezer: do\n more\n\nWhy.\n\nHow.\n\n"
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n"
    )
    words = message(text, "x.patch")
    assert words.title == "freezer: do more"
    assert words.text == "Why.\n\nHow."


@pytest.mark.parametrize(
    "text", ["Subject: [PATCH] x\n\n\ndiff --git a/f b/f\n", "Why.\n\nSo.\n--- a/f\n"]
)
def test_a_hook_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(LabError, match="without a subject or a message"):
        message(text, "x.patch")


@pytest.mark.parametrize("line", ["---", "diff -u a b", "Index: f", "From me"])
def test_a_line_that_would_end_the_message_is_refused(
    line: str, tmp_path: Path
) -> None:
    said = SAYS.format(what="x", more="").replace("What the hooks call.", f"a\\n{line}")
    with pytest.raises(LabError, match="end of the message"):
        load(put(tmp_path / "series.toml", said))


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("[whole]", "[whole", "not TOML"),
        ("title =", "titel =", "titel"),
        ("x: all", "x" * 80, "title"),
        ("A problem", "A problem " + "x" * 80, "longer than 75"),
    ],
)
def test_what_is_wrong_in_a_series_toml_is_named(
    old: str, new: str, match: str, tmp_path: Path
) -> None:
    said = SAYS.format(what="x", more="").replace(old, new, 1)
    with pytest.raises(LabError, match=match):
        load(put(tmp_path / "series.toml", said))


@pytest.mark.parametrize("what", ["tests", "left_out", "newer", "breaks"])
def test_parts_of_a_letter_are_no_longer_than_a_message(
    what: str, tmp_path: Path
) -> None:
    said = SAYS.format(what="x", more="")
    long = f'{what} = "{"x" * 80}"'
    said += f"""
[upstream]
{"" if what == "tests" else 'tests = "Some."'}
{long if what in ("tests", "left_out") else ""}
[upstream.cover]
title = "x"
text = "Why."
{long if what == "newer" else 'newer = "None."'}
{long if what == "breaks" else 'breaks = "All."'}
[[upstream.patch]]
"""
    with pytest.raises(LabError, match="longer than 75"):
        load(put(tmp_path / "series.toml", said))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="cannot be read"):
        load(tmp_path / "series.toml")


def test_the_projects_own() -> None:
    """Each feature with hooks has one, and needs what there is."""
    found = entries(repo_root())
    hooked = {path.parents[2].name for path in repo_root().glob("features/*/hooks/*/*")}
    assert hooked == found.keys() - {""}
    for entry in found.values():
        assert set(entry.needs) <= found.keys()


def test_fixes_come_first_and_steps_are_the_features_own() -> None:
    for name, entry in entries(repo_root()).items():
        for said in entry.all_upstream():
            fixes = [patch.fix for patch in said.patch]
            assert fixes == sorted(fixes, reverse=True), name
            known = {step.name for step in feature(name).steps}
            assert {s for patch in said.patch for s in patch.steps} <= known
            for patch in said.patch:
                assert not (patch.fix and patch.steps), name


def test_other_texts_are_of_the_definitions_as_they_are() -> None:
    """Seen at once, without a kernel's sources, by who changes one of these."""
    for name, entry in entries(repo_root()).items():
        room = repo_root() / "features" / name / "kernel"
        for said in (one for each in entry.all_upstream() for one in each.define):
            text = (room / said.file).read_text()
            was = digest(defined(text, said.name, said.file))
            assert said.was == was, f"features/{name}/series.toml: {said.name}"
