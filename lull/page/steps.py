# SPDX-License-Identifier: GPL-2.0-only
"""Steps in a series of figures, where a test of ranks finds them.

Pettitt's test (Applied Statistics 28, 1979) asks where a series is best cut in
two, by the ranks of its values; cut there, both parts are asked again (binary
segmentation). What chance it has is counted over permutations of the series
(as in Matteson and James, JASA 109, 2014), all of them where they are few: its
formula is for long series. Ranks do not see how far out a single point is, and
a part has at least ``LEAST`` points, so that no single point is a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from lull.report.stats import ALPHA, MIN_EACH, RELEVANT, median

LEAST = MIN_EACH - 1  #: points on each side of a step
SHUFFLES = 1999


@dataclass(frozen=True)
class Shift:
    """``at`` is the first point of the new level; ``ratio`` is the medians'."""

    at: int
    before: float
    after: float
    p: float

    @property
    def ratio(self) -> float | None:
        """The new level to the old one."""
        return self.after / self.before if self.before else None


def steps(values: Sequence[float]) -> tuple[Shift, ...]:
    """The steps of a series, in its order. Seeded: the same series, the same steps."""
    places = sorted(_cuts(values, 0, len(values)))
    ends = [0, *(at for at, _ in places), len(values)]
    found = []
    for i, (at, p) in enumerate(places):
        before = median(values[ends[i] : at])
        after = median(values[at : ends[i + 2]])
        step = Shift(at, before, after, p)
        if step.ratio is None or abs(step.ratio - 1) >= RELEVANT:
            found.append(step)
    return tuple(found)


def _cuts(values: Sequence[float], start: int, end: int) -> list[tuple[int, float]]:
    part = np.asarray(values[start:end], float)
    if len(part) < 2 * LEAST or np.ptp(part) == 0:
        return []
    ranks = scipy.stats.rankdata(part)
    sizes = _sizes(ranks[None, :])[0]
    at = int(np.argmax(sizes))
    rng = np.random.default_rng(0)
    shuffled = rng.permuted(np.tile(ranks, (SHUFFLES, 1)), axis=1)
    beyond = int(np.sum(_sizes(shuffled).max(axis=1) >= sizes[at] - 1e-9))
    p = (beyond + 1) / (SHUFFLES + 1)
    if p >= ALPHA:
        return []
    cut = start + LEAST + at
    return [(cut, p), *_cuts(values, start, cut), *_cuts(values, cut, end)]


def _sizes(
    ranks: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Pettitt's |U| for each allowed cut, a row a series."""
    count = ranks.shape[1]
    places = np.arange(1, count + 1)
    found = np.abs(2 * np.cumsum(ranks, axis=1) - places * (count + 1))
    return found[:, LEAST - 1 : count - LEAST]
