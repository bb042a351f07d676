# SPDX-License-Identifier: GPL-2.0-only
"""Trials of which only some cases can come out on a base."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.errors import LabError
from lull.kernels.bases import Base
from lull.proof.narrow import narrowed
from lull.proof.trial import Size, Trial, TrialCase

THERE = Base(name="7.3", package="linux", tarball="t", top="t")
ELSEWHERE = Base(name="6.12", package="linux", tarball="t", top="t")


def trial() -> Trial:
    return Trial(
        name="A",
        text="it holds",
        feature="walk",
        cases=(
            TrialCase(run="storm", modes="stock lull", params={"n": 3}),
            TrialCase(run="slow", modes="stock", times=2),
        ),
        checks={"A": 4},
    )


def place(root: Path, text: str) -> Path:
    path = root / "features" / "walk" / "bases" / "7.3.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return root


def part(what: str) -> str:
    return f'[partly.A]\nwhy = "so"\nchecks = {{ A = 2 }}\n{what}\n'


def test_a_workload_is_left_out_on_that_base_alone(tmp_path: Path) -> None:
    root = place(tmp_path, part('runs = ["slow"]'))
    there = narrowed(trial(), THERE, root)
    assert [case.run for case in there.cases] == ["storm"]
    assert there.cases[0].params == {"n": 3}
    assert there.checks == {"A": 2}
    assert there.job(Size.TEST, 1) != trial().job(Size.TEST, 1)
    assert narrowed(trial(), ELSEWHERE, root) == trial()


def test_a_mode_is_left_out_and_with_it_a_case_of_no_other(tmp_path: Path) -> None:
    there = narrowed(trial(), THERE, place(tmp_path, part('modes = ["stock"]')))
    assert [(case.run, case.modes) for case in there.cases] == [("storm", "lull")]


def test_a_case_is_left_out_that_asks_for_what_is_not_there(tmp_path: Path) -> None:
    there = narrowed(trial(), THERE, place(tmp_path, part('params = ["n"]')))
    assert [case.run for case in there.cases] == ["slow"]


@pytest.mark.parametrize(
    "what",
    ['runs = ["nap"]', 'params = ["m"]', 'modes = ["stock", "lull"]', ""],
)
def test_who_leaves_out_nothing_or_all_is_told(tmp_path: Path, what: str) -> None:
    with pytest.raises(LabError, match=r"leaves (no|every)thing out"):
        narrowed(trial(), THERE, place(tmp_path, part(what)))
