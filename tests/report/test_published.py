# SPDX-License-Identifier: GPL-2.0-only
"""Somebody's table in their layout, with ours beside it."""

from __future__ import annotations

import pytest

from lull.ask.catalog import parse
from lull.errors import LabError
from lull.model import Arm, Row, Summary
from lull.report.published import render
from tests import synthetic

TABLE = """
[[published]]
title = "Test 9: dead children"
source = "a thread, some machine"
metric = "total"
columns = ["Base", "Theirs"]
rows = [
  { label = "30k", workload = "zombies", values = [15.0, 4.3] },
  { label = "50", workload = "sleepers", values = [0, 2.5] },
]
"""

PAIRS = '"zombies", metrics = ["total", "visited"], values = [15.0, 4.0, 14.0, 3.0]'


def summary(*rows: Row) -> Summary:
    return Summary(
        schema=1,
        base="6.12",
        kernel="6.12.117",
        clock="wall",
        accel="tcg",
        cpus=2,
        rows=rows,
        expectations=(),
        ok=True,
    )


def row(mode: str, median: float, arm: Arm = Arm.LULL) -> Row:
    return Row(
        feature="walk",
        workload="zombies",
        metric="total",
        unit="ns",
        params={"zombies": 30000},
        mode=mode,
        arm=arm,
        n=3,
        median=median,
        ci95=None,
    )


def test_ours_stand_below_theirs_with_the_gain_against_stock() -> None:
    feature = parse(synthetic.TOML + TABLE, "walk", where="here")
    text = render(
        summary(row("stock", 12e6), row("lull", 3e6), row("stock", 99e6, Arm.STOCK)),
        [feature],
    )
    assert text.splitlines() == [
        "Test 9: dead children, ms (a thread, some machine)",
        "              Base   Theirs",
        "here         stock    quick     lull",
        "30k           15.0      4.3",
        "              12.0        -      3.0",
        "                               4.00x",
        "50               -      2.5",
    ]


def test_of_a_score_more_is_better() -> None:
    table = TABLE.replace('metric = "total"', 'metric = "total"\nunit = "forks/s"')
    table = table.replace("4.3]", "0.016]")
    feature = parse(synthetic.TOML + table, "walk", where="here")
    text = render(summary(row("stock", 200), row("lull", 250)), [feature])
    assert (
        text.splitlines()[0]
        == "Test 9: dead children, forks/s (a thread, some machine)"
    )
    assert "30k           15.0    0.016" in text
    assert "             200.0        -    250.0" in text
    assert "1.25x" in text


def test_a_table_may_have_several_figures_for_each_mode() -> None:
    table = TABLE.replace('metric = "total"\n', 'heads = ["Down", "Up"]\n')
    table = table.replace('"zombies", values = [15.0, 4.3]', PAIRS)
    table = table.replace(
        '"sleepers", values = [0, 2.5]', PAIRS.replace("zombies", "sleepers")
    )
    feature = parse(synthetic.TOML + table, "walk", where="here")
    up = row("lull", 2e6).model_copy(update={"metric": "visited"})
    text = render(summary(row("stock", 12e6), row("lull", 3e6), up), [feature])
    assert text.splitlines()[1:7] == [
        "              Base            Theirs",
        "here         stock             quick              lull",
        "              Down       Up     Down       Up     Down       Up",
        "30k           15.0      4.0     14.0      3.0",
        "              12.0        -        -        -      3.0      2.0",
        "50            15.0      4.0     14.0      3.0",
    ]


def test_a_table_without_a_figure_of_ours_is_left_out() -> None:
    feature = parse(synthetic.TOML + TABLE, "walk", where="here")
    assert render(summary(), [feature]) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'metric = "total"\ncolumns',
            'metric = "sum"\ncolumns',
            r"published\[0\].metric",
        ),
        ("values = [15.0, 4.3]", "values = [15.0]", r"rows\[0\].values: 1 for 2"),
        ('"sleepers", v', '"sleepers", params = { sleepers = 9 }, v', "no case"),
    ],
)
def test_what_does_not_fit_is_refused(old: str, new: str, said: str) -> None:
    text = TABLE.replace(old, new)
    assert text != TABLE
    with pytest.raises(LabError, match=said):
        parse(synthetic.TOML + text, "walk", where="here")
