# SPDX-License-Identifier: GPL-2.0-only
"""Tables that somebody published, in their layout, with ours below them.

What they measured is in feature.toml, with its source; the machines differ, so
that columns compare and not figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lull.ask.catalog import full_params
from lull.ask.job import STOCK
from lull.model import Arm, Feature, Published, PublishedRow, Row, Summary
from lull.report.table import plain, wrap

_LABEL = 9
_CELL = 9
_MS = "ms"
_NS_PER_MS = 1e6


def render(summary: Summary, features: Iterable[Feature]) -> str:
    """The tables of which any row was measured; empty where none was."""
    texts = [
        _table(table, feature, [r for r in summary.rows if r.feature == feature.name])
        for feature in features
        for table in feature.published
    ]
    return plain("\n\n".join(text for text in texts if text)) if any(texts) else ""


def _table(table: Published, feature: Feature, rows: Sequence[Row]) -> str:
    measured = [
        (
            line,
            [_medians(line, m, feature, rows) for m in line.metrics or [table.metric]],
        )
        for line in table.rows
    ]
    if not any(any(ours) for _, ours in measured):
        return ""
    modes = feature.mode_names
    lines = wrap(f"{table.title}, {table.unit} ({table.source})", "", "  ")
    lines += [
        _line("", _spread(table.columns, table)),
        _line("here", _spread(modes, table)),
    ]
    if table.heads:
        columns = max(len(table.columns), len(modes))
        lines.append(_line("", [*table.heads] * columns))
    for line, ours in measured:
        there = [_figure(value) if value else "-" for value in line.values]
        lines.append(_line(line.label, there))
        if any(ours):
            lines.append(_line("", [_here(table, o, m) for m in modes for o in ours]))
        if all(STOCK in o for o in ours):
            lines.append(_line("", [_gain(table, o, m) for m in modes for o in ours]))
    return "\n".join(lines)


def _spread(names: Sequence[str], table: Published) -> list[str]:
    """Each name above the first of its columns."""
    return [cell for name in names for cell in (name, *[""] * (len(table.heads) - 1))]


def _here(table: Published, ours: dict[str, float], mode: str) -> str:
    scale = _NS_PER_MS if table.unit == _MS else 1.0
    return _figure(ours[mode] / scale) if mode in ours else "-"


def _figure(value: float) -> str:
    """One decimal; of what is smaller than 1, two digits."""
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def _gain(table: Published, ours: dict[str, float], mode: str) -> str:
    """How many times faster, or more, than ``stock``; nothing for that itself."""
    if mode == STOCK or mode not in ours:
        return ""
    less_is_better = table.unit == _MS
    over, under = (STOCK, mode) if less_is_better else (mode, STOCK)
    return f"{ours[over] / ours[under]:.2f}x" if ours[under] else "-"


def _medians(
    line: PublishedRow, metric: str, feature: Feature, rows: Sequence[Row]
) -> dict[str, float]:
    """Mode to median."""
    wanted = full_params(feature, line.workload, line.params)
    return {
        row.mode: row.median
        for row in rows
        if row.arm is Arm.LULL
        and row.workload == line.workload
        and row.metric == metric
        and full_params(feature, row.workload, row.params) == wanted
    }


def _line(label: str, cells: Sequence[str]) -> str:
    return f"{label:{_LABEL}}{''.join(f'{cell:>{_CELL}}' for cell in cells)}".rstrip()
