# SPDX-License-Identifier: GPL-2.0-only
"""Tables that somebody published, in their layout, with ours beside them.

What they measured is in feature.toml, with its source; the machines differ, so
that columns compare and not figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lull.catalog import full_params
from lull.job import STOCK
from lull.model import Arm, Feature, Published, PublishedRow, Row, Summary
from lull.table import plain, wrap

_LABEL = 9
_CELL = 8
_MS = 1e6  #: ns


def render(summary: Summary, features: Iterable[Feature]) -> str:
    """The tables of which any row was measured; empty where none was."""
    texts = [
        _table(table, feature, [r for r in summary.rows if r.feature == feature.name])
        for feature in features
        for table in feature.published
    ]
    return plain("\n\n".join(text for text in texts if text)) if any(texts) else ""


def _table(table: Published, feature: Feature, rows: Sequence[Row]) -> str:
    measured = [(line, _medians(line, table, feature, rows)) for line in table.rows]
    if not any(ours for _, ours in measured):
        return ""
    modes = feature.mode_names
    theirs = _CELL * len(table.columns)
    lines = wrap(f"{table.title} ({table.source}; and here)", "", "  ")
    lines += [
        f"{'':{_LABEL}}{'published, ms':>{theirs}}{'here, ms':>{_CELL * len(modes)}}",
        _line("", table.columns, modes),
    ]
    for line, ours in measured:
        here = [f"{ours[m] / _MS:.1f}" if m in ours else "-" for m in modes]
        there = [f"{value:.1f}" if value else "-" for value in line.values]
        lines.append(_line(line.label, there, here))
        if STOCK in ours:
            gains = [
                f"{ours[STOCK] / ours[m]:.2f}x" if m in ours and m != STOCK else ""
                for m in modes
            ]
            lines.append(_line("", [""] * len(there), gains))
    return "\n".join(lines)


def _medians(
    line: PublishedRow, table: Published, feature: Feature, rows: Sequence[Row]
) -> dict[str, float]:
    """Mode to median, in ns."""
    wanted = full_params(feature, line.workload, line.params)
    return {
        row.mode: row.median
        for row in rows
        if row.arm is Arm.LULL
        and row.workload == line.workload
        and row.metric == table.metric
        and full_params(feature, row.workload, row.params) == wanted
    }


def _line(label: str, theirs: Sequence[str], ours: Sequence[str]) -> str:
    cells = "".join(f"{cell:>{_CELL}}" for cell in (*theirs, *ours))
    return f"{label:{_LABEL}}{cells}".rstrip()
