# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from lull.cli import app
from lull.errors import LabError
from lull.model import Arm, Clock, Feature, Known, Row, Sample, Summary, Value
from lull.report.promises import points_of
from lull.report.summary import (
    case_name,
    schema,
    schema_text,
    shown_params,
    summarise,
    to_json,
)
from lull.runs.experiment import RunResult
from tests import synthetic

SCHEMA = Path(__file__).parents[2] / "lull" / "schema" / "summary.json"


def control_too() -> list[Sample]:
    return synthetic.samples() + synthetic.samples(range(4), arm=Arm.STOCK)


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return control_too()


@pytest.fixture(scope="module")
def summary(samples: list[Sample]) -> Summary:
    return summarise([synthetic.feature()], samples, synthetic.meta())


def rows(summary: Summary) -> Mapping[tuple[str, str, str, Arm], Row]:
    return {(r.workload, r.metric, r.mode, r.arm): r for r in summary.rows}


def test_the_checked_in_schema_is_the_models() -> None:
    assert SCHEMA.read_text() == schema_text(), "python -m lull.report.summary > it"


def test_a_real_summary_satisfies_the_schema(summary: Summary) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    item = json.loads(to_json(summary))
    assert item["schema"] == 1
    jsonschema.validate(item, json.loads(SCHEMA.read_text()))
    wrong: list[dict[str, object]]
    wrong = [{"schema": 2}, {"rows": [{}]}, {"clock": "sundial"}, {"x": 1}]
    for broken in wrong:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**item, **broken}, schema())


def test_a_summary_survives_its_file(summary: Summary) -> None:
    assert Summary.model_validate_json(to_json(summary)) == summary


def test_a_row_is_over_seeds_and_its_ratio_is_to_stock(summary: Summary) -> None:
    row = rows(summary)["zombies", "total", "lull", Arm.LULL]
    assert row.n == 6  # and not 12 rounds
    assert row.params == {"zombies": 30000}
    assert row.unit == "ns"
    assert row.median == pytest.approx(40 * 30000, rel=0.02)
    assert row.ratio == pytest.approx(0.1, rel=0.03)
    assert row.p == pytest.approx(2 / 64)
    assert row.ratio_ci95 is not None and row.ratio_ci95[1] < 0.11
    stock = rows(summary)["zombies", "total", "stock", Arm.LULL]
    assert (stock.ratio, stock.p) == (None, None)


def test_on_wall_n_counts_blocks(samples: list[Sample]) -> None:
    wall = summarise([synthetic.feature()], samples, synthetic.meta(Clock.WALL))
    assert rows(wall)["sleepers", "total", "lull", Arm.LULL].n == 12


def test_rows_come_in_the_order_of_the_file(summary: Summary) -> None:
    found = [(r.workload, r.metric, r.mode) for r in summary.rows if r.arm is Arm.LULL]
    modes = ("stock", "quick", "lull")
    assert found == [
        (workload, metric, mode)
        for workload in ("zombies", "sleepers")
        for metric in ("total", "visited")
        for mode in modes
    ]


def test_expectations_are_held_against_what_was_measured(summary: Summary) -> None:
    lull, control = summary.expectations
    assert lull.text == "total lull <= 0.125 of stock at 30000 zombies"
    assert lull.ok
    assert lull.measured == rows(summary)["zombies", "total", "lull", Arm.LULL].ratio
    assert lull.aim == 0.08
    assert control.ok
    assert control.text == (
        "total stock >= 0.99 and <= 1.01 of the untouched kernel at 30000 zombies"
    )
    assert control.measured == pytest.approx(1.0, abs=0.01)
    assert summary.ok


def test_a_missed_expectation_is_not_ok() -> None:
    cost = {**synthetic.COST, "lull": 60.0}
    made = summarise(
        [synthetic.feature()],
        synthetic.samples(cost=cost),
        synthetic.meta(control=False),
    )
    (lull,) = made.expectations
    assert not lull.ok
    assert not made.ok
    assert lull.measured == pytest.approx(0.15, rel=0.02)


def test_one_that_is_known_not_to_be_kept_fails_nothing() -> None:
    walk = synthetic.feature()
    known = walk.expectations[0].model_copy(
        update={"unkept": Known(why="it is slow there", max=0.2)}
    )
    there = walk.model_copy(update={"expectations": (known,)})

    def made(lull: float) -> tuple[bool, bool, str]:
        cost = {**synthetic.COST, "lull": lull}
        meta = synthetic.meta(control=False)
        found = summarise([there], synthetic.samples(cost=cost), meta)
        (promise,) = found.expectations
        return found.ok, promise.ok, promise.unkept

    assert made(60.0) == (True, False, "it is slow there")
    assert made(90.0) == (False, False, "")
    assert made(synthetic.COST["lull"]) == (True, True, "")
    # What was not measured was not seen to be as it is known.
    nothing = summarise([there], [], synthetic.meta(control=False))
    assert not nothing.ok and nothing.expectations[0].broken


