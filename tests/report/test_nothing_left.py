# SPDX-License-Identifier: GPL-2.0-only
"""The answer where the kernel has by itself what there was to win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from lull.model import Clock, Promise, Row, Summary
from lull.report.answer import answer
from lull.report.answer_text import LINES, WIDTH, render
from tests import synthetic
from tests.report.test_answer import FOLDERS, many, pair, promise, summary

SAID = "no more to win"
NATIVE: Mapping[str, str] = {"walk": "it walks by itself"}
Ends = tuple[float, float] | None


def there(
    ends: Ends = (0.9988, 0.9989),
    native: Mapping[str, str] = NATIVE,
    promises: Sequence[Promise] = (),
    clock: Clock = Clock.INSN,
    **more: object,
) -> Summary:
    rows: Sequence[Row] = pair(0.9989, ratio_ci95=ends, **more)
    made = summary(rows, promises, clock)
    return made.model_copy(update={"native": native})


def text(*summaries: Summary) -> str:
    return render(answer(summaries, [synthetic.feature()]), FOLDERS[:1])


def test_that_nothing_is_left_to_win_is_said_on_the_line_of_its_clock() -> None:
    said = text(there(promises=[promise()]))
    (line,) = [line for line in said.splitlines() if line.startswith("  insn  ")]
    assert line.endswith(f"[0.999, 0.999]    {SAID}, promise holds")
    assert said.count(SAID) == 1
    # It costs no line.
    without = text(there(native={}, promises=[promise()]))
    native = ["  in this kernel: it walks by itself"]
    assert len(said.splitlines()) == len(without.splitlines()) + len(native)


def test_a_clock_that_shows_otherwise_does_not_say_it() -> None:
    wall = there((0.9, 0.98), clock=Clock.WALL)
    said = text(there(), wall).splitlines()
    assert [line for line in said if SAID in line and line.startswith("  insn  ")]
    assert not [line for line in said if SAID in line and line.startswith("  wall  ")]


@pytest.mark.parametrize("native", [{}, {"run": "it runs"}, {"walk": "fast: it walks"}])
def test_it_is_not_said_where_no_part_is_the_kernels_own(
    native: Mapping[str, str],
) -> None:
    """A switch of the kernel's need not be on."""
    assert SAID not in text(there(native=native))
    assert "no difference shown" in text(there((0.999, 1.001), native=native))


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.991, 0.9989), True),
        ((0.9989, 1.009), True),
        ((0.9989, 1.011), False),
        ((0.989, 0.9989), False),
        ((0.1, 0.1), False),
        (None, False),
    ],
)
def test_both_ends_of_the_interval_are_near_stock(ends: Ends, said: bool) -> None:
    found = text(there(ends))
    assert (SAID in found) is said
    if said:
        assert "no difference shown" not in found


def test_who_breaks_a_promise_does_not_say_it() -> None:
    """What does not work is near its stock, too."""
    assert SAID not in text(there(promises=[promise(), promise(ok=False)]))
    known = promise(ok=False, unkept="the kernel does it itself")
    assert SAID in text(there(promises=[known]))


def test_the_next_command_is_not_for_where_nothing_was_won() -> None:
    feature = synthetic.feature()
    assert answer([there()], [feature]).following == "lull run walk --check"
    found = answer([there(native={})], [feature])
    assert found.following == "lull profile walk zombies --vs stock"


def test_a_screenful_of_it_fits() -> None:
    features = many(14)
    summaries = [
        there(clock=clock).model_copy(
            update={
                "native": {feature.name: "y" * 200 for feature in features},
                "rows": tuple(
                    row
                    for feature in features
                    for row in pair(0.9989, feature=feature.name)
                ),
                "expectations": tuple(promise(feature=f.name) for f in features),
            }
        )
        for clock in Clock
    ]
    said = render(answer(summaries, features), FOLDERS)
    lines = said.splitlines()
    assert SAID in said and len(lines) <= LINES and max(map(len, lines)) <= WIDTH
