# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.model import Arm, Row
from lull.page.noise import Noise, noise, times
from lull.page.phrases import LONGEST, chance, clean, factor, tone
from tests.page.runs import HOSTILE


@pytest.mark.parametrize(
    ("unit", "ratio", "want"),
    [
        ("ns", 0.035, ("28.6x", "faster")),
        ("ns", 0.5, ("2x", "faster")),
        ("ns", 0.711, ("29%", "less time")),
        ("ns", 0.9951, ("0.49%", "less time")),
        ("ns", 1.25, ("25%", "more time")),
        ("ns", 3.0, ("3x", "slower")),
        ("/s", 3.0, ("3x", "as many")),
        ("/s", 1.25, ("25%", "more")),
        ("/s", 0.8, ("20%", "fewer")),
        ("ns", 0.001, ("1.00kx", "faster")),
        ("ns", 0.0, ("0", "of stock")),
    ],
)
def test_a_ratio_in_words(unit: str, ratio: float, want: tuple[str, str]) -> None:
    assert factor(unit, ratio) == want


@pytest.mark.parametrize(
    ("unit", "ratio", "shown", "want"),
    [
        ("ns", 0.5, True, "better"),
        ("ns", 2.0, True, "worse"),
        ("/s", 2.0, True, "better"),
        ("/s", 0.5, True, "worse"),
        # Of tasks and bytes nobody can say which way is better.
        ("tasks", 0.5, True, "other"),
        ("ns", None, True, "other"),
        ("ns", 0.5, False, "same"),
    ],
)
def test_the_tone_of_a_figure(
    unit: str, ratio: float | None, shown: bool, want: str
) -> None:
    assert tone(unit, ratio, shown) == want


def test_a_chance_is_never_nothing() -> None:
    assert chance(0.03125) == "p = 0.031"
    assert chance(1e-9) == "p < 0.0001"
    assert chance(None) == ""


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_a_name_is_one_line_of_harmless_letters(text: str) -> None:
    found = clean(text)
    assert len(found) <= LONGEST
    assert not [c for c in found if unicodedata.category(c)[0] == "C"]
    found.encode()  # No half of a pair.


def test_a_long_name_says_that_it_goes_on() -> None:
    assert clean("x" * 10_000) == "x" * (LONGEST - 1) + "…"
    assert clean("short") == "short"


def row(ratio_ci95: tuple[float, float] | None) -> Row:
    return Row(
        feature="walk",
        workload="zombies",
        metric="total",
        unit="ns",
        params={},
        mode="stock",
        arm=Arm.STOCK,
        n=6,
        median=1.0,
        ci95=None,
        ratio=1.0,
        ratio_ci95=ratio_ci95,
    )


def test_with_a_control_its_interval_is_the_noise() -> None:
    found = noise(row((0.98, 1.01)), [1.0, 2.0, 3.0, 4.0])
    assert found is not None and found.control
    # 0.98 is farther from 1 than 1.01, by log.
    assert found.log == pytest.approx(-math.log(0.98))
    assert found.severity(0.98**3) == pytest.approx(3)
    assert "untouched" in found.text


def test_without_one_halves_of_stock_are_by_hand() -> None:
    # {1, 1} and {2, 2} are 2 apart in 2 of the 6 ways, the same in 4.
    found = noise(None, [1.0, 1.0, 2.0, 2.0])
    assert found is not None and not found.control
    assert found.log == pytest.approx(math.log(2))
    assert "halves" in found.text
    assert noise(None, [1.0, 2.0, 3.0]) is None
    assert noise(None, [0.0, 2.0, 3.0, 4.0]) is None
    assert noise(row(None), []) is None


@pytest.mark.parametrize(
    ("log", "want"), [(math.log(2.55), "155%"), (math.log(1.0042), "0.42%")]
)
def test_noise_is_a_percentage_at_any_size(log: float, want: str) -> None:
    text = Noise(log, control=False).text
    assert text == f"\N{PLUS-MINUS SIGN}{want} (halves of stock)"


def test_the_same_values_have_the_same_noise() -> None:
    values = [float(i * i % 17 + 20) for i in range(24)]
    assert noise(None, values) == noise(None, values)


@pytest.mark.parametrize(
    ("log", "ratio", "want"),
    [
        (math.log(2), 0.25, "2.0x"),
        (math.log(1.01), 0.5, "70x"),
        (0.0, 0.5, ">1000x"),
        (0.0, 1.0, "0.0x"),
        (0.1, None, "-"),
        (0.1, 0.0, "-"),
    ],
)
def test_a_change_in_units_of_noise(log: float, ratio: float | None, want: str) -> None:
    assert times(Noise(log, control=True).severity(ratio)) == want
