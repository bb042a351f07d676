# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from lull.model import Clock
from lull.report import stats
from tests import synthetic

VALUES = [9.0, 12.0, 10.0, 11.5, 14.0, 10.5, 13.0, 9.5]


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def pairs(values: list[float]) -> dict[stats.Key, float]:
    return {(boot, 0): value for boot, value in enumerate(values)}


def test_the_median_of_an_even_number_is_the_middle_of_two() -> None:
    assert stats.median([5.0, 1.0, 100.0]) == 5.0
    assert stats.median([4.0, 1.0, 2.0, 100.0]) == 3.0


def test_the_interval_is_scipys_bootstrap() -> None:
    want = reference.bootstrap(
        (VALUES,), np.median, n_resamples=9999, rng=np.random.default_rng(0)
    ).confidence_interval
    assert stats.median_ci(VALUES) == (want.low, want.high)
    assert 9.0 <= want.low < 11.0 < want.high <= 14.0


def test_the_interval_covers_the_median_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        found = stats.median_ci(list(rng.normal(100, 10, 25)))
        assert found is not None
        hits += found[0] <= 100 <= found[1]
    assert 0.88 <= hits / 200 <= 0.99


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ([], None),
        ([3.0], None),
        ([3.0, 3.0], (3.0, 3.0)),
        ([0.0] * 9, (0.0, 0.0)),
        # BCa is not defined here, as no jackknife value differs.
        ([1.0, 1.0, 1.0, 1.0, 5.0], (1.0, 5.0)),
    ],
)
def test_degenerate_values_have_plain_intervals(
    values: list[float], want: tuple[float, float] | None
) -> None:
    assert stats.median_ci(values) == want


def test_the_same_values_give_the_same_interval() -> None:
    assert stats.median_ci(VALUES) == stats.median_ci(VALUES)


def test_two_groups_by_mann_whitney() -> None:
    other = [value * 0.5 + i * 0.01 for i, value in enumerate(VALUES)]
    found = stats.compare_groups(other, VALUES)
    want = reference.mannwhitneyu(other, VALUES, alternative="two-sided")
    assert found.p == want.pvalue
    assert found.test == "mann-whitney"
    assert found.significant
    assert found.needs is None
    assert found.ratio == pytest.approx(np.median(other) / np.median(VALUES))
    assert found.ci95 is not None and found.ratio is not None
    assert found.ci95[0] < found.ratio < found.ci95[1]


def test_four_against_four_by_hand() -> None:
    # 2 of the 70 arrangements are as far apart as this one.
    found = stats.compare_groups([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0])
    assert found.p == pytest.approx(2 / 70)
    # With ties too, where the normal approximation says 0.013.
    found = stats.compare_groups([1.0] * 4, [2.0] * 4)
    assert found.p == pytest.approx(2 / 70)
    assert (found.ratio, found.ci95) == (0.5, (0.5, 0.5))


def test_three_against_three_shows_nothing_and_needs_four() -> None:
    found = stats.compare_groups([1.0] * 3, [2.0] * 3)
    assert found.p == pytest.approx(2 / 20)
    assert not found.significant
    assert found.needs == 4


@pytest.mark.parametrize(
    ("p", "interval", "want"),
    [
        (0.01, (0.8, 0.9), True),
        (0.01, (1.1, 1.2), True),
        (0.05, (0.8, 0.9), False),
        (None, (0.8, 0.9), False),
        # A test of ranks may see what the ratio of medians does not.
        (0.01, (0.9, 1.0), False),
        (0.01, (0.9, 1.1), False),
        # Of a ratio to 0 there is no interval.
        (0.01, None, True),
        (None, None, False),
    ],
)
def test_what_is_shown_is_defined_once(
    p: float | None, interval: stats.Interval | None, want: bool
) -> None:
    assert stats.shown(p, interval) is want
    found = stats.Comparison(0.9, interval, p, "wilcoxon", None)
    assert found.significant is want


def test_six_pairs_by_wilcoxon_by_hand() -> None:
    # All six fall: 2 of the 64 signs. Between boots lies more than that.
    old = [100.0, 200.0, 300.0, 400.0, 500.0, 600.0]
    new = [value - 5 - i for i, value in enumerate(old)]
    found = stats.compare(pairs(new), pairs(old))
    assert found.test == "wilcoxon"
    assert found.p == pytest.approx(2 / 64)
    assert found.significant
    assert not stats.compare_groups(new, old).significant
    # The same with ties.
    tied = stats.compare(pairs([value - 5 for value in old]), pairs(old))
    assert tied.p == pytest.approx(2 / 64)


def test_pairs_by_scipys_wilcoxon() -> None:
    new = [v - d for v, d in zip(VALUES, [3, -1, 2, 5, 4, -0.5, 6, 7], strict=True)]
    found = stats.compare(pairs(new), pairs(VALUES))
    want = reference.wilcoxon(np.array(new) - np.array(VALUES))
    assert found.p == want.pvalue


def test_fewer_than_six_pairs_are_two_groups() -> None:
    found = stats.compare(pairs([1.0, 2.0, 3.0, 4.0, 5.0]), pairs(VALUES))
    assert found.test == "mann-whitney"