def test_the_control_notices_a_kernel_that_became_slower() -> None:
    slow = {**synthetic.COST, "stock": 400.0 * 1.02}
    samples = synthetic.samples(cost=slow, noise=0)
    samples += synthetic.samples(range(4), arm=Arm.STOCK, noise=0)
    made = summarise([synthetic.feature()], samples, synthetic.meta())
    control = made.expectations[1]
    assert control.measured == pytest.approx(1.02)
    assert not control.ok
    # The row is read the other way round: untouched to mode stock.
    row = rows(made)["zombies", "total", "stock", Arm.STOCK]
    assert row.ratio == pytest.approx(1 / 1.02)


def test_the_control_is_broken_by_a_difference_that_is_shown() -> None:
    # Boots of either kernel are 4% apart, and the medians by chance 2%.
    def boots(arm: Arm, costs: Sequence[float]) -> list[Sample]:
        return [
            sample
            for seed, cost in enumerate(costs)
            for sample in synthetic.samples(
                [seed], cost={**synthetic.COST, "stock": cost}, arm=arm, noise=0
            )
        ]

    untouched = boots(Arm.STOCK, [396, 392, 408, 392, 408, 396])
    made = summarise(
        [synthetic.feature()],
        [*boots(Arm.LULL, [404, 392, 408, 404, 408, 404]), *untouched],
        synthetic.meta(),
    )
    control = made.expectations[1]
    assert control.measured == pytest.approx(1.02, abs=0.005)
    assert control.ok and control.text.endswith(": no difference shown")
    made = summarise(
        [synthetic.feature()],
        [*boots(Arm.LULL, [412, 412, 412, 412, 412, 416]), *untouched],
        synthetic.meta(),
    )
    assert not made.expectations[1].ok


def test_the_control_compares_the_seeds_that_both_kernels_ran() -> None:
    samples = synthetic.samples(range(4), noise=0)
    samples += [
        sample.model_copy(update={"metrics": {"total": 1.0}})
        for sample in synthetic.samples(range(4, 20), noise=0)
    ]
    samples += synthetic.samples(range(4), arm=Arm.STOCK, noise=0)
    made = summarise([synthetic.feature()], samples, synthetic.meta())
    assert made.expectations[1].measured == pytest.approx(1.0)


def test_what_was_not_measured_is_not_ok_and_says_so() -> None:
    made = summarise([synthetic.feature()], [], synthetic.meta())
    assert [v.ok for v in made.expectations] == [False, False]
    assert all("not measured" in v.text for v in made.expectations)
    assert not made.ok


def test_an_absolute_expectation_bounds_the_median_itself() -> None:
    feature = synthetic.feature()
    item = feature.expectations[0].model_copy(
        update={"absolute": True, "max": 1_210_000.0}
    )
    feature = feature.model_copy(update={"expectations": (item,)})
    samples = synthetic.samples(range(4), noise=0)
    (verdict,) = summarise([feature], samples, synthetic.meta()).expectations
    assert verdict.measured == pytest.approx(40 * 30000, rel=0.01)
    assert verdict.ok
    assert "of stock" not in verdict.text
    assert "<= 1.21e+06 at" in verdict.text


def expecting(**update: object) -> Feature:
    """The made-up feature, of whose expectations there is one, changed."""
    feature = synthetic.feature()
    item = feature.expectations[0].model_copy(update=update)
    return feature.model_copy(update={"expectations": (item,)})


@pytest.mark.parametrize(
    ("seeds", "update", "ok"),
    [
        (6, {}, True),
        # Three against three can show nothing.
        (3, {}, False),
        # No more is promised than that it is not worse.
        (3, {"max": 1.0}, True),
        (3, {"max": 5e6, "absolute": True}, True),
    ],
)
def test_a_promised_difference_has_to_be_shown(
    seeds: int, update: dict[str, object], ok: bool
) -> None:
    samples = synthetic.samples(range(seeds), noise=0)
    (verdict,) = summarise(
        [expecting(**update)], samples, synthetic.meta()
    ).expectations
    assert verdict.ok is ok
    assert verdict.text.endswith(": no difference shown") is not ok
    (point,) = points_of(summarise([expecting(**update)], samples, synthetic.meta()))
    assert "no difference shown" not in point.subtests[0].name
    assert ("no difference shown" in str(point.subtests[0].diagnostics)) is not ok


