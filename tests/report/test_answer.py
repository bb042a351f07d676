# SPDX-License-Identifier: GPL-2.0-only
"""The golden file is written anew by ``python -m tests.report.test_answer``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.ask import catalog
from lull.ask.job import plans
from lull.model import Arm, Clock, Feature, Headline, Promise, Row, Summary
from lull.report.answer import Answer, answer
from lull.report.answer_text import LINES, WIDTH, render
from lull.report.summary import summarise
from lull.report.table import render as render_table
from tests import synthetic

GOLDEN = Path(__file__).parent / "data" / "answer.txt"
FOLDERS = ("runs/20260101T000000Z-walk-insn", "runs/20260101T000001Z-walk-wall")


def golden() -> str:
    samples = synthetic.samples()
    few = synthetic.samples(range(2), noise=0.02)
    feature = synthetic.feature()
    insn = summarise([feature], samples, synthetic.meta(control=False))
    wall = summarise([feature], few, synthetic.meta(Clock.WALL, control=False))
    return render(answer([insn, wall], [feature]), FOLDERS, program=".venv/bin/lull")


def row(mode: str, median: float, **more: object) -> Row:
    fields: dict[str, object] = {
        "feature": "walk",
        "workload": "zombies",
        "metric": "total",
        "unit": "ns",
        "params": {"zombies": 30000},
        "mode": mode,
        "n": 6,
        "median": median,
        "ci95": None,
    }
    return Row.model_validate({**fields, **more})


def pair(ratio: float = 0.1, **more: object) -> list[Row]:
    about: dict[str, object] = {"ratio": ratio, "ratio_ci95": (ratio, ratio), "p": 0.03}
    about.update(more)
    base = {k: v for k, v in more.items() if k not in ("ratio_ci95", "p")}
    return [row("stock", 1e6, **base), row("lull", 1e6 * ratio, **about)]


def summary(
    rows: Sequence[Row],
    promises: Sequence[Promise] = (),
    clock: Clock = Clock.INSN,
    seeds: int = 6,
) -> Summary:
    return Summary(
        schema_=1,
        base="6.12",
        kernel="6.12.117",
        clock=clock,
        accel="tcg",
        cpus=2,
        seeds=seeds,
        rows=tuple(rows),
        expectations=tuple(promises),
        ok=all(promise.ok for promise in promises),
    )


def made(*summaries: Summary) -> Answer:
    return answer(summaries, [synthetic.feature()])


def text(*summaries: Summary) -> str:
    return render(made(*summaries), FOLDERS[:1])


def table(made: Summary) -> str:
    return render_table(made, [synthetic.feature()])


def promise(ok: bool = True, feature: str = "walk", **more: object) -> Promise:
    fields = {"feature": feature, "text": "total lull <= 0.125 of stock", "ok": ok}
    return Promise.model_validate({**fields, "measured": 0.2, **more})


def test_the_golden_answer() -> None:
    assert golden() == GOLDEN.read_text()


def test_a_promise_holds_or_is_broken_or_was_not_checked() -> None:
    assert "promise holds" in text(summary(pair(), [promise()]))
    assert "no promise was checked" in text(summary(pair(), [promise(feature="run")]))
    broken = text(summary(pair(), [promise(), promise(ok=False)]))
    assert "promise BROKEN:" in broken
    assert "total lull <= 0.125 of stock (measured 0.2)" in broken
    assert "promise holds" not in broken
    assert "lull run walk --clock insn --check" in broken
    slow = promise(ok=False, unkept="it is slow there")
    known = text(summary(pair(), [promise(), slow]))
    assert "promise not kept, as known:" in known
    assert "1 of 2: total lull <= 0.125 of stock (measured 0.2)" in known
    assert "BROKEN" not in known and "promise holds" not in known
    assert "promise BROKEN:" in text(summary(pair(), [promise(ok=False), slow]))


def test_what_a_kernel_has_itself_and_what_is_not_there_is_said() -> None:
    said = {"native": {"walk": "it walks by itself"}, "absent": {"run": "no legs"}}
    on = summary(pair()).model_copy(update=said)
    for shown in (text(on), table(on)):
        assert shown.count("\n  in this kernel: it walks by itself\n") == 1
        assert shown.count("\nrun: not on this base: no legs\n") == 1
    for shown in (text(summary(pair())), table(summary(pair()))):
        assert "in this kernel" not in shown and "not on" not in shown
    # It goes before a system does, and not before an empty line.
    lines = len(text(on).splitlines())
    tight = render(made(on), FOLDERS[:1], most=lines - 2)
    assert "in this kernel" in tight and "run: not on" in tight
    tight = render(made(on), FOLDERS[:1], most=lines - 3)
    assert "in this kernel" not in tight and "run: not on" in tight


def test_a_promise_belongs_to_its_clock() -> None:
    said = text(
        summary(pair(), [promise()]),
        summary(pair(), [promise(ok=False)], Clock.WALL),
    ).splitlines()
    assert [line for line in said if line.startswith("  insn ") and "holds" in line]
    assert [line for line in said if line.startswith("  wall ") and "BROKEN" in line]


@pytest.mark.parametrize(
    ("interval", "p"), [((0.9, 1.1), 0.03), ((0.9, 0.97), 0.05), (None, None)]
)
def test_where_nothing_is_shown_that_is_said(
    interval: tuple[float, float] | None, p: float | None
) -> None:
    made = summary(pair(0.95, ratio_ci95=interval, p=p))
    said = text(made)
    assert "no difference shown" in said
    # The table has no other idea of it.
    assert any(line.endswith("~") for line in table(made).splitlines())
    assert "no difference shown" not in text(summary(pair(0.95)))


def test_a_headline_of_one_clock_is_not_told_on_the_other() -> None:
    feature = synthetic.feature()
    (headline,) = feature.headlines
    only = headline.model_copy(update={"clock": Clock.INSN})
    feature = feature.model_copy(update={"headlines": (only,)})
    found = answer([summary(pair()), summary(pair(), clock=Clock.WALL)], [feature])
    (entry,) = found.blocks[0].entries
    assert [measured.clock for measured in entry.measured] == [Clock.INSN]


def test_a_tie_is_no_difference() -> None:
    said = text(summary(pair(1.0, p=1.0), [promise()]))
    assert "no difference shown promise holds" in " ".join(said.split())


def test_nothing_is_said_of_what_was_not_measured() -> None:
    said = text(summary([]))
    assert "walk" not in said.replace("-walk-", "")
    only = text(summary(pair(metric="visited"), [promise()]))
    assert "walk: walking tasks" in only
    assert "promise holds" in only
    assert "ratio  " not in only
    assert "wall" not in only.replace("-walk-", "")
    half = text(summary([row("stock", 1.0)]))
    assert "see the tables" in half
    assert "dead children" not in half
    assert "as it is: the mode lull was not measured." in half
    assert "with Lull" not in half and "and with Lull:" in only


def test_other_modes_do_not_appear() -> None:
    rows = [*pair(), row("quick", 5e5, ratio=0.5, ratio_ci95=(0.4, 0.6), p=0.01)]
    said = text(summary(rows))
    assert "quick" not in said.replace("--quick", "")
    assert "0.500" not in said


def test_what_a_quick_run_left_out_is_said() -> None:
    said = " ".join(text(summary(pair())).split())
    assert "on insn 1 of 2 cases with 6 of 12 seeds" in said
    assert "lull run walk --quick --clock insn --control" in said
    control = row("stock", 1e6, arm=Arm.STOCK, ratio=1.0)
    sleepers = {"workload": "sleepers", "params": {"sleepers": 50}}
    everything = [*pair(), *pair(**sleepers), control]
    said = text(summary(everything, seeds=12))
    assert "Measured:" not in said
    assert "control" not in said


def test_the_control_of_what_is_not_quick_is_in_a_whole_run() -> None:
    feature = synthetic.feature()
    cases = tuple(case.model_copy(update={"quick": False}) for case in feature.cases)
    whole = feature.model_copy(update={"cases": cases})
    found = answer([summary(pair())], [whole])
    assert found.controls == ("lull run walk --clock insn",)


def test_controls_of_quick_runs_and_of_whole_ones_are_both_said() -> None:
    walk = synthetic.feature()
    cases = tuple(case.model_copy(update={"quick": False}) for case in walk.cases)
    run = walk.model_copy(update={"name": "run", "cases": cases})
    rows = [each for name in ("walk", "run") for each in pair(feature=name)]
    found = answer([summary(rows)], [run, walk])
    assert found.controls == (
        "lull run walk --quick --clock insn --control",
        "lull run run --clock insn",
    )
    assert (
        "To run it:\n"
        "  lull run walk --quick --clock insn --control\n"
        "  lull run run --clock insn\n"
    ) in render(found)
    # Who has done what the first says is told the second.
    done = [*rows, row("stock", 1e6, arm=Arm.STOCK, ratio=1.0)]
    found = answer([summary(done)], [run, walk])
    assert found.controls == ("lull run run --clock insn",)


def test_the_next_command_says_where_the_largest_gain_is() -> None:
    feature = synthetic.feature()
    found = answer([summary(pair())], [feature])
    assert found.following == "lull profile walk zombies --vs stock"
    workload = feature.workloads["zombies"].model_copy(
        update={"params": {"zombies": 1}}
    )
    other = feature.model_copy(
        update={"workloads": {**feature.workloads, "zombies": workload}}
    )
    found = answer([summary(pair())], [other])
    assert found.following.endswith("--vs stock --param zombies=30000")


def test_where_no_profile_says_more_the_next_command_is_a_whole_run() -> None:
    feature = synthetic.feature()
    (headline,) = feature.headlines
    plain = headline.model_copy(update={"profile": False})
    feature = feature.model_copy(update={"headlines": (plain,)})
    assert answer([summary(pair())], [feature]).following == "lull run walk --check"
    assert made().following == "lull list"


def test_the_commands_are_for_the_base_that_was_measured() -> None:
    old = summary(pair()).model_copy(update={"base": "6.1"})
    found = answer([old], [synthetic.feature()])
    (control,) = found.controls
    assert control.endswith(" --control --base 6.1")
    assert found.following.endswith(" --vs stock --base 6.1")


def test_units_that_are_not_times_are_said() -> None:
    rows = [each.model_copy(update={"unit": "tasks"}) for each in pair()]
    assert "1.00M tasks" in text(summary(rows))


def test_every_feature_has_headlines_and_a_quick_run_measures_them() -> None:
    for feature in catalog.features():
        assert feature.headlines, feature.name
        for headline in feature.headlines:
            clocks = (headline.clock,) if headline.clock else tuple(Clock)
            quick = [
                case
                for clock in clocks
                for case in plans(feature, quick=True, clock=clock)
                if case.workload == headline.workload
                and catalog.full_params(feature, case.workload, case.params)
                == catalog.full_params(feature, case.workload, headline.params)
            ]
            assert quick, f"{feature.name}: {headline.text}"


def rows_of(feature: Feature, clock: Clock, quick: bool) -> list[Row]:
    """Rows as a run of the feature would have for its headlines."""
    return [
        each.model_copy(
            update={
                "feature": feature.name,
                "workload": headline.workload,
                "params": headline.params,
                "metric": headline.metric,
                "unit": feature.metrics[headline.metric].unit,
            }
        )
        for headline in feature.headlines
        if headline.clock in (None, clock)
        and any(
            case.workload == headline.workload and case.params == headline.params
            for case in plans(feature, quick=quick, clock=clock)
        )
        for each in pair(0.0123)
    ]


@pytest.mark.parametrize("quick", [True, False])
def test_all_features_fit_one_screen(quick: bool) -> None:
    known = catalog.features()
    summaries = [
        summary(
            [row for f in known for row in rows_of(f, clock, quick)],
            [promise(feature=f.name) for f in known],
            clock,
        )
        for clock in Clock
    ]
    found = answer(summaries, known)
    assert [block.feature for block in found.blocks] == [f.name for f in known]
    names = "-".join(f.name for f in known)
    folders = [f"runs/20260101T000000Z-{names}-{clock}" for clock in Clock]
    said = render(found, folders, program=".venv/bin/lull")
    assert fits(said)
    assert "more" not in said
    for feature in known:
        for headline in feature.headlines:
            assert f"{feature.name}: {headline.text}\n" in said
    controlled = {f.name for f in known if any(e.control for e in f.expectations)}
    told = {word for command in found.controls for word in command.split()}
    assert controlled == told & {f.name for f in known}


def fits(said: str) -> bool:
    lines = said.splitlines()
    return len(lines) <= LINES and max(map(len, lines)) <= WIDTH and said.isascii()


def many(count: int) -> list[Feature]:
    feature = synthetic.feature()
    (headline,) = feature.headlines
    second = Headline(
        text="y" * 60, workload="sleepers", params={"sleepers": 50}, metric="total"
    )
    whole = [case.model_copy(update={"quick": False}) for case in feature.cases]
    return [
        feature.model_copy(
            update={
                "name": f"walk{i}",
                "headlines": (headline, second)[: 1 + i % 2],
                # The control of some is in a quick run, of others it is not.
                "cases": feature.cases if i % 3 else tuple(whole),
            }
        )
        for i in range(count)
    ]


medians = st.floats(0, 1e30, allow_subnormal=False)
intervals = st.none() | st.tuples(medians, medians)


@given(data=st.data(), count=st.integers(0, 14))
def test_whatever_was_measured_fits(data: st.DataObject, count: int) -> None:
    features = many(count)
    summaries = []
    for clock in data.draw(st.sampled_from([tuple(Clock), (Clock.INSN,)])):
        rows: list[Row] = []
        promises: list[Promise] = []
        for feature in features:
            for headline in feature.headlines:
                about = {
                    "feature": feature.name,
                    "workload": headline.workload,
                    "params": headline.params,
                    "unit": data.draw(st.sampled_from(["ns", "tasks", "/s"])),
                }
                rows.append(row("stock", data.draw(medians), **about))
                rows.append(
                    row(
                        "lull",
                        data.draw(medians),
                        **about,
                        ratio=data.draw(st.none() | medians),
                        ratio_ci95=data.draw(intervals),
                        p=data.draw(st.none() | st.floats(0, 1)),
                    )
                )
            promises += [
                promise(
                    feature=feature.name,
                    ok=data.draw(st.booleans()),
                    text=data.draw(st.text("ab =", min_size=1, max_size=300)),
                    measured=data.draw(st.none() | medians),
                )
                for _ in range(data.draw(st.integers(0, 3)))
            ]
        summaries.append(summary(rows, promises, clock, data.draw(st.integers(0, 12))))
    said = render(answer(summaries, features), FOLDERS[: len(summaries)])
    assert fits(said)
    broken = [b for b in answer(summaries, features).blocks if b.broken]
    assert bool(broken) == ("BROKEN" in said)


if __name__ == "__main__":
    GOLDEN.write_text(golden())
