# SPDX-License-Identifier: GPL-2.0-only
"""The cover letter of a series, and the run that it quotes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lull.errors import LabError, UsageError
from lull.model import Summary
from lull.report.ablation import render
from lull.series.assemble import Reader, measured_in, order
from lull.series.letter import KEPT, Measured
from lull.series.pristine import Pristine
from tests.series.made import put
from tests.series.made_up import BASE, change, made


def test_a_cover_letter_has_the_places_of_what_was_not_measured(
    root: Path, pristine: Pristine
) -> None:
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "Subject: [PATCH 0/1] freezer: wait\n" in letter
    for part in ("Why all of it.", "[empty: no run was named", "[empty: in no run"):
        assert part in letter
    assert "lull run freeze --base 6.12 --clock insn --ablate" in letter
    assert "\nTests\nSome.\n" in letter
    assert "compiled after each patch, and not run." in letter
    assert "1 file" in letter or "2 files" in letter
    assert "***" not in letter


def test_a_letter_says_how_long_each_patch_is(root: Path, pristine: Pristine) -> None:
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "\n    1  +7 -0      step dead\n\n" in letter
    note = "a note of many words, which goes on and on, and on and on"
    change(root, '["dead"]', f'["dead"]\nnote = "{note}"')
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert f"on and on,\n{' ' * 18}and on and on\n" in letter
    change(root, f'steps = ["dead"]\nnote = "{note}"', "fix = true")
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "\n    1  +7 -0      a fix of what is there\n\n" in letter
    # Nothing of it was measured.
    assert "[empty:" not in letter and "Evidence:" not in letter


def test_a_runs_table_is_quoted(root: Path, pristine: Pristine) -> None:
    letter = made(root, pristine, Measured("a b\n1 2"))["0000-cover-letter.patch"]
    assert "What it brings\na b\n1 2\n\n" in letter
    assert "no run was named" not in letter


def run_folder(place: Path, feature: str, base: str = BASE) -> Path:
    row = {
        "feature": feature,
        "workload": "load",
        "metric": "time",
        "unit": "ns",
        "params": {},
        "mode": "lull",
        "n": 1,
        "median": 1,
        "ci95": None,
    }
    summary = {
        "schema": 1,
        "base": base,
        "kernel": "6.12.117",
        "clock": "insn",
        "accel": "tcg",
        "cpus": 2,
        "rows": [row],
        "expectations": [],
        "ok": True,
    }
    put(place / "summary.json", json.dumps(summary))
    put(place / "table.txt", "the table\n")
    return place


def with_steps(place: Path) -> Summary:
    """A run's folder whose steps were taken out."""
    summary = json.loads((place / "summary.json").read_text())
    share = {
        "feature": "freeze",
        "workload": "load",
        "params": {},
        "metric": "time",
        "step": "dead",
        "text": "who is dead is not visited",
        "alone": "lull+dead",
        "without": "lull-dead",
        "none": "lull=none",
        "ratio": 0.5,
    }
    summary["steps"] = [share]
    summary["seeds"] = 6
    put(place / "summary.json", json.dumps(summary))
    return Summary.model_validate(summary)


def test_what_each_step_brings_is_quoted_once(root: Path, tmp_path: Path) -> None:
    place = run_folder(tmp_path / "run", "freeze")
    steps = render(with_steps(place)).strip()
    assert "dead" in steps
    put(place / "table.txt", f"{steps}\n\nthe table\n")
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    found = measured_in(place, wanted, root)
    assert found == Measured("the table", steps)


def test_without_a_run_the_letter_has_what_the_project_keeps(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    place = run_folder(tmp_path / "run", "freeze")
    table = render(with_steps(place)).strip()
    summary = (place / "summary.json").read_text()
    put(root / "features/freeze" / KEPT, summary)
    letter = made(root, pristine)["0000-cover-letter.patch"]
    again = "lull run freeze --base 6.12 --clock insn --ablate --seeds 6"
    assert f"as this repeats it:\n{again}\n\n{table}\n" in letter
    assert "[empty: no run was named" in letter
    assert "\n    1  +7 -0      step dead (0.500)\n\nIn brackets: all of it" in letter
    # That of another kernel says nothing.
    put(root / "features/freeze" / KEPT, summary.replace('"6.12"', '"6.1"'))
    assert "[empty: in no run" in made(root, pristine)["0000-cover-letter.patch"]
    put(root / "features/freeze" / KEPT, "{}")
    with pytest.raises(LabError, match="no summary of a run"):
        made(root, pristine)


def test_the_letter_has_what_each_step_brings(root: Path, pristine: Pristine) -> None:
    found = made(root, pristine, Measured("a b", "step dead"))
    letter = found["0000-cover-letter.patch"]
    assert "What each step brings\nstep dead\n\n" in letter
    assert "[empty:" not in letter


def test_what_is_not_all_of_a_feature_says_so(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    change(root, 'tests = "Some."', 'tests = "Some."\nleft_out = "The walk."')
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "What is not in it\nThe walk.\n\n" in letter
    assert "The figures are of all of it there" in letter
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    with pytest.raises(UsageError, match="not all of freeze"):
        measured_in(run_folder(tmp_path / "run", "freeze"), wanted, root)


def test_it_has_to_be_a_run_of_that(root: Path, tmp_path: Path) -> None:
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    assert measured_in(
        run_folder(tmp_path / "run", "freeze"), wanted, root
    ) == Measured("the table")
    for other in (
        run_folder(tmp_path / "other", "zfree"),
        run_folder(tmp_path / "old", "freeze", "6.1"),
    ):
        with pytest.raises(UsageError, match="a run of"):
            measured_in(other, wanted, root)
    with pytest.raises(UsageError, match="no run"):
        measured_in(tmp_path / "nowhere", wanted, root)
    (tmp_path / "run/table.txt").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        measured_in(tmp_path / "run", wanted, root)
    with pytest.raises(UsageError, match="for a cover letter"):
        measured_in(tmp_path / "run", order(["freeze"], BASE, None, root), root)
