# SPDX-License-Identifier: GPL-2.0-only
"""The pictures of the page: each a specification of Vega-Lite and its data.

All text and numbers come in with the data, so that no name can become a part of
a specification. Times are seconds here, so that axes say ms and us by SI.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lull.page.draw import Datum, Spec, svg
from lull.page.phrases import clean
from lull.report.stats import Interval

COLOURS = 6  #: --m0 to --m5 of the page's style
LABEL = 14  #: letters of a label that stands left of a picture
_LEFT = 92
RIGHT = 16
_WIDTH = 340 - _LEFT - RIGHT  #: a telephone's column, in which text is readable
_STEP = 30
#: From so large a spread on, only a logarithmic axis shows all of it.
_SPREAD = 100
#: A smaller one is invisible on an axis that begins at 0.
_CUT = 0.75


@dataclass(frozen=True)
class Strip:
    """One line of a picture of dots: a mode, its values, median and interval."""

    name: str
    colour: int
    values: Sequence[float]
    median: float
    interval: Interval | None


@dataclass(frozen=True)
class Curve:
    """A line through points, in a mode's colour; ``dots`` beside it."""

    name: str
    colour: int
    points: Sequence[tuple[float, float]]
    dots: Sequence[tuple[float, float]] = ()


def colour(number: int) -> str:
    """The page's name of a mode's colour."""
    return f"var(--m{number % COLOURS})"


def seconds(value: float, unit: str) -> float:
    """A value of ``unit`` as axes have it."""
    return value / 1e9 if unit == "ns" else value


def _config() -> Spec:
    return {
        "aria": False,
        "font": "inherit",
        "view": {"stroke": None},
        "axis": {
            "labelColor": "var(--muted)",
            "titleColor": "var(--muted)",
            "titleFontWeight": "normal",
            "gridColor": "var(--line)",
            "domain": False,
            "ticks": False,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "labelPadding": 6,
            "labelLimit": 1000,
        },
    }


