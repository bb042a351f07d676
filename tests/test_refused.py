# SPDX-License-Identifier: GPL-2.0-only
"""Words that contradict each other are refused at once: nothing is ignored."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from lull.cli import app
from lull.errors import LullError, UsageError


def lull(*words: str | Path) -> Done:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("graph a b --suspect --cycle 2", "--suspect takes no other option"),
        ("graph a b --suspect --perfetto x", "--suspect takes no other option"),
        ("doctor --yes", "--yes is for --measure"),
        ("doctor --json x --textfile x", "--json and --textfile are one file"),
        ("doctor --on host --deadline 5", "--deadline is for this machine"),
        ("doctor --from . --deadline 5", "--deadline is for this machine"),
        ("doctor --collector x --deadline 5", "--collector goes alone"),
        ("guest measure desk --debian --base 7.3", "--debian takes no --base"),
        ("kernel deb --tools --flavour amd64", "--tools compiles no kernel"),
        ("kernel deb --tools --base 7.3", "--tools compiles no kernel"),
        ("kernel deb --tools --refresh", "--tools compiles no kernel"),
        ("kernel deb --tools -j 2", "--tools compiles no kernel"),
        ("soak attach --minutes inf", "no number of minutes: inf"),
        ("run attach --json x --ktap x --clock insn", "--json and --ktap are one file"),
        ("profile attach moves --seed 315360001", "a seed is 0 to 315360000"),
        ("guest measure kill --dry-run --seed 315360000", "a seed is 0 to 315360000"),
        ("run attach --ablate --check", "--ablate has no promises"),
        ("run freeze --check --clock wall", "nothing of it is promised on wall"),
        ("doctor --collector x --yes", "--collector goes alone"),
    ],
)
def test_what_contradicts_itself_is_refused(words: str, said: str) -> None:
    error = lull(*words.split()).exception
    assert isinstance(error, UsageError), error
    assert said in str(error)
    assert "  try: " in str(error)


@pytest.mark.parametrize(
    "words", ["guest measure kill --clock insn -o", "guest stress zombie -o"]
)
def test_a_folder_that_cannot_be_is_told_before_anything_is_built(
    words: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    error = lull(*words.split(), file).exception
    assert isinstance(error, UsageError), error
    assert f"{file}: cannot be written" in str(error)
    assert file.read_text() == "mine"


def test_a_profile_is_kept_in_a_run_s_folder_alone(tmp_path: Path) -> None:
    done = lull("profile", "attach", "moves", "--into", tmp_path)
    assert isinstance(done.exception, UsageError)
    assert f"no folder of a run: {tmp_path}" in str(done.exception)


def test_tools_alone_are_no_kernel() -> None:
    lines = lull("kernel", "deb", "--tools", "--dry-run").output.splitlines()
    assert lines == ["# lull-tools: the probe, settings and a unit, by dpkg-deb"]
    assert len(lull("kernel", "deb", "--dry-run").output.splitlines()) > 1


def test_who_lists_a_scenario_is_not_sent_to_measure_it() -> None:
    error = lull("list", "kill").exception
    assert isinstance(error, LullError) and error.hint == "lull guest scenarios"
    error = lull("run", "kill").exception
    assert isinstance(error, LullError) and error.hint == "lull guest measure kill"


def test_a_tree_goes_to_standard_output_by_its_usual_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = lull("tree", "make", "chain:n=2", "-o", "-")
    assert "lull-tree 1\n" in done.output
    assert not list(tmp_path.iterdir())
