# SPDX-License-Identifier: GPL-2.0-only
"""How large a change is, in units of what the same case shows of nothing.

A run with the A/A control has booted an untouched kernel beside mode
``stock``: between these two nothing should differ. What the ratio of the two
may be (its 95% interval) is the case's noise. Without a control it is what
halves of stock's own values differ by: the 95th percentile over the ways to
halve them. Halves have half the values, so that this is rather too much than
too little.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from statistics import quantiles

from lull.model import Row
from lull.report.stats import MIN_EACH, median

#: Ways to halve that are looked at, all of them where there are no more.
HALVINGS = 500


@dataclass(frozen=True)
class Noise:
    """``log`` is of the largest ratio that is nothing, 0 for none seen."""

    log: float
    control: bool

    def severity(self, ratio: float | None) -> float | None:
        """The change as so many times the noise; inf where there is none.

        None for a ratio that has no size.
        """
        if ratio is None or ratio <= 0:
            return None
        change = abs(math.log(ratio))
        if self.log == 0:
            return math.inf if change else 0.0
        return change / self.log

    @property
    def text(self) -> str:
        """``+-0.4%, of the untouched kernel to stock``."""
        size = 100 * math.expm1(self.log)
        how = "untouched kernel against stock" if self.control else "halves of stock"
        digits = f"{size:.2g}" if size < 10 else f"{size:.0f}"
        return f"\N{PLUS-MINUS SIGN}{digits}% ({how})"


def noise(control: Row | None, stock: Sequence[float]) -> Noise | None:
    """Of the control's row, else of stock's values; None where neither can say."""
    if control is not None and control.ratio_ci95 and control.ratio_ci95[0] > 0:
        log = max(abs(math.log(end)) for end in control.ratio_ci95)
        return Noise(log, control=True)
    if len(stock) < MIN_EACH or min(stock) <= 0:
        return None
    found = sorted(
        abs(math.log(median(one) / median(other))) for one, other in _halves(stock)
    )
    return Noise(quantiles(found, n=20, method="inclusive")[-1], control=False)


def times(severity: float | None) -> str:
    """``12x``, ``>1000x`` where no noise was seen, ``-`` where it has no size."""
    if severity is None:
        return "-"
    if severity > 1000:
        return ">1000x"
    return f"{severity:.0f}x" if severity >= 10 else f"{severity:.1f}x"


def _halves(values: Sequence[float]) -> list[tuple[list[float], list[float]]]:
    places = range(len(values))
    half = len(values) // 2
    if math.comb(len(values), half) <= HALVINGS:
        chosen = list(islice(combinations(places, half), HALVINGS))
    else:
        rng = random.Random(0)
        chosen = [tuple(rng.sample(places, half)) for _ in range(HALVINGS)]
    return [
        ([values[i] for i in one], [values[i] for i in places if i not in one])
        for one in chosen
    ]
