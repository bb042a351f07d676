# SPDX-License-Identifier: GPL-2.0-only
"""The cover letter of a series, and how old its figures are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lull.errors import LullError, UsageError
from lull.kernels.bases import base_names
from lull.series import assemble
from lull.series.history import changed_since
from lull.series.pristine import Pristine
from tests.repository import git
from tests.series.made import put
from tests.series.made_up import (
    BASE,
    RESULTS,
    STEPS,
    change,
    committed,
    keep_steps,
    letter_of,
    origin_of,
    share,
    summary,
)


def test_a_letter_has_all_that_it_must_not_be_silent_about(
    root: Path, pristine: Pristine
) -> None:
    letter = letter_of(root, pristine)
    assert "Subject: [PATCH 0/1] freezer: wait\n" in letter
    parts = (
        "Why all of it.\n\nWhat it may break\nAll of it.\n\nbase: Linux 6.12.117\n",
        f"What Linux {base_names()[-1]} has of it already:\nNone of it.\n\n",
        "\nTests\nSome.\n",
        "compiled after each patch, and not run.",
    )
    for part in parts:
        assert part in letter
    assert "1 file" in letter or "2 files" in letter
    assert "***" not in letter and "[empty" not in letter


def test_for_the_newest_base_nothing_is_said_of_a_newer_one(
    root: Path, pristine: Pristine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assemble, "base_names", lambda: ["6.1", BASE])
    letter = letter_of(root, pristine)
    assert "base: Linux 6.12.117\n\n" in letter and "None of it." not in letter


@pytest.mark.parametrize("field", ["newer", "breaks"])
def test_a_cover_without_one_of_these_is_refused(
    root: Path, pristine: Pristine, field: str
) -> None:
    said = {"newer": "None of it.", "breaks": "All of it."}[field]
    change(root, f'{field} = "{said}"', "")
    with pytest.raises(LullError, match=f"{field}: Field required"):
        letter_of(root, pristine)


def test_a_letter_says_how_long_each_patch_is(root: Path, pristine: Pristine) -> None:
    letter = letter_of(root, pristine)
    assert "\n    1  +7 -0      step dead\n\n" in letter
    note = "a note of many words, which goes on and on, and on and on"
    change(root, '["dead"]', f'["dead"]\nnote = "{note}"')
    letter = letter_of(root, pristine)
    assert f"on and on,\n{' ' * 18}and on and on\n" in letter
    change(root, f'steps = ["dead"]\nnote = "{note}"', "fix = true")
    (root / RESULTS).unlink()
    letter = letter_of(root, pristine)
    assert "\n    1  +7 -0      a fix of what is there\n\n" in letter
    # Nothing of it was measured.
    assert "How it was measured" not in letter and "Evidence:" not in letter


def test_it_says_what_was_measured_and_how_to_repeat_it(
    root: Path, pristine: Pristine
) -> None:
    words = " ".join(letter_of(root, pristine).split())
    for said in (
        "Linux 6.12.117 with 2 CPUs, in a virtual machine: QEMU's emulator TCG",
        "executed instructions, 1 ns each, and time slept",
        "no caches in it and no contention",
        "stock is that kernel with this code in it (in the state that each table"
        " names, where it is known), switched off; lull",
        "+- is the wider side of the 95% interval, and ~ says that no difference",
        "where: fill in",
    ):
        assert said in words
    put(root / "pyproject.toml", '[project.urls]\nSource = "https://here.example"\n')
    letter = letter_of(root, pristine)
    assert "\nwhere: https://here.example\n" in letter and "fill in" not in letter


def test_stocks_own_value_stands_beside_the_ratio(
    root: Path, pristine: Pristine
) -> None:
    origin = {"command": "lull run all", "created": "2026-11-25T1", "commit": "a" * 40}
    put((root / RESULTS).with_suffix(".origin.json"), json.dumps(origin))
    letter = letter_of(root, pristine)
    # Nobody has kept the history.
    known = "and whether this code was the same is not known: lull run all case, metric"
    said = f"What it brings 2026-11-25, {'a' * 10} of the project, {known}"
    assert said in " ".join(letter.split())
    assert "\nload\n  time                             2.00us  0.500 +-20%\n" in letter
    assert "\n  time: t\n" in letter


def test_of_figures_without_an_origin_the_command_repeats_them(
    root: Path, pristine: Pristine
) -> None:
    letter = letter_of(root, pristine)
    said = "Of which run, day and state of this code these are, nobody wrote down."
    assert f"\n{said} To\nrepeat them:\n  lull run freeze --base 6.12" in letter
    assert letter.count("nobody wrote down") == 1


@pytest.mark.parametrize("file", ["kernel/kernel/lull_near.h", f"hooks/{BASE}/x"])
def test_figures_that_are_older_than_the_code_say_so(
    root: Path, pristine: Pristine, file: str
) -> None:
    keep_steps(root, share("dead", 0.8, 0.7, 0.9))
    git(root, "init", "-q")
    before = committed(root, "features")
    origin_of(root, RESULTS, before)
    origin_of(root, STEPS, before)
    # Neither a word beside the code nor another feature's code is this code.
    put(root / "features/freeze/README.md", "More.\n")
    put(root / "features/thaw/kernel/kernel/lull/thaw/more.c", "int more;\n")
    same = committed(root, "features")
    letter = letter_of(root, pristine)
    assert f"\n2026-11-25, {before[:10]} of the project:\n  lull run all" in letter
    assert "earlier" not in letter and "in the state" not in letter
    changed = root / "features/freeze" / file
    put(changed, (changed.read_text() if changed.is_file() else "") + "\n")
    last = committed(root, "features")
    origin_of(root, STEPS, last)
    words = " ".join(letter_of(root, pristine).split())
    assert (
        f"2026-11-25, of an earlier state of this code: {before[:10]} of the project,"
        f" and {last[:10]} has changed it since: lull run all"
    ) in words
    assert f"2026-11-25, {last[:10]} of the project: lull run all" in words
    assert same not in words and "with this code in it (in the state that" in words


@pytest.mark.parametrize("commit", ["", "{}-dirty", "0" * 40])
def test_of_a_commit_that_is_not_there_nothing_is_known(
    root: Path, commit: str
) -> None:
    git(root, "init", "-q")
    commit = commit.format(committed(root, "features"))
    assert changed_since(commit, ["features"], root) is None


def test_without_figures_it_is_refused(root: Path, pristine: Pristine) -> None:
    """No letter has a place that is left empty for them."""
    put(root / RESULTS, json.dumps(summary(base="6.1")))
    with pytest.raises(UsageError, match=r"no figures of freeze on 6\.12") as caught:
        letter_of(root, pristine)
    assert "lull run freeze --base 6.12 --clock insn" in caught.value.hint
    put(root / RESULTS, "{}")
    with pytest.raises(LullError, match="not a summary"):
        letter_of(root, pristine)
