# SPDX-License-Identifier: GPL-2.0-only
"""What each step of the mode ``lull`` brings, as a table beside the gain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from lull.model import LULL, Arm, Row, StepShare, Summary
from lull.page.model import Table
from lull.page.phrases import clean, interval
from lull.report import stats
from lull.report.summary import case_name
from lull.report.table import ratio

_HEADS = (
    "case",
    "metric",
    "clock",
    "step",
    "what it is",
    "alone, to stock",
    "all but it, to stock",
    "lull to all but it",
    "95% interval",
)
_WORDS = 5  #: columns of words


def ablation(summaries: Iterable[Summary], feature: str) -> Table | None:
    """A line a step and two for none and all of them; None where none was taken out.

    ``~`` where ``stats.shown`` says that no difference is shown, ``-`` where a mode
    was not measured.
    """
    lines = tuple(line for summary in summaries for line in _lines(summary, feature))
    numbers = frozenset(range(_WORDS, len(_HEADS)))
    return Table(_HEADS, lines, numbers) if lines else None


def _lines(summary: Summary, feature: str) -> Iterator[tuple[str, ...]]:
    mine = [share for share in summary.steps if share.feature == feature]
    for (case, metric), group in groupby(mine, key=_place):
        shares = list(group)
        rows = {
            row.mode: row
            for row in summary.rows
            if row.feature == feature
            and row.arm is Arm.LULL
            and (case_name(row.workload, row.params), row.metric) == (case, metric)
        }
        head = (clean(case), clean(metric), str(summary.clock))
        for share in shares:
            yield (*head, *_step(share, rows))
        for name, mode in (("none of them", shares[0].none), ("all of them", LULL)):
            yield (*head, name, "", _to_stock(rows.get(mode)), "", "", "")


def _place(share: StepShare) -> tuple[str, str]:
    return case_name(share.workload, share.params), share.metric


def _step(share: StepShare, rows: Mapping[str, Row]) -> tuple[str, ...]:
    return (
        clean(share.step),
        clean(share.text),
        _to_stock(rows.get(share.alone)),
        _to_stock(rows.get(share.without)),
        _marked(share.ratio, share.p, share.ratio_ci95),
        interval(share.ratio_ci95),
    )


def _to_stock(row: Row | None) -> str:
    return _marked(row.ratio, row.p, row.ratio_ci95) if row else "-"


def _marked(value: float | None, p: float | None, ends: stats.Interval | None) -> str:
    if value is None:
        return "-"
    return ratio(value) + ("" if stats.shown(p, ends) else " ~")
