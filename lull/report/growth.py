# SPDX-License-Identifier: GPL-2.0-only
"""How a cost grows with a parameter: what one more zombie costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from lull.ask.catalog import full_params
from lull.ask.job import STOCK
from lull.model import Arm, Clock, Feature, Sample, Value
from lull.report.stats import CONFIDENCE, Interval, replicates
from lull.report.table import plain, quantity, ratio, spread, wrap


@dataclass(frozen=True)
class Slope:
    """The growth of one metric in one mode over a series of cases.

    ``slope`` is in the metric's unit for one more of ``param``, ``intercept``
    in the metric's unit; ``ci95`` is the slope's interval, None for fewer
    than three points. ``sizes`` are the values of the parameter, ascending,
    ``values`` pairs of one and a seed's or block's value of the metric there;
    ``share`` is of stock's slope, None where that does not grow.
    """

    workload: str
    metric: str
    unit: str
    param: str
    mode: str
    sizes: tuple[float, ...]
    values: tuple[tuple[float, float], ...]
    slope: float
    ci95: Interval | None
    intercept: float
    share: float | None

    @property
    def points(self) -> int:
        """How many the line goes through."""
        return len(self.values)


def fit(
    points: Sequence[tuple[float, float]],
) -> tuple[float, Interval | None, float] | None:
    """Slope, its 95% interval and intercept of a least-squares line.

    The interval is slope +- t times its standard error. None for points that
    are all at one place. Ordinary least squares (scipy.stats.linregress): the
    line's ends, which say what growth means, weigh most.
    """
    xs = [x for x, _ in points]
    if len(set(xs)) < 2:
        return None
    found = scipy.stats.linregress(xs, [y for _, y in points])
    slope = float(found.slope)
    if len(points) < 3:
        return slope, None, float(found.intercept)
    t = float(scipy.stats.t.isf((1 - CONFIDENCE) / 2, len(points) - 2))
    side = t * float(found.stderr)
    return slope, (slope - side, slope + side), float(found.intercept)


def slopes(
    feature: Feature, samples: Sequence[Sample], clock: Clock, metrics: Sequence[str]
) -> tuple[Slope, ...]:
    """The growth of each metric, for each series of cases in the samples.

    A series is the cases of a workload that differ in one numeric parameter,
    in three values of it or more: two make a line of anything.
    """
    ours = [s for s in samples if s.feature == feature.name and s.arm is Arm.LULL]
    found: list[Slope] = []
    for (workload, param), members in _series(feature, ours).items():
        for metric in metrics:
            lines: dict[str, Slope] = {}
            for mode in feature.mode_names:
                line = _slope(feature, members, workload, param, metric, mode, clock)
                if line is not None:
                    lines[mode] = line
            found += _with_share(lines)
    return tuple(found)


def render(lines: Sequence[Slope]) -> str:
    """Plain ASCII of at most 75 columns; empty for no lines."""
    text: list[str] = []
    for key in dict.fromkeys((s.workload, s.param, s.metric) for s in lines):
        group = [s for s in lines if (s.workload, s.param, s.metric) == key]
        sizes = ", ".join(f"{size:g}" for size in group[0].sizes)
        if text:
            text.append("")
        head = f"{key[2]} for one more of {key[1]}, {key[0]} at {key[1]} = {sizes}"
        text += wrap(head, "", "  ")
        text.append(f"  {'mode':12} {'slope':>9} {'95%':8} {'of stock':>9} {'at 0':>9}")
        for line in group:
            share = "" if line.mode == STOCK else ratio(line.share)
            text.append(
                f"  {line.mode:12} {quantity(line.slope, line.unit):>9}"
                f" {spread(line.slope, line.ci95):8} {share:>9}"
                f" {quantity(line.intercept, line.unit):>9}"
            )
    return plain("\n".join(text)) if text else ""


def _series(
    feature: Feature, samples: Sequence[Sample]
) -> dict[tuple[str, str], list[tuple[float, Sample]]]:
    """(workload, parameter) to pairs of its value and a sample."""
    cases: dict[str, list[tuple[dict[str, Value], Sample]]] = defaultdict(list)
    for sample in samples:
        params = full_params(feature, sample.workload, sample.params)
        cases[sample.workload].append((params, sample))
    found: dict[tuple[str, str], list[tuple[float, Sample]]] = {}
    for workload, members in cases.items():
        names = dict.fromkeys(name for params, _ in members for name in params)
        vary = [n for n in names if len({params.get(n) for params, _ in members}) > 1]
        if len(vary) != 1:
            continue
        pairs = []
        for params, sample in members:
            value = params.get(vary[0])
            if isinstance(value, int | float):
                pairs.append((float(value), sample))
        if len({value for value, _ in pairs}) >= 3:
            found[(workload, vary[0])] = pairs
    return found


def _slope(
    feature: Feature,
    members: Sequence[tuple[float, Sample]],
    workload: str,
    param: str,
    metric: str,
    mode: str,
    clock: Clock,
) -> Slope | None:
    points: list[tuple[float, float]] = []
    modes = len({sample.mode for _, sample in members})
    for size in sorted({size for size, _ in members}):
        of_mode = [s for at, s in members if at == size and s.mode == mode]
        values = replicates(of_mode, metric, clock, modes)
        points += [(size, value) for value in values.values()]
    found = fit(points)
    if found is None:
        return None
    return Slope(
        workload=workload,
        metric=metric,
        unit=feature.metrics[metric].unit if metric in feature.metrics else "",
        param=param,
        mode=mode,
        sizes=tuple(sorted({x for x, _ in points})),
        values=tuple(points),
        slope=found[0],
        ci95=found[1],
        intercept=found[2],
        share=None,
    )


def _with_share(lines: dict[str, Slope]) -> list[Slope]:
    stock = lines.get(STOCK)
    if stock is None or stock.slope <= 0:
        return list(lines.values())
    return [
        Slope(**{**vars(line), "share": line.slope / stock.slope})
        for line in lines.values()
    ]
