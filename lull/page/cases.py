# SPDX-License-Identifier: GPL-2.0-only
"""The cases of a run: every sample as a dot, and the figures behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lull.ask.job import STOCK
from lull.model import LULL, Arm, Clock, Feature, Row, Sample
from lull.page import charts
from lull.page.model import CaseView, Figure, Table
from lull.page.noise import Noise, noise, times
from lull.page.phrases import amount, chance, clean, good, interval, tone
from lull.report.compare import Run
from lull.report.stats import RELEVANT, replicates
from lull.report.summary import CaseKey, case_key, case_name, shown
from lull.report.table import ratio


@dataclass(frozen=True)
class MeasuredCase:
    """What one run has of one case: rows as in its summary, and its samples."""

    feature: Feature
    clock: Clock
    key: CaseKey
    rows: tuple[Row, ...]
    samples: tuple[Sample, ...]

    @property
    def title(self) -> str:
        """``zombies zombies=30000``."""
        return case_name(self.rows[0].workload, self.rows[0].params)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those that the Lull kernel has, in the summary's order."""
        return tuple(dict.fromkeys(r.metric for r in self.rows if r.arm is Arm.LULL))

    def of(self, metric: str) -> dict[str, Row]:
        """A row a mode, of the Lull kernel."""
        return {
            row.mode: row
            for row in self.rows
            if row.metric == metric and row.arm is Arm.LULL
        }

    def values(self, metric: str, mode: str) -> list[float]:
        """Of all samples, in the order in which they were taken."""
        return [
            sample.metrics[metric]
            for sample in self.samples
            if sample.mode == mode and metric in sample.metrics
        ]

    def noise(self, metric: str) -> Noise | None:
        """What this case shows of nothing."""
        control = next(
            (r for r in self.rows if r.metric == metric and r.arm is Arm.STOCK), None
        )
        return noise(control, list(self.replicates(metric, STOCK).values()))

    def replicates(self, metric: str, mode: str) -> dict[tuple[int, int], float]:
        """A mode's independent values, as ``lull.report.stats`` takes them."""
        modes = len({sample.mode for sample in self.samples})
        mine = (sample for sample in self.samples if sample.mode == mode)
        return replicates(mine, metric, self.clock, modes)


def cases_of(run: Run, feature: Feature) -> tuple[MeasuredCase, ...]:
    """The feature's cases, in the order of the run's summary."""
    samples: defaultdict[CaseKey, list[Sample]] = defaultdict(list)
    for sample in run.samples:
        if sample.feature == feature.name and sample.arm is Arm.LULL:
            samples[case_key(feature, sample.workload, sample.params)].append(sample)
    rows: defaultdict[CaseKey, list[Row]] = defaultdict(list)
    for row in run.summary.rows:
        if row.feature == feature.name:
            rows[case_key(feature, row.workload, row.params)].append(row)
    clock = run.summary.clock
    return tuple(
        MeasuredCase(feature, clock, key, tuple(found), tuple(samples[key]))
        for key, found in rows.items()
        if any(row.arm is Arm.LULL for row in found)
    )


def view(
    case: MeasuredCase, first: Sequence[str], name: str, headline: bool
) -> CaseView:
    """The case as the page has it. ``first`` are the metrics that count most,
    ``headline`` is that one is about it."""
    about = case.feature.metrics
    side = [m for m in case.metrics if m in about and about[m].supporting]
    main = [m for m in case.metrics if m not in side]
    main.sort(key=lambda metric: metric not in first)
    figures = [
        (any(shown(row) for row in case.of(metric).values()), metric, i)
        for i, metric in enumerate(main)
    ]
    drawn = {metric: _figure(case, metric, f"{name}-{i}") for _, metric, i in figures}
    found = case.noise(main[0]) if main else None
    told = [drawn[m] for there, m, _ in figures if there and drawn[m].verdict]
    return CaseView(
        id=name,
        title=clean(case.title),
        clock=case.clock,
        noise=f"A/A noise of {clean(main[0])}: {found.text}" if found else "",
        shown=tuple(drawn[metric] for there, metric, _ in figures if there),
        quiet=tuple(drawn[metric] for there, metric, _ in figures if not there),
        supporting=_supporting(case, side) if side else None,
        brief=f"{told[0].title}: {told[0].verdict}" if told else "no difference shown",
        tone=told[0].tone if told else "same",
        first=headline,
    )


