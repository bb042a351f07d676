# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import random

import pytest

from lull.page.steps import steps


def level(value: float, count: int, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    return [value * rng.uniform(0.99, 1.01) for _ in range(count)]


def test_a_step_is_found_at_its_first_point() -> None:
    (found,) = steps(level(100, 8) + level(120, 7, 1))
    assert found.at == 8
    assert found.ratio == pytest.approx(1.2, abs=0.02)
    assert found.p < 0.05


def test_by_hand_four_and_four() -> None:
    # 2 of the 70 arrangements of two levels are cut so well: p = 0.029.
    (found,) = steps([1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    assert found.at == 4
    assert found.p == pytest.approx(2 / 70, abs=0.015)
    # Three and three are 2 of 20.
    assert steps([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]) == ()


@pytest.mark.parametrize("at", [0, 1, 5, 10, 11])
@pytest.mark.parametrize("value", [0.0, 1e6])
def test_a_single_point_is_no_step(at: int, value: float) -> None:
    values = level(100, 12)
    values[at] = value
    assert steps(values) == ()


def test_nothing_is_found_where_nothing_is() -> None:
    assert steps([5.0] * 30) == ()
    assert steps([]) == ()
    # By chance 5 of 100 would be; these are fixed, and fewer.
    assert sum(bool(steps(level(100, 20, seed))) for seed in range(40)) <= 4


def test_two_steps_are_two() -> None:
    values = level(100, 8) + level(50, 8, 1) + level(80, 8, 2)
    assert [step.at for step in steps(values)] == [8, 16]


def test_what_is_too_small_to_matter_is_no_step() -> None:
    values = [100.0] * 10 + [100.5] * 10
    assert steps(values) == ()
    assert [s.at for s in steps([100.0] * 10 + [102.0] * 10)] == [10]


@pytest.mark.parametrize(("count", "found"), [(1, 0), (2, 0), (3, 1)])
def test_three_points_are_the_least_on_a_side(count: int, found: int) -> None:
    assert len(steps([100.0] * 12 + [200.0] * count)) == found
    assert len(steps([200.0] * count + [100.0] * 12)) == found
