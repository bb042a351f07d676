# SPDX-License-Identifier: GPL-2.0-only
"""Tables that somebody published, in their layout, with ours below them.

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
_CELL = 9
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
    lines = wrap(f"{table.title}, ms ({table.source})", "", "  ")
    lines += [_line("", table.columns), _line("here", modes)]
    for line, ours in measured:
        there = [f"{value:.1f}" if value else "-" for value in line.values]
        lines.append(_line(line.label, there))
        if not ours:
            continue
        here = [f"{ours[m] / _MS:.1f}" if m in ours else "-" for m in modes]
        lines.append(_line("", here))
        if STOCK in ours:
            gains = [
                f"{ours[STOCK] / ours[m]:.2f}x" if m in ours else "" for m in modes
            ]
            lines.append(_line("", ["", *gains[1:]]))
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


def _line(label: str, cells: Sequence[str]) -> str:
    return f"{label:{_LABEL}}{''.join(f'{cell:>{_CELL}}' for cell in cells)}".rstrip()
