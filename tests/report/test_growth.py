# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest
from scipy import stats as reference

from lull.model import Clock, Sample
from lull.report import growth
from tests import synthetic


def series(*sizes: int, jitter: float = 0.0) -> list[Sample]:
    """Stock costs 1000 ns and 400 ns a zombie, lull 500 ns and 10 ns."""
    found = []
    for case, size in enumerate(sizes):
        for seed in range(3):
            for i, (mode, at_0, each) in enumerate(
                (("stock", 1000, 400), ("lull", 500, 10))
            ):
                total = at_0 + size * (each + jitter * (seed - 1))
                found.append(
                    synthetic.sample(
                        mode,
                        {"total": total},
                        boot=seed,
                        seed=seed,
                        case=case,
                        i=i,
                        params={"zombies": size},
                    )
                )
    return found


def slopes(samples: list[Sample]) -> dict[str, growth.Slope]:
    lines = growth.slopes(synthetic.feature(), samples, Clock.INSN, ["total"])
    return {line.mode: line for line in lines}


def test_the_slope_is_the_cost_of_one_more_and_has_a_share_of_stocks() -> None:
    found = slopes(series(0, 3000, 60000))
    assert found["stock"].slope == pytest.approx(400)
    assert found["stock"].intercept == pytest.approx(1000)
    assert found["stock"].sizes == (0, 3000, 60000)
    assert found["lull"].slope == pytest.approx(10)
    assert found["lull"].share == pytest.approx(10 / 400)
    assert (found["lull"].param, found["lull"].unit) == ("zombies", "ns")


def test_the_interval_is_that_of_the_least_squares_line() -> None:
    points = [(0.0, 1.0), (1.0, 3.5), (2.0, 4.5), (3.0, 7.5)]
    found = growth.fit(points)
    assert found is not None and found[1] is not None
    want = reference.linregress([0, 1, 2, 3], [1, 3.5, 4.5, 7.5])
    # By hand: the slope is 2.05, and t with 2 degrees of freedom 4.303.
    assert found[0] == pytest.approx(2.05)
    assert found[1][0] == pytest.approx(2.05 - 4.30265 * want.stderr, rel=1e-5)
    assert found[1][1] == pytest.approx(2.05 + 4.30265 * want.stderr, rel=1e-5)


def test_a_seed_is_one_point() -> None:
    samples = series(0, 100, 200, jitter=1)
    again = [s.model_copy(update={"i": s.i + 2}) for s in samples]
    assert slopes(samples + again) == slopes(samples)
    assert slopes(samples)["lull"].points == 9


def test_two_sizes_and_two_parameters_are_no_series() -> None:
    assert slopes(series(0, 100)) == {}
    samples = series(0, 100, 200)
    mixed = [
        s.model_copy(update={"params": {**s.params, "mix": f"a:{s.params['zombies']}"}})
        for s in samples
    ]
    assert slopes(mixed) == {}


def test_points_at_one_place_have_no_slope() -> None:
    assert growth.fit([(1.0, 1.0), (1.0, 2.0)]) is None
    assert growth.fit([]) is None
    two = growth.fit([(1.0, 1.0), (2.0, 3.0)])
    assert two is not None
    assert two[0] == pytest.approx(2.0)
    assert two[1] is None


def test_a_stock_that_does_not_grow_has_no_share() -> None:
    flat = [
        s.model_copy(update={"metrics": {"total": 5.0}}) for s in series(0, 100, 200)
    ]
    assert all(line.share is None for line in slopes(flat).values())
    assert "-" in growth.render(list(slopes(flat).values()))


def test_it_prints_small() -> None:
    samples = series(0, 3000, 60000, jitter=0.1)
    text = growth.render(list(slopes(samples).values()))
    assert text == (
        "total for one more of zombies, zombies at zombies = 0, 3000, 60000\n"
        "  mode             slope 95%       of stock      at 0\n"
        "  stock            400ns +-0.1%                1.00us\n"
        "  lull            10.0ns +-1%        0.0250     500ns\n"
    )
    assert growth.render([]) == ""