def _figure(case: MeasuredCase, metric: str, name: str) -> Figure:
    rows = case.of(metric)
    unit = next(iter(rows.values())).unit
    strips = [
        charts.Strip(
            row.mode,
            colour_of(case.feature, row.mode),
            case.values(metric, row.mode),
            row.median,
            row.ci95,
        )
        for row in rows.values()
    ]
    picture, note = charts.dots(strips, unit)
    known = case.feature.metrics.get(metric)
    title = f"{metric} ({unit})" if unit != "ns" else metric
    found = case.noise(metric)
    verdict, how = _verdict(rows.get(LULL), found, unit)
    said = f": {verdict}" if verdict else ""
    return Figure(
        id=name,
        title=clean(title),
        about=clean(f"{case.title}, {metric} by mode{said}", 300),
        clock=case.clock,
        svg=picture,
        table=_table(rows.values(), found, unit),
        verdict=verdict,
        tone=how,
        note="; ".join(filter(None, [clean(known.text) if known else "", note])),
    )


def _verdict(row: Row | None, found: Noise | None, unit: str) -> tuple[str, str]:
    """On Lull's mode, in words and its tone; empty for what has no ratio."""
    if row is None or row.ratio is None:
        return "", ""
    text = f"lull is {ratio(row.ratio)} of stock"
    if row.ratio_ci95:
        text += f" [{interval(row.ratio_ci95)}]"
    if not shown(row):
        return f"{text}: no difference shown", "muted"
    if found is not None:
        text += f", {times(found.severity(row.ratio))} its A/A noise"
    return text, tone(unit, row.ratio, True)


_HEADS = (
    "mode",
    "n",
    "median",
    "95% interval",
    "ratio",
    "95% interval",
    "p",
    "change / A/A noise",
)


def _table(rows: Iterable[Row], found: Noise | None, unit: str) -> Table:
    return Table(
        _HEADS,
        tuple(tuple(_cells(row, found, unit)) for row in rows),
        numeric=frozenset(range(1, len(_HEADS))),
    )


def _cells(row: Row, found: Noise | None, unit: str) -> Iterator[str]:
    yield clean(row.mode)
    yield str(row.n)
    yield clean(amount(row.median, unit))
    ends = [clean(amount(end, unit)) for end in row.ci95 or ()]
    yield " to ".join(ends)
    if row.ratio is None:
        yield from ("", "", "", "")
        return
    yield ratio(row.ratio) + ("" if shown(row) else " ~")
    yield interval(row.ratio_ci95)
    yield chance(row.p).removeprefix("p ").removeprefix("= ")
    yield times(found.severity(row.ratio)) if found else ""


def _supporting(case: MeasuredCase, metrics: Sequence[str]) -> Table:
    modes = list(dict.fromkeys(row.mode for row in case.rows if row.arm is Arm.LULL))
    lines = []
    for metric in metrics:
        rows = case.of(metric)
        cells = [
            clean(amount(rows[mode].median, rows[mode].unit)) if mode in rows else ""
            for mode in modes
        ]
        lines.append((clean(metric), *cells))
    heads = ("median of", *(clean(mode) for mode in modes))
    return Table(heads, tuple(lines), frozenset(range(1, len(heads))))


def colour_of(feature: Feature, mode: str) -> int:
    """A mode's colour: stock's and Lull's are the same in all features."""
    if mode in (STOCK, LULL):
        return (STOCK, LULL).index(mode)
    others = [name for name in feature.mode_names if name not in (STOCK, LULL)]
    return 2 + others.index(mode) if mode in others else charts.COLOURS - 1


def costs(cases: Iterable[MeasuredCase]) -> Table | None:
    """What Lull's mode makes worse, where that is shown and matters; else None."""
    lines = []
    for case in cases:
        for row in case.rows:
            if row.arm is not Arm.LULL or row.mode != LULL or row.ratio is None:
                continue
            bad = good(row.unit, row.ratio) is False
            if bad and shown(row) and abs(row.ratio - 1) >= RELEVANT:
                stock = case.of(row.metric).get(STOCK)
                found = case.noise(row.metric)
                lines.append(
                    (
                        clean(case.title),
                        clean(row.metric),
                        str(case.clock),
                        clean(amount(stock.median, row.unit)) if stock else "",
                        clean(amount(row.median, row.unit)),
                        ratio(row.ratio),
                        interval(row.ratio_ci95),
                        times(found.severity(row.ratio)) if found else "",
                    )
                )
    if not lines:
        return None
    heads = (
        "case",
        "metric",
        "clock",
        "stock",
        "lull",
        "ratio",
        "95% interval",
        "change / A/A noise",
    )
    return Table(heads, tuple(lines), frozenset(range(3, len(heads))))
