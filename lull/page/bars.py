# SPDX-License-Identifier: GPL-2.0-only
"""Bars from somewhere to somewhere: a timeline, and functions side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lull.page.charts import RIGHT, base, names, number_axis, seconds
from lull.page.draw import Datum, svg
from lull.page.phrases import clean


@dataclass(frozen=True)
class Bar:
    """A bar of a timeline or a stack: its line, from where to where."""

    row: str
    start: float
    end: float
    fill: str
    text: str = ""


def bars(
    rows: Sequence[Bar], unit: str, *, width: float, left: float, step: int
) -> str:
    """Bars from somewhere to somewhere, a line a name, with text where it fits."""
    found: list[Datum] = [
        {
            "name": clean(bar.row, 28),
            "start": seconds(bar.start, unit),
            "end": seconds(bar.end, unit),
            "fill": bar.fill,
            "text": bar.text,
        }
        for bar in rows
    ]
    x = {"type": "quantitative", "title": None, "scale": {"nice": False}}
    x["axis"] = number_axis(unit, 5)
    fill = {"field": "fill", "type": "nominal", "scale": None}
    spec = {
        **base(width - left - RIGHT, {"step": step}, left),
        "data": {"name": "rows"},
        "encoding": {"y": names()},
        "layer": [
            {
                "mark": {
                    "type": "bar",
                    "size": step * 0.72,
                    "stroke": "var(--paper)",
                    "strokeWidth": 0.5,
                },
                "encoding": {
                    "x": {**x, "field": "start"},
                    "x2": {"field": "end"},
                    "color": fill,
                },
            },
            {
                "mark": {
                    "type": "text",
                    "align": "left",
                    "dx": 3,
                    "fontSize": 10,
                },
                "encoding": {
                    "x": {**x, "field": "start"},
                    "text": {"field": "text"},
                    "color": {"value": "var(--on)"},
                },
            },
        ],
    }
    return svg(spec, {"rows": found})
