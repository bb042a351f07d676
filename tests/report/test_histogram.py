# SPDX-License-Identifier: GPL-2.0-only
"""Histograms from what the samples count."""

from __future__ import annotations

from lull.ask.catalog import parse
from lull.model import Arm, Sample
from lull.report.histogram import render
from tests import synthetic

FEATURE = parse('histograms = ["wait"]\n' + synthetic.TOML, "walk", where="here")


def sample(mode: str, arm: Arm = Arm.LULL, **metrics: float) -> Sample:
    return Sample(
        boot=0,
        case=0,
        seed=1,
        arm=arm,
        feature="walk",
        workload="zombies",
        params={"zombies": 30000},
        mode=mode,
        i=0,
        metrics=metrics,
    )


def test_boots_are_added_up_and_ends_left_out() -> None:
    text = render(
        [
            sample("lull", wait_h10=5, wait_h11=0, wait_h14=0),
            sample("stock", wait_h10=0, wait_h11=1, wait_h13=4, wait_h14=0),
            sample("stock", wait_h10=2, wait_h13=4, wait_p50=7),
            sample("stock", Arm.STOCK, wait_h10=99),
        ],
        [FEATURE],
    )
    assert text.splitlines() == [
        "zombies zombies=30000: how many waits took how long",
        "            from        stock         lull",
        "          1.02us            2            5",
        "          2.05us            1            -",
        "          4.10us            -            -",
        "          8.19us            8            -",
    ]


def test_there_is_none_where_nothing_is_counted() -> None:
    assert render([sample("lull", wait_p50=3)], [FEATURE]) == ""


def test_what_is_no_time_is_counted_in_its_own_unit() -> None:
    # "visited" is in tasks.
    told = parse('histograms = ["visited"]\n' + synthetic.TOML, "walk", where="here")
    text = render([sample("stock", visited_h0=3, visited_h9=1)], [told])
    lines = text.splitlines()
    assert lines[0] == "zombies zombies=30000: how many visiteds had how many tasks"
    assert lines[2].split() == ["1", "3"]
    assert lines[-1].split() == ["512", "1"]
