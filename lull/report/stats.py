# SPDX-License-Identifier: GPL-2.0-only
"""Medians, intervals and tests: the choices; the arithmetic is SciPy's.

What counts as a replicate depends on the clock. On ``insn`` a run repeats
itself exactly, so the rounds of one seed say the same thing several times:
they become one value a seed. On ``wall`` the rounds of one mirrored block
become one value, in which a linear drift cancels. Values of two modes from
the same seed or block are a pair.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Not scipy.stats: it is large, and is loaded where it is used first.
import scipy

from lull.ask.job import block_of
from lull.model import Clock, Sample

CONFIDENCE = 0.95
ALPHA = 0.05  #: below it a difference is called shown
POWER = 0.8  #: chance to see a real difference that `needs` plans for
RELEVANT = 0.01  #: smaller differences are nothing that more boots are for
MIN_PAIRS = 6  #: fewer cannot reach ALPHA in a two-sided signed-rank test
MIN_EACH = 4  #: the same for two independent groups of equal size
RESAMPLES = 9999
#: Up to this many arrangements a test with ties enumerates all of them.
EXACT = 20_000

Interval = tuple[float, float]
Key = tuple[int, int]  #: (seed, 0) on insn, (boot, block) on wall


@dataclass(frozen=True)
class Comparison:
    """A mode against its reference.

    ``ratio`` of the medians (None for a reference of 0) and its interval;
    ``p`` of ``test`` (both empty below two values a side). ``needs`` is about
    how many values a mode would show the difference seen, None where it is
    shown or too small to matter.
    """

    ratio: float | None
    ci95: Interval | None
    p: float | None
    test: str
    needs: int | None

    @property
    def significant(self) -> bool:
        """Whether the two differ."""
        return shown(self.p, self.ci95)


def shown(p: float | None, ratio_ci95: Interval | None) -> bool:
    """The one definition of a difference that is shown, for all that the lab
    prints and for its exit status: by the test, and by the ratio's interval.

    Where there is no interval, of a ratio to 0, the test alone decides.
    """
    apart = ratio_ci95 is None or not ratio_ci95[0] <= 1 <= ratio_ci95[1]
    return p is not None and p < ALPHA and apart


def replicates(
    samples: Iterable[Sample], metric: str, clock: Clock, modes: int
) -> dict[Key, float]:
    """The independent values of one mode of one case.

    ``samples`` are those of that mode, without regard to their order, and
    ``modes`` is the number of modes interleaved with it. Samples that lack
    the metric are passed over.
    """
    groups: defaultdict[Key, list[float]] = defaultdict(list)
    for sample in samples:
        if metric in sample.metrics:
            insn = clock is Clock.INSN
            place = (sample.boot, block_of(sample.i, modes))
            groups[(sample.seed, 0) if insn else place].append(sample.metrics[metric])
    return {key: median(values) for key, values in sorted(groups.items())}


def median(values: Sequence[float]) -> float:
    """The median; the mean of the middle two for an even number."""
    return float(np.median(values))


def median_ci(values: Sequence[float]) -> Interval | None:
    """95% bootstrap interval of the median; None for fewer than two values.

    Bias-corrected and accelerated (Efron 1987, Better Bootstrap Confidence
    Intervals), percentile where that is not defined; the point itself where
    all values are equal. The resampling is seeded: the same values give the
    same interval.
    """
    if len(values) < 2:
        return None
    return _bootstrap((np.asarray(values, float),), np.median, paired=False)


def compare(values: Mapping[Key, float], reference: Mapping[Key, float]) -> Comparison:
    """One mode against another of the same boots.

    Where both have the same keys in at least ``MIN_PAIRS`` places they are
    taken as pairs: Wilcoxon's signed-rank test (Biometrics Bulletin 1, 1945)
    and a paired bootstrap over the pairs. With fewer, ``compare_groups``:
    to pass over the pairing costs power, not validity, when what pairs share
    moves both the same way.
    """
    keys = [key for key in values if key in reference]
    if len(keys) < MIN_PAIRS:
        return compare_groups(list(values.values()), list(reference.values()))
    x = np.array([values[key] for key in keys])
    y = np.array([reference[key] for key in keys])
    ratio, interval = _ratio(x, y, paired=True)
    p = _wilcoxon(x - y)
    needs = None if shown(p, interval) else _needs(ratio, x - y, None)
    return Comparison(ratio, interval, p, "wilcoxon", needs)


def compare_groups(values: Sequence[float], reference: Sequence[float]) -> Comparison:
    """Two independent groups: the two-sided test of Mann and Whitney (1947)."""
    x, y = np.asarray(values, float), np.asarray(reference, float)
    if not len(x) or not len(y):
        return Comparison(None, None, None, "", None)
    ratio, interval = _ratio(x, y, paired=False)
    if min(len(x), len(y)) < 2:
        needs = MIN_EACH if _matters(ratio) else None
        return Comparison(ratio, interval, None, "", needs)
    p = _mann_whitney(x, y)
    needs = None if shown(p, interval) else _needs(ratio, x, y)
    return Comparison(ratio, interval, p, "mann-whitney", needs)


def _ratio(
    x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], *, paired: bool
) -> tuple[float | None, Interval | None]:
    below = float(np.median(y))
    if below == 0:
        return None, None
    ratio = float(np.median(x)) / below
    # A resample whose median is not of the reference's sign has no ratio.
    if min(len(x), len(y)) < 2 or float(np.min(y)) <= 0:
        return ratio, None

    def of_medians(a: Any, b: Any, axis: int = -1) -> Any:
        return np.median(a, axis=axis) / np.median(b, axis=axis)

    return ratio, _bootstrap((x, y), of_medians, paired=paired)


def _bootstrap(data: tuple[Any, ...], statistic: Any, *, paired: bool) -> Interval:
    if all(np.ptp(values) == 0 for values in data):
        point = float(statistic(*data, axis=-1))
        return point, point
    for method in ("BCa", "percentile"):
        # BCa divides by the jackknife's spread, which is 0 for many a median.
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = scipy.stats.bootstrap(
                data,
                statistic,
                paired=paired,
                vectorized=True,
                n_resamples=RESAMPLES,
                confidence_level=CONFIDENCE,
                method=method,
                rng=np.random.default_rng(0),
            ).confidence_interval
        low, high = float(found.low), float(found.high)
        if math.isfinite(low) and math.isfinite(high):
            return low, high
    raise AssertionError("a percentile of finite values is finite")


def _exact() -> scipy.stats.PermutationMethod:
    rng = np.random.default_rng(0)
    return scipy.stats.PermutationMethod(n_resamples=EXACT, rng=rng)


def _mann_whitney(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    both = np.concatenate([x, y])
    if np.ptp(both) == 0:
        return 1.0
    # With ties SciPy falls back to the normal approximation, which calls
    # three equal values against three others significant (exactly, p = 0.1).
    ties = len(np.unique(both)) < len(both)
    few = math.comb(len(both), len(x)) <= EXACT
    method: Any = _exact() if ties and few else "auto"
    return float(
        scipy.stats.mannwhitneyu(x, y, alternative="two-sided", method=method).pvalue
    )


def _wilcoxon(differences: np.ndarray[Any, Any]) -> float:
    if not np.any(differences):
        return 1.0
    sizes = np.abs(differences)
    ties = len(np.unique(sizes)) < len(sizes) or not np.all(sizes)
    method: Any = _exact() if ties and 2 ** len(sizes) <= EXACT else "auto"
    return float(scipy.stats.wilcoxon(differences, method=method).pvalue)


def _matters(ratio: float | None) -> bool:
    return ratio is None or abs(ratio - 1) >= RELEVANT


def _needs(
    ratio: float | None,
    x: np.ndarray[Any, Any],
    y: np.ndarray[Any, Any] | None,
) -> int | None:
    """About how many values a mode would make the difference seen show.

    The normal approximation for a difference of means with ALPHA and POWER,
    over 3/pi, the asymptotic relative efficiency of both rank tests for
    normal values (Lehmann, Nonparametrics, 1975). It takes the difference
    seen for the true one, which after few samples is optimistic or
    pessimistic as chance has it: hence "about". ``y`` is None for ``x`` that
    are differences of pairs.
    """
    if not _matters(ratio):
        return None
    z = float(scipy.stats.norm.isf(ALPHA / 2) + scipy.stats.norm.isf(1 - POWER))
    if y is None:
        effect, variance, least = np.mean(x), np.var(x, ddof=1), MIN_PAIRS
        have = len(x)
    else:
        effect, least = np.mean(x) - np.mean(y), MIN_EACH
        variance = np.var(x, ddof=1) + np.var(y, ddof=1)
        have = min(len(x), len(y))
    if effect == 0:
        return None
    needed = math.ceil(z**2 * float(variance) / float(effect) ** 2 * math.pi / 3)
    # Not shown with this many, so this many are not enough.
    return max(needed, least, have + 1)