@pytest.mark.parametrize(
    ("mode", "measured", "ok"), [("lull", 0.2, True), ("stock", 2.0, False)]
)
def test_an_expectation_may_compare_with_another_mode(
    mode: str, measured: float, ok: bool
) -> None:
    feature = expecting(mode=mode, to="quick", max=0.25)
    made = summarise([feature], synthetic.samples(noise=0), synthetic.meta())
    (verdict,) = made.expectations
    assert verdict.text == f"total {mode} <= 0.25 of quick at 30000 zombies"
    assert verdict.measured == pytest.approx(measured)
    assert verdict.ok is ok
    # A row's is to stock all the same.
    row = rows(made)["zombies", "total", "lull", Arm.LULL]
    assert row.ratio == pytest.approx(0.1)


def test_the_other_mode_has_to_be_measured() -> None:
    feature = expecting(to="quick")
    without = [s for s in synthetic.samples() if s.mode != "quick"]
    (verdict,) = summarise([feature], without, synthetic.meta()).expectations
    assert not verdict.ok
    assert "not measured" in verdict.text
    # A run that leaves it out expects nothing of it.
    for modes, count in ((["lull"], 0), (["quick"], 0), (["lull", "quick"], 1)):
        made = summarise([feature], without, synthetic.meta(modes=modes))
        assert len(made.expectations) == count


@pytest.mark.parametrize(
    ("bound", "odd", "text"),
    [({"max": 0.0}, 3.0, "<= 0"), ({"max": None, "min": 0.0}, -3.0, ">= 0")],
)
def test_every_sample_may_be_bounded(
    bound: dict[str, float | None], odd: float, text: str
) -> None:
    """One of many that is out of bounds leaves the median where it was."""
    feature = expecting(mode="stock", absolute=True, every=True, **bound)
    never = [s.model_copy(update={"metrics": {"total": 0.0}}) for s in control_too()]
    at = next(
        i
        for i, s in enumerate(never)
        if (s.workload, s.mode, s.arm) == ("zombies", "stock", Arm.LULL)
    )
    once = list(never)
    once[at] = never[at].model_copy(update={"metrics": {"total": odd}})
    for samples, worst, ok in ((never, 0.0, True), (once, odd, False)):
        (verdict,) = summarise([feature], samples, synthetic.meta()).expectations
        assert (verdict.measured, verdict.ok) == (worst, ok)
        assert verdict.text == f"total stock {text} in every sample at 30000 zombies"
    others = [
        s.model_copy(update={"metrics": {"total": odd}})
        if (s.mode, s.arm) != ("stock", Arm.LULL)
        else s
        for s in never
    ]
    (verdict,) = summarise([feature], others, synthetic.meta()).expectations
    assert verdict.ok  # they are of other modes, or of the other kernel
    (verdict,) = summarise([feature], [], synthetic.meta()).expectations
    assert not verdict.ok


def test_what_was_not_planned_is_not_expected() -> None:
    feature = synthetic.feature()

    def expected(**more: object) -> list[str]:
        clock = more.pop("clock", Clock.INSN)
        assert isinstance(clock, Clock)
        made = summarise([feature], [], synthetic.meta(clock, **more))
        return [v.text.split()[1] for v in made.expectations]

    assert expected() == ["lull", "stock"]
    assert expected(clock=Clock.WALL) == ["stock"]
    assert expected(control=False) == ["lull"]
    assert expected(modes=["quick"]) == ["stock"]
    assert expected(quick=True) == ["lull", "stock"]
    only = tuple(case for case in feature.cases if case.workload != "zombies")
    feature = feature.model_copy(update={"cases": only})
    assert expected() == []


def test_a_case_is_named_by_what_its_plan_sets() -> None:
    feature = synthetic.feature()
    full: dict[str, Value] = {"zombies": 30000, "mix": "a:1,b:1"}
    assert shown_params(feature, "zombies", full) == {"zombies": 30000}
    other: dict[str, Value] = {"zombies": 5, "mix": "a:1,b:1"}
    assert shown_params(feature, "zombies", other) == {"zombies": 5}
    assert case_name("zombies", {"zombies": 5}) == "zombies zombies=5"


def test_metrics_and_modes_that_nobody_declared_are_left_out() -> None:
    samples = [
        synthetic.sample("stock", {"total": 1.0, "round": 1.0}),
        synthetic.sample("strange", {"total": 1.0}, i=1),
    ]
    made = summarise([synthetic.feature()], samples, synthetic.meta())
    assert [(row.metric, row.mode) for row in made.rows] == [("total", "stock")]


def test_a_run_whose_json_cannot_be_written_says_where_it_is(
    summary: Summary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have taken an hour."""
    done = RunResult(summary, "", tmp_path)
    monkeypatch.setattr("lull.runs.cli.run", lambda request, progress: done)
    (tmp_path / "file").touch()
    arguments = ["run", "--json", str(tmp_path / "file" / "summary.json")]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, LabError)
    assert str(tmp_path / "summary.json") in result.exception.hint