def base(width: float, height: Any, left: float = _LEFT, bottom: float = 24) -> Spec:
    """What all pictures have. Nothing in the layout depends on the width of
    letters: the same figures give the same picture on every machine."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": None,
        "autosize": "none",
        "padding": {"left": left, "right": RIGHT, "top": 4, "bottom": bottom},
        "width": width,
        "height": height,
        "config": _config(),
    }


def number_axis(unit: str, count: int = 4, marks: Sequence[float] = ()) -> Spec:
    """Labels of a numeric axis, by SI: at ``marks``, else at about ``count``."""
    suffix = "s" if unit == "ns" else ""
    text = f"format(datum.value, '.3~s') + '{suffix}'"
    # With both, Vega leaves every other mark out.
    where: Spec = {"values": list(marks)} if marks else {"tickCount": count}
    return {**where, "labelExpr": text, "labelOverlap": False}


def names() -> Spec:
    """The axis of names, in the order of the data."""
    return {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"grid": False, "labelColor": "var(--ink)"},
    }


def scale_of(values: Iterable[float]) -> str:
    """``zero``, or ``cut`` where all are near each other, or ``log``."""
    there = [value for value in values if math.isfinite(value)]
    low, high = min(there, default=0), max(there, default=0)
    if low > 0 and high / low >= _SPREAD:
        return "log"
    return "cut" if high > 0 and low / high > _CUT else "zero"


def decades(values: Iterable[float]) -> list[float]:
    """What a logarithmic axis is labelled at: 1, 10, 100, and 1, 3, 10 for few."""
    there = [value for value in values if value > 0]
    if not there:
        return []
    low, high = (math.log10(f(there)) for f in (min, max))
    powers = range(math.floor(low), math.ceil(high) + 1)
    steps = (1, 3) if high - low < 2.5 else (1,)
    return [step * 10.0**power for power in powers for step in steps]


def dots(strips: Sequence[Strip], unit: str) -> tuple[str, str]:
    """All values of each mode with median and interval; and what to say of the
    axis, where it does not begin at 0."""
    rows: list[Datum] = []
    points: list[Datum] = []
    for strip in strips:
        low, high = strip.interval or (strip.median, strip.median)
        rows.append(
            {
                "name": clean(strip.name, LABEL),
                "low": seconds(low, unit),
                "high": seconds(high, unit),
                "median": seconds(strip.median, unit),
                "fill": colour(strip.colour),
            }
        )
        points += [
            {
                "name": clean(strip.name, LABEL),
                "value": seconds(value, unit),
                # The golden ratio keeps neighbours apart, without chance.
                "place": i * 0.618 % 1,
                "fill": colour(strip.colour),
            }
            for i, value in enumerate(strip.values)
        ]
    values = [v for s in strips for v in (*s.values, s.median)]
    kind = scale_of(values)
    marks = decades(seconds(v, unit) for v in values) if kind == "log" else []
    note = {"log": "logarithmic axis", "cut": "the axis does not begin at 0"}
    picture = svg(_dots_spec(kind, unit, marks), {"rows": rows, "points": points})
    return picture, note.get(kind, "")


def _dots_spec(kind: str, unit: str, marks: Sequence[float]) -> Spec:
    scale: Spec = {"zero": kind == "zero", "nice": True}
    if kind == "log":
        scale = {"type": "log", "nice": False}
    x = {"type": "quantitative", "title": None, "scale": scale}
    x["axis"] = number_axis(unit, marks=marks)
    fill = {"field": "fill", "type": "nominal", "scale": None}
    offset = {
        "field": "place",
        "type": "quantitative",
        "scale": {"domain": [-0.4, 1.4]},
    }
    return {
        **base(_WIDTH, {"step": _STEP}),
        "encoding": {"y": names()},
        "layer": [
            {
                "data": {"name": "rows"},
                "mark": {"type": "rule", "strokeWidth": 14, "opacity": 0.28},
                "encoding": {
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                    "color": fill,
                },
            },
            {
                "data": {"name": "points"},
                "mark": {"type": "circle", "size": 14, "opacity": 0.75},
                "encoding": {
                    "x": {**x, "field": "value"},
                    "yOffset": offset,
                    "color": fill,
                },
            },
            {
                "data": {"name": "rows"},
                "mark": {"type": "tick", "thickness": 2, "size": 20, "opacity": 1},
                "encoding": {
                    "x": {**x, "field": "median"},
                    "color": {"value": "var(--ink)"},
                },
            },
        ],
    }


def ratios(rows: Sequence[Mapping[str, str | float | None]], left: float = 84) -> str:
    """Ratios to stock with their intervals on a logarithmic axis.

    ``rows`` have name, ratio, low, high, fill and text, which stands right.
    """
    right = 112  # "29% less time" of the widest font
    width = 360 - left - right
    ends = [float(row[k] or 1) for row in rows for k in ("low", "high")]
    x: Spec = {
        "type": "quantitative",
        "title": None,
        "scale": {
            "type": "log",
            "nice": False,
            "domain": [min(0.5, 0.8 * min(ends)), max(1.6, 1.2 * max(ends))],
        },
        "axis": {
            "values": [0.001, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
            "labelExpr": "datum.value == 1 ? 'stock' : format(datum.value, '~g')",
            "labelOverlap": False,
        },
    }
    fill = {"field": "fill", "type": "nominal", "scale": None}
    at = {"color": fill, "x": {**x, "field": "ratio"}}
    spec = {
        **base(width, {"step": 28}, left),
        "encoding": {"y": names()},
        "data": {"name": "rows"},
        "layer": [
            {
                "mark": {"type": "rule", "color": "var(--muted)", "strokeWidth": 1.5},
                "encoding": {
                    "x": {"datum": 1, **x},
                    "y": {"value": 0},
                    "y2": {"value": "height"},
                },
            },
            {
                "mark": {"type": "bar", "size": 10, "opacity": 0.35},
                "encoding": {**at, "x2": {"datum": 1}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 3},
                "encoding": {
                    "color": fill,
                    "x": {**x, "field": "low"},
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "circle", "size": 70, "opacity": 1},
                "encoding": at,
            },
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "fontSize": 12,
                    "fontWeight": "bold",
                },
                "encoding": {
                    "text": {"field": "text"},
                    "x": {"value": width + 8},
                    "color": {"value": "var(--ink)"},
                },
            },
        ],
    }
    spec["padding"] = {**spec["padding"], "right": right}
    return svg(spec, {"rows": rows})


def lines(
    curves: Sequence[Curve], unit: str, *, step: bool = False, nines: bool = False
) -> str:
    """Curves over a numeric axis. ``nines``: that is -log10(1 - quantile)."""
    rows: list[Datum] = []
    points: list[Datum] = []
    for curve in curves:
        common: Datum = {
            "name": clean(curve.name, LABEL),
            "fill": colour(curve.colour),
            "dash": float(curve.colour),
        }
        rows += [{**common, "x": x, "y": seconds(y, unit)} for x, y in curve.points]
        points += [{**common, "x": x, "y": seconds(y, unit)} for x, y in curve.dots]
    values = [seconds(y, unit) for c in curves for _, y in (*c.points, *c.dots)]
    marks = decades(values) if nines else []
    spec = _lines_spec(unit, step, nines, marks)
    return svg(spec, {"rows": rows, "points": points})


def _lines_spec(unit: str, step: bool, nines: bool, marks: Sequence[float]) -> Spec:
    x: Spec = {"field": "x", "type": "quantitative", "title": None}
    x["axis"] = {**number_axis(""), "grid": False}
    if nines:
        x["scale"] = {"domainMin": 0, "nice": False}
        x["axis"] = {
            **number_axis("", marks=[0.301, 1, 2, 3, 4, 5]),
            "grid": False,
            "labelExpr": "datum.value < 1 ? '50%'"
            " : format(1 - pow(10, -datum.value), '.10~%')",
        }
    # What grows is a straight line on an axis from 0, and on no other.
    scale: Spec = {"zero": True, "nice": True}
    if nines:
        scale = {"type": "log", "nice": False}
    y: Spec = {
        "field": "y",
        "type": "quantitative",
        "title": None,
        "scale": scale,
        "axis": number_axis(unit, marks=marks),
    }
    fill = {"field": "fill", "type": "nominal", "scale": None}
    dash = {
        "field": "dash",
        "type": "nominal",
        "legend": None,
        "scale": {
            "domain": list(range(COLOURS)),
            "range": [[6, 3], [1, 0], [2, 2], [8, 2, 2, 2], [4, 1], [1, 3]],
        },
    }
    line = {"type": "line", "strokeWidth": 2}
    if step:
        line["interpolate"] = "step-before"
    return {
        **base(340 - 64 - RIGHT, 170, 64, 26),
        "encoding": {"x": x, "y": y, "color": fill},
        "layer": [
            {
                "data": {"name": "points"},
                "mark": {"type": "circle", "size": 16, "opacity": 0.6},
            },
            {
                "data": {"name": "rows"},
                "mark": line,
                "encoding": {"detail": {"field": "name"}, "strokeDash": dash},
            },
        ],
    }
