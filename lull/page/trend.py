# SPDX-License-Identifier: GPL-2.0-only
"""One metric over runs: a point a run and mode, and the steps in between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lull.ask.job import STOCK
from lull.model import LULL, Arm, Clock, Feature, Row
from lull.page import charts
from lull.page.draw import Datum, Spec, svg
from lull.page.model import Figure, Key, Table
from lull.page.phrases import amount, clean
from lull.page.steps import Shift, steps
from lull.report.compare import Run
from lull.report.summary import CaseKey, case_key, case_name
from lull.report.table import ratio

MODES = (STOCK, LULL)
_LEFT, _WIDTH, _HEIGHT = 64, 1000, 190


@dataclass(frozen=True)
class Point:
    """A run in a series: what to call it, and its row of each mode."""

    label: str
    when: str
    kernel: str
    rows: dict[str, Row]


@dataclass(frozen=True)
class Series:
    """A metric of a case on a clock, over the runs that have it."""

    title: str
    clock: Clock
    unit: str
    points: tuple[Point, ...]

    def values(self, mode: str) -> list[tuple[int, float]]:
        """Pairs of a point's place and its median in a mode."""
        return [
            (place, point.rows[mode].median)
            for place, point in enumerate(self.points)
            if mode in point.rows
        ]

    def steps(self, mode: str) -> tuple[Shift, ...]:
        """Its steps in a mode; ``at`` is the place of a point."""
        found = self.values(mode)
        return tuple(
            Shift(found[step.at][0], step.before, step.after, step.p)
            for step in steps([value for _, value in found])
        )


def series(
    runs: Iterable[Run], features: Iterable[Feature], metrics: Sequence[str] = ()
) -> tuple[Series, ...]:
    """The series of the metrics that are named, else of the headlines, in the
    order of the features; of two runs at least. By the time of the run."""
    ordered = sorted(
        runs, key=lambda run: (run.env.created if run.env else "", run.name)
    )
    found = []
    for feature in features:
        points: defaultdict[tuple[CaseKey, str, Clock], list[Point]] = defaultdict(list)
        units: dict[tuple[CaseKey, str, Clock], tuple[str, str]] = {}
        for run in ordered:
            for key, rows in _rows(run, feature, metrics).items():
                first = next(iter(rows.values()))
                name = case_name(first.workload, first.params)
                units[key] = (f"{feature.name} {name}: {first.metric}", first.unit)
                points[key].append(_point(run, rows))
        for key, there in points.items():
            title, unit = units[key]
            if len(there) > 1:
                found.append(Series(clean(title), key[2], unit, tuple(there)))
    return tuple(found)


def _rows(
    run: Run, feature: Feature, metrics: Sequence[str]
) -> dict[tuple[CaseKey, str, Clock], dict[str, Row]]:
    wanted = {
        (case_key(feature, item.workload, item.params), item.metric)
        for item in feature.headlines
    }
    found: defaultdict[tuple[CaseKey, str, Clock], dict[str, Row]] = defaultdict(dict)
    for row in run.summary.rows:
        if row.feature != feature.name or row.arm is not Arm.LULL:
            continue
        key = case_key(feature, row.workload, row.params)
        asked = row.metric in metrics if metrics else (key, row.metric) in wanted
        if asked and row.mode in MODES:
            found[key, row.metric, run.summary.clock][row.mode] = row
    return found


def _point(run: Run, rows: dict[str, Row]) -> Point:
    commit = run.env.commit if run.env else ""
    dirty = "-dirty" if commit.endswith("-dirty") else ""
    return Point(
        label=clean(commit[:10] + dirty or run.summary.kernel, 24),
        when=clean(run.env.created if run.env else run.name, 60),
        kernel=clean(run.summary.kernel, 40),
        rows=rows,
    )