def test_the_pairing_makes_the_ratios_interval_narrow() -> None:
    old = [100.0 * 2**i for i in range(8)]
    new = [value * 0.5 for value in old]
    paired = stats.compare(pairs(new), pairs(old))
    groups = stats.compare_groups(new, old)
    assert paired.ci95 == (0.5, 0.5)
    assert groups.ci95 is not None and groups.ci95[1] > 1


def test_equal_values_are_no_difference() -> None:
    for same in ([7.0] * 3, [7.0] * 8, [7.0] * 30):
        found = stats.compare(pairs(same), pairs(same))
        assert (found.p, found.ratio, found.needs) == (1.0, 1.0, None)
        assert not found.significant


def test_nothing_and_one_value_have_no_test() -> None:
    assert stats.compare({}, pairs(VALUES)).p is None
    one = stats.compare(pairs([5.0]), pairs([10.0]))
    assert (one.ratio, one.ci95, one.p, one.needs) == (0.5, None, None, 4)


def test_a_reference_of_zero_has_no_ratio_and_still_a_test() -> None:
    found = stats.compare(pairs([1.0] * 8), pairs([0.0] * 8))
    assert (found.ratio, found.ci95) == (None, None)
    assert found.significant
    some = stats.compare(pairs(VALUES), pairs([0.0, *VALUES[1:]]))
    assert some.ratio is not None and some.ci95 is None


def test_needs_by_hand() -> None:
    # (1.96 + 0.8416)**2 * (4 + 4) / 2**2 * pi / 3 = 16.4
    found = stats.compare_groups([98.0, 100.0, 102.0], [100.0, 102.0, 104.0])
    assert found.needs == 17
    # Pairs: differences of mean 1 and variance 20: 7.849 * 20 * pi / 3 = 164.4
    differences = [5.0, -4.0, 6.0, -3.0, 4.0, -2.0]
    pair = stats.compare(pairs([10 + d for d in differences]), pairs([10.0] * 6))
    assert pair.test == "wilcoxon"
    assert pair.needs == 165


def test_needs_is_about_right() -> None:
    """With the number that it names, most runs do show the difference."""
    rng = np.random.default_rng(2)
    needs = []
    for _ in range(200):
        x, y = rng.normal(97, 5, 10), rng.normal(100, 5, 10)
        found = stats.compare_groups(list(x), list(y))
        if found.needs is not None:
            needs.append(found.needs)
    assert min(needs) > 10
    # Textbook: 2 * (1.96 + 0.84)**2 * (5 / 3)**2 * pi / 3 = 46.
    assert 15 <= np.median(needs) <= 100
    shown = sum(
        stats._mann_whitney(rng.normal(97, 5, 46), rng.normal(100, 5, 46)) < 0.05
        for _ in range(200)
    )
    assert 0.7 <= shown / 200 <= 0.9


def test_a_difference_too_small_to_matter_needs_nothing() -> None:
    other = [value * 1.001 for value in VALUES]
    found = stats.compare_groups(other, VALUES)
    assert not found.significant
    assert found.needs is None


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, 1e12]), max_size=9),
    st.lists(st.sampled_from([0.0, 1.0, 2.5, 1e12]), max_size=9),
)
def test_no_values_make_it_warn_or_raise(x: list[float], y: list[float]) -> None:
    for found in (stats.compare(pairs(x), pairs(y)), stats.compare_groups(x, y)):
        assert found.p is None or 0 <= found.p <= 1
        if found.ci95 is not None and found.ratio is not None:
            assert found.ci95[0] <= found.ci95[1]
        assert not (found.significant and found.needs)


def test_on_insn_the_rounds_of_a_seed_are_one_value() -> None:
    rounds = [
        synthetic.sample("lull", {"total": value}, boot=boot, seed=seed, i=i)
        for boot, seed, i, value in (
            (0, 7, 0, 1.0), (0, 7, 3, 2.0), (0, 7, 4, 9.0), (1, 8, 0, 5.0),
            # The same seed once more: the same thing said again.
            (2, 8, 0, 5.0),
        )
    ]  # fmt: skip
    found = stats.replicates(rounds, "total", Clock.INSN, 2)
    assert found == {(7, 0): 2.0, (8, 0): 5.0}


def test_on_wall_a_block_is_one_value() -> None:
    rounds = [
        synthetic.sample("lull", {"total": value}, boot=boot, seed=1, i=i)
        for boot, i, value in (
            (0, 0, 1.0), (0, 3, 3.0), (0, 5, 10.0), (0, 6, 20.0), (1, 2, 8.0),
        )
    ]  # fmt: skip
    found = stats.replicates(rounds, "total", Clock.WALL, 2)
    assert found == {(0, 0): 2.0, (0, 1): 15.0, (1, 0): 8.0}


def test_samples_without_the_metric_are_passed_over() -> None:
    rounds = [synthetic.sample("lull", {"other": 1.0})]
    assert stats.replicates(rounds, "total", Clock.WALL, 1) == {}
