# SPDX-License-Identifier: GPL-2.0-only
"""Tails as quantile curves, and growth as lines."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from lull.model import Clock, Feature, Sample
from lull.page import charts
from lull.page.cases import MeasuredCase, colour_of
from lull.page.model import Figure, Key, Table
from lull.page.phrases import amount, clean
from lull.report.compare import Run
from lull.report.growth import Slope, slopes
from lull.report.histogram import buckets
from lull.report.stats import median
from lull.report.table import quantity, ratio, spread

#: Quantiles of the table behind a curve.
QUANTILES = (0.5, 0.9, 0.99, 0.999, 0.9999)


def tails(cases: Sequence[MeasuredCase], name: str) -> tuple[Figure, ...]:
    """For each case and metric of which samples have a histogram."""
    return tuple(
        figure
        for number, case in enumerate(cases)
        for metric in case.feature.histograms
        if (figure := _tail(case, metric, f"{name}-{number}-{metric}")) is not None
    )


def quantile(found: Mapping[int, int], share: float) -> float | None:
    """The end, in ns, of the bucket that has it: it is at most so long.

    None where that many were not counted that a quantile so far out is one of
    them.
    """
    total = sum(found.values())
    if not total or total * (1 - share) < 1:
        return None
    for log, so_far in _cumulated(found):
        if so_far >= share * total:
            return float(2 ** (log + 1))
    return None


def _cumulated(found: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    logs = sorted(log for log, count in found.items() if count)
    yield from zip(logs, accumulate(found[log] for log in logs), strict=True)


def _tail(case: MeasuredCase, metric: str, name: str) -> Figure | None:
    modes = _counted(case.samples, metric)
    there = [mode for mode in case.feature.mode_names if modes.get(mode)]
    if not there:
        return None
    curves = []
    for mode in there:
        total = sum(modes[mode].values())
        points = [
            (-math.log10(max(1 - so_far / total, 1 / (2 * total))), 2.0 ** (log + 1))
            for log, so_far in _cumulated(modes[mode])
        ]
        colour = colour_of(case.feature, mode)
        curves.append(charts.Curve(mode, colour, [(0.0, points[0][1]), *points]))
    rows = []
    for mode in there:
        cells = [quantile(modes[mode], share) for share in QUANTILES]
        shown = ["-" if end is None else quantity(end, "ns") for end in cells]
        rows.append((clean(mode), str(sum(modes[mode].values())), *shown))
    heads = (
        "mode",
        "counted",
        *(f"{share:.2%}".replace(".00", "") for share in QUANTILES),
    )
    title = clean(f"{metric}, {case.title}")
    return Figure(
        id=name,
        title=title,
        about=f"Quantiles of {title} by mode, up to the longest",
        clock=case.clock,
        svg=charts.lines(curves, "ns", step=True, nines=True),
        table=Table(heads, tuple(rows), frozenset(range(1, len(heads)))),
        note="how many took at most how long; counted in powers of two",
        keys=_keys(case.feature, there),
    )


def _counted(samples: Sequence[Sample], metric: str) -> dict[str, Counter[int]]:
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for sample in samples:
        for log, count in buckets(sample, metric):
            found[sample.mode][log] += count
    return found


def growth(run: Run, feature: Feature, name: str) -> tuple[Figure, ...]:
    """A picture for each series of cases: points, and a line by mode.

    Of the metrics that something is promised of, and of the headlines'.
    """
    wanted = [e.metric for e in feature.expectations if not e.absolute]
    wanted += [headline.metric for headline in feature.headlines]
    metrics = list(dict.fromkeys(wanted))
    clock = run.summary.clock
    found = slopes(feature, run.samples, clock, metrics)
    series = dict.fromkeys((s.workload, s.param, s.metric) for s in found)
    return tuple(
        _grown(
            [s for s in found if (s.workload, s.param, s.metric) == key],
            feature,
            clock,
            f"{name}-{number}",
        )
        for number, key in enumerate(series)
    )


def _grown(group: Sequence[Slope], feature: Feature, clock: Clock, name: str) -> Figure:
    first = group[0]
    curves = []
    for line in group:
        ends = (line.sizes[0], line.sizes[-1])
        points = [(x, line.intercept + line.slope * x) for x in ends]
        middles = [
            (size, median([y for x, y in line.values if x == size]))
            for size in line.sizes
        ]
        # An axis of lengths has no room for what a line is below 0.
        points = [(x, max(0.0, y)) for x, y in points]
        curves.append(
            charts.Curve(line.mode, colour_of(feature, line.mode), points, middles)
        )
    rows = [
        (
            clean(line.mode),
            f"{clean(quantity(line.slope, line.unit))} {spread(line.slope, line.ci95)}",
            ratio(line.share) if line.share is not None else "",
            clean(amount(line.intercept, line.unit)),
        )
        for line in group
    ]
    title = clean(f"{first.metric} by {first.param}, {first.workload}")
    sizes = ", ".join(f"{size:g}" for size in first.sizes)
    return Figure(
        id=name,
        title=title,
        about=f"{title}: a line by mode",
        clock=clock,
        svg=charts.lines(curves, first.unit),
        table=Table(
            ("mode", clean(f"for one more of {first.param}"), "of stock", "at 0"),
            tuple(rows),
            frozenset((1, 2, 3)),
        ),
        note=clean(
            f"medians at {first.param} = {sizes}, and the line of least squares"
        ),
        keys=_keys(feature, [line.mode for line in group]),
    )


def _keys(feature: Feature, modes: Sequence[str]) -> tuple[Key, ...]:
    return tuple(Key(colour_of(feature, mode), clean(mode)) for mode in modes)