def figure(found: Series, name: str) -> tuple[Figure, tuple[str, ...]]:
    """The picture of a series, and a sentence for each step in it."""
    by_mode = {mode: found.steps(mode) for mode in MODES}
    said = tuple(
        _sentence(found, mode, step) for mode in MODES for step in by_mode[mode]
    )
    rows = []
    for point in found.points:
        medians = {mode: point.rows.get(mode) for mode in MODES}
        lull = medians[LULL]
        rows.append(
            (
                point.label,
                point.when,
                point.kernel,
                *(
                    clean(amount(row.median, row.unit)) if row else ""
                    for row in medians.values()
                ),
                ratio(lull.ratio) if lull and lull.ratio is not None else "",
            )
        )
    return (
        Figure(
            id=name,
            title=found.title,
            about=clean(f"{found.title} over {len(found.points)} runs", 200),
            clock=found.clock,
            svg=_draw(found, by_mode),
            table=Table(
                ("commit or kernel", "measured", "kernel", *MODES, "ratio"),
                tuple(rows),
                frozenset((3, 4, 5)),
            ),
            note="; ".join(said) or "no step",
            keys=tuple(Key(i, mode) for i, mode in enumerate(MODES)),
            wide=True,
        ),
        said,
    )


def _sentence(found: Series, mode: str, step: Shift) -> str:
    point = found.points[step.at]
    size = ratio(step.ratio)
    return f"{mode}: {size} of what it was from {point.label} on (p = {step.p:.2g})"


def _draw(found: Series, by_mode: dict[str, tuple[Shift, ...]]) -> str:
    rows: list[Datum] = []
    marks: list[Datum] = []
    for number, mode in enumerate(MODES):
        for place, point in enumerate(found.points):
            row = point.rows.get(mode)
            if row is None:
                continue
            low, high = row.ci95 or (row.median, row.median)
            rows.append(
                {
                    "x": float(place),
                    "y": charts.seconds(row.median, found.unit),
                    "low": charts.seconds(low, found.unit),
                    "high": charts.seconds(high, found.unit),
                    "name": mode,
                    "fill": charts.colour(number),
                }
            )
        for step in by_mode[mode]:
            marks.append({"x": step.at - 0.5, "fill": charts.colour(number)})
    labels = [point.label for point in found.points]
    # As many as there is room for, side by side.
    every = -(-len(labels) // 10)
    shown: list[Datum] = [
        {"x": float(i), "text": label}
        for i, label in enumerate(labels)
        if i % every == 0
    ]
    spec = _spec(found.unit, len(labels))
    return svg(spec, {"rows": rows, "marks": marks, "labels": shown})


def _spec(unit: str, count: int) -> Spec:
    x: Spec = {
        "type": "quantitative",
        "title": None,
        "axis": None,
        "scale": {"domain": [-0.5, count - 0.5], "nice": False, "zero": False},
    }
    y: Spec = {
        "type": "quantitative",
        "title": None,
        "scale": {"zero": True, "nice": True},
        "axis": charts.number_axis(unit),
    }
    fill = {"field": "fill", "type": "nominal", "scale": None}
    at = {"x": {**x, "field": "x"}, "color": fill}
    return {
        **charts.base(_WIDTH - _LEFT - charts.RIGHT, _HEIGHT, _LEFT, 26),
        "layer": [
            {
                "data": {"name": "marks"},
                "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5},
                "encoding": at,
            },
            {
                "data": {"name": "rows"},
                "mark": {"type": "line", "strokeWidth": 1.5},
                "encoding": {
                    **at,
                    "y": {**y, "field": "y"},
                    "detail": {"field": "name"},
                },
            },
            {
                "data": {"name": "rows"},
                "mark": {"type": "rule", "strokeWidth": 4, "opacity": 0.35},
                "encoding": {**at, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "data": {"name": "rows"},
                "mark": {"type": "circle", "size": 30, "opacity": 1},
                "encoding": {**at, "y": {**y, "field": "y"}},
            },
            {
                "data": {"name": "labels"},
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    "x": {**x, "field": "x"},
                    "y": {"value": _HEIGHT + 16},
                    "text": {"field": "text"},
                    "color": {"value": "var(--muted)"},
                },
            },
        ],
    }
