# SPDX-License-Identifier: GPL-2.0-only
"""The table of what each step brings, from samples with known costs."""

from __future__ import annotations

from lull.ask.steps import ablated
from lull.model import Clock, Feature, Sample, Summary
from lull.report.ablation import render, shares, with_shares
from lull.report.summary import summarise
from tests import synthetic
from tests.ask.test_steps import feature

#: In ns: dead brings a half alone and a fifth with the rest, kthreads nothing.
COST = {
    "stock": 400.0,
    "lull=none": 400.0,
    "lull+dead": 200.0,
    "lull+array": 100.0,
    "lull+kthreads": 100.0,
    "lull-dead": 50.0,
    "lull-array": 200.0,
    "lull-kthreads": 40.0,
    "lull": 40.0,
}


def samples(about: Feature) -> list[Sample]:
    return [
        Sample(
            boot=seed,
            seed=seed,
            case=0,
            i=i,
            feature="walk",
            workload="zombies",
            params={"zombies": 30000},
            mode=mode,
            metrics={"total": COST[mode] * (1 + 0.001 * seed)},
        )
        for seed in range(8)
        for i, mode in enumerate(about.mode_names)
    ]


def measured() -> Summary:
    about = ablated(feature())
    summary = summarise([about], samples(about), synthetic.meta())
    return with_shares(summary, [about], samples(about))


def test_what_a_step_brings_is_lull_to_all_but_it() -> None:
    found = {share.step: share for share in measured().steps}
    assert list(found) == ["dead", "array", "kthreads"]
    dead, array, kthreads = found.values()
    assert dead.ratio is not None and abs(dead.ratio - 0.8) < 1e-9
    assert array.ratio is not None and abs(array.ratio - 0.2) < 1e-9
    assert kthreads.ratio == 1 and kthreads.p is not None and kthreads.p > 0.05
    assert (kthreads.alone, kthreads.without) == ("lull+kthreads", "lull-kthreads")
    assert (kthreads.needs, array.needed_by) == (("array",), ("kthreads",))
    assert {r.mode for r in measured().rows} == set(COST)


def test_a_run_without_single_steps_has_no_shares() -> None:
    about = feature()
    plain = [s for s in samples(ablated(about)) if s.mode in ("stock", "lull")]
    assert shares(about, plain, Clock.INSN) == ()
    assert render(with_shares(measured(), [about], plain)) == ""


def test_the_table() -> None:
    text = render(measured())
    lines = text.splitlines()
    assert lines[:2] == [
        "walk: what each step of lull brings to total, zombies zombies=30000, clock",
        "insn",
    ]
    assert max(map(len, lines)) <= 75
    rows = {line[:12].strip(): line[12:].split("  ") for line in lines[2:8]}
    cells = {name: [c.strip() for c in row if c.strip()] for name, row in rows.items()}
    assert cells["step"] == ["alone", "all but it", "brings"]
    assert cells["dead"] == [
        "0.500 +-0%",
        "0.125 +-0%",
        "0.800 +-0%",
    ]
    assert cells["kthreads"][2] == "1.00 +-0% ~"
    assert cells["none of them"] == ["1.00 +-0% ~"]
    assert cells["all of them"] == ["0.100 +-0%"]
    assert "(alone is with array)" in text
    assert "(all but it is without kthreads)" in " ".join(text.split())
