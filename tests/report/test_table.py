# SPDX-License-Identifier: GPL-2.0-only
"""The golden file is written anew by ``python -m tests.report.test_table``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.model import Arm, Clock, Feature, Metric, Mode, Promise, Row, Summary
from lull.report.summary import summarise
from lull.report.table import WIDTH, number, quantity, ratio, render, spread
from tests import synthetic

GOLDEN = Path(__file__).parent / "data" / "table.txt"


def golden() -> str:
    samples = synthetic.samples()
    samples += synthetic.samples(range(4), arm=Arm.STOCK)
    feature = synthetic.feature()
    return render(summarise([feature], samples, synthetic.meta()), [feature])


def row(mode: str, median: float = 1e6, **more: object) -> Row:
    fields: dict[str, object] = {
        "feature": "walk",
        "workload": "zombies",
        "metric": "total",
        "unit": "ns",
        "params": {"zombies": 30000},
        "mode": mode,
        "n": 12,
        "median": median,
        "ci95": (median * 0.99, median * 1.01),
    }
    return Row.model_validate({**fields, **more})


def summary(
    rows: Sequence[Row],
    promises: Sequence[Promise] = (),
    clock: Clock = Clock.INSN,
    kernel: str = "6.12.117",
) -> Summary:
    return Summary(
        schema_=1,
        base="6.12",
        kernel=kernel,
        clock=clock,
        accel="tcg",
        cpus=2,
        rows=tuple(rows),
        expectations=tuple(promises),
        ok=True,
    )


def table(*rows: Row, clock: Clock = Clock.INSN) -> str:
    return render(summary(rows, clock=clock), [synthetic.feature()])


def test_the_golden_table() -> None:
    assert golden() == GOLDEN.read_text()


def test_a_significant_ratio_is_bare_and_any_other_has_a_tilde() -> None:
    text = table(
        row("stock"),
        row("quick", ratio=0.5, ratio_ci95=(0.49, 0.51), p=0.001),
        row("lull", ratio=0.98, ratio_ci95=(0.9, 1.03), p=0.3),
    )
    (line,) = [x for x in text.splitlines() if x.startswith("  ratio")]
    assert re.fullmatch(r"  ratio +0\.500 \+-2% +0\.980 \+-9% ~", line)


def test_an_unsafe_mode_is_marked_and_explained() -> None:
    text = table(row("stock"), row("quick"))
    assert "quick!" in text
    assert "! walk quick is unsafe: skips too much" in text


def test_a_missing_mode_and_metric_leave_a_dash() -> None:
    text = table(row("stock"), row("lull"), row("lull", metric="visited", unit="tasks"))
    (line,) = [x for x in text.splitlines() if x.startswith("visited")]
    assert line.split()[1] == "-"
    assert "(tasks)" in text


def test_weak_rows_say_how_many_they_need() -> None:
    text = table(row("stock"), row("lull", ratio=0.9, p=0.2, needs=40))
    assert "~ underpowered: needs about: total lull 40 (has 12)" in text
    assert "underpowered" not in table(row("stock"), row("lull", ratio=0.9, p=0.01))


def test_too_few_for_any_test_is_said() -> None:
    said = "no test can give p < 0.05"
    assert said in table(row("stock", n=3))
    assert said not in table(row("stock", n=4))


def test_every_clock_has_its_caveat() -> None:
    insn = " ".join(table(row("stock")).split())
    assert "not see cache misses, nor real parallelism" in insn
    wall = table(row("stock"), clock=Clock.WALL)
    assert "the guest is emulated" in wall
    assert "cache misses" not in wall


def test_expectations_say_what_was_measured() -> None:
    promises = [
        Promise(text="a lull <= 0.1 of stock", ok=True, measured=0.09, aim=0.05),
        Promise(text="b lull <= 0.1 of stock", ok=False, measured=0.2, aim=0.3),
        Promise(text="c lull: not measured", ok=False, measured=None),
        Promise(text="d lull", ok=False, measured=0.2, unkept="it is slow there"),
    ]
    text = render(summary([], promises), [])
    assert "  ok      a lull <= 0.1 of stock\n" in text
    assert "          measured 0.09; aim 0.05 not reached\n" in text
    assert "  MISSED  b lull" in text
    assert "measured 0.2; aim 0.3 reached" in text
    assert "  MISSED  c lull: not measured\n  unkept  d lull\n" in text
    assert "measured 0.2\n          known: it is slow there\n\n" in text


def test_the_control_reads_as_the_cost_of_having_it_compiled_in() -> None:
    stock = row("stock", arm=Arm.STOCK, ratio=0.5, ratio_ci95=(0.4, 0.8), p=0.01, n=4)
    text = table(row("stock"), stock)
    assert "  zombies zombies=30000 total: 2.0000 [1.2500, 2.5000] excludes 1" in text
    assert text.count("1.00ms") == 1  # its median is no cell


def test_a_control_whose_interval_excludes_1_says_so_and_no_other() -> None:
    def control(low: float, high: float) -> str:
        ratio = (low + high) / 2
        arm = row("stock", arm=Arm.STOCK, ratio=ratio, ratio_ci95=(low, high))
        (line,) = [x for x in table(row("stock"), arm).splitlines() if "total: " in x]
        return line

    assert "[0.9901, 0.9990] excludes 1" in control(1.001, 1.01)
    assert "[1.0010, 1.0101] excludes 1" in control(0.99, 0.999)
    for low, high in ((0.99, 1.01), (1.0, 1.01), (0.99, 1.0)):
        assert "excludes" not in control(low, high)


def test_the_thread_table_is_not_in_it() -> None:
    assert "walk" not in table(row("stock", workload="thread-table"))


def test_nothing_is_printed_of_what_was_not_measured() -> None:
    text = table()
    assert "walking tasks" not in text
    assert "measured" not in text


@pytest.mark.parametrize(
    ("value", "unit", "want"),
    [
        (0.0, "ns", "0s"),
        (7.0, "ns", "7.00ns"),
        (999.4, "ns", "999ns"),
        (999.6, "ns", "1.00us"),
        (12_345.0, "ns", "12.3us"),
        (5.6e6, "ns", "5.60ms"),
        (47e9, "ns", "47.0s"),
        (1.5e13, "ns", "15000s"),
        (3.0, "ms", "3.00ms"),
        (0.25, "us", "250ns"),
        (30000.0, "tasks", "30.0k"),
        (12.0, "tasks", "12"),
        (0.5, "", "0.500"),
        (-2500.0, "tasks", "-2.50k"),
    ],
)
def test_quantities(value: float, unit: str, want: str) -> None:
    assert quantity(value, unit) == want


def test_ratios_keep_three_digits() -> None:
    values = [0.0, 0.00123, 0.0616, 0.5, 1.0, 12.34, 5678.0, None]
    want = ["0", "0.00123", "0.0616", "0.500", "1.00", "12.3", "5.68k", "-"]
    assert [ratio(value) for value in values] == want
    assert number(float("inf")) == "-"


@pytest.mark.parametrize(
    ("interval", "want"),
    [
        (None, ""),
        ((100.0, 100.0), "+-0%"),
        ((99.95, 100.0), "+-0.1%"),
        ((99.0, 102.0), "+-2%"),
        ((99.0, 102.1), "+-3%"),
        ((50.0, 100.0), "+-50%"),
        ((100.0, 5000.0), "+-49x"),
    ],
)
def test_a_spread_is_its_wider_side_rounded_up(
    interval: tuple[float, float] | None, want: str
) -> None:
    assert spread(100.0, interval) == want


def test_a_spread_around_next_to_nothing_is_the_side_itself() -> None:
    assert spread(0.0, (0.0, 1.5)) == "+-1.50"
    assert spread(5e-324, (0.0, 1.5)) == "+-1.50"


@pytest.mark.parametrize("metric", ["m" * 18, "m" * 24])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 9])
def test_the_widest_cells_go_on_two_lines(metric: str, count: int) -> None:
    modes = ["stock", *("m" * 11 + letter for letter in "abcdefgh")][:count]
    feature = synthetic.feature().model_copy(
        update={"modes": tuple(Mode(name=m, text="", unsafe="yes") for m in modes)}
    )
    rows = [
        row(mode, 1.23e6, metric=metric, ci95=(1, 9e9), ratio=0.00123,
            ratio_ci95=(0.001, 5), p=0.5)
        for mode in modes
    ]  # fmt: skip
    text = render(summary(rows), [feature])
    assert max(map(len, text.splitlines())) <= WIDTH
    assert text.count("1.23ms") == text.count("0.00123") == count


SIZES = st.floats(0, 1e15) | st.sampled_from([0.0, 1.0, 999.5, 123456.0])
NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,11}", fullmatch=True)
ANYTHING = st.text(max_size=90)


@st.composite
def features(draw: st.DrawFn) -> tuple[Feature, Summary]:
    names = draw(st.lists(NAMES, max_size=5, unique=True).map(lambda x: ["stock", *x]))
    metrics = draw(
        st.lists(st.from_regex(r"[a-z_]{1,24}", fullmatch=True), min_size=1, max_size=3)
    )
    unit = draw(st.sampled_from(["ns", "tasks", ""]))
    feature = Feature(
        name="walk",
        title=draw(ANYTHING),
        modes=tuple(
            Mode(name=name, text="", unsafe=draw(st.just("") | ANYTHING))
            for name in dict.fromkeys(names)
        ),
        metrics={name: Metric(unit=unit, text="") for name in metrics},
        workloads={},
    )
    rows = [
        row(
            mode,
            middle,
            metric=metric,
            unit=unit,
            workload=draw(st.sampled_from(["zombies", "sleepers"])),
            params={"mix": draw(ANYTHING)},
            arm=draw(st.sampled_from([Arm.LULL, Arm.STOCK])),
            ci95=draw(st.none() | st.just((middle * 0.5, middle * 30))),
            ratio=draw(st.none() | SIZES),
            ratio_ci95=draw(st.none() | st.tuples(SIZES, SIZES).map(sorted)),
            p=draw(st.none() | st.floats(0, 1)),
            needs=draw(st.none() | st.integers(1, 10**9)),
        )
        for metric in feature.metrics
        for mode in feature.mode_names
        for middle in [draw(SIZES)]
    ]
    promises = [Promise(text=draw(ANYTHING), ok=False, measured=draw(SIZES), aim=0.1)]
    clock = draw(st.sampled_from(list(Clock)))
    return feature, summary(rows, promises, clock, kernel=draw(ANYTHING))


@given(features())
def test_no_line_is_wider_than_a_mail_or_not_plain(
    made: tuple[Feature, Summary],
) -> None:
    text = render(made[1], [made[0]])
    for line in text.split("\n"):
        assert len(line) <= WIDTH
        assert line.isascii() and "\t" not in line and line == line.rstrip()
        assert line.isprintable()


if __name__ == "__main__":
    GOLDEN.write_text(golden())
