# SPDX-License-Identifier: GPL-2.0-only
"""What each step of the mode ``lull`` brings, from modes that leave steps out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lull.model import LULL, Arm, Row
from lull.page.cases import Case
from lull.page.model import Table
from lull.page.phrases import clean, interval
from lull.report import stats
from lull.report.table import ratio

#: ``lull+STEP`` is that step alone, ``lull-STEP`` all but it.
ALONE, WITHOUT = f"{LULL}+", f"{LULL}-"
#: No step at all: what the machinery around them costs.
NONE = f"{LULL}=none"

_HEADS = (
    "case",
    "metric",
    "clock",
    "step",
    "alone, to stock",
    "all but it, to stock",
    "lull to all but it",
    "95% interval",
)


def is_step(mode: str) -> bool:
    """Whether a mode is some of the steps of ``lull``: part of no verdict."""
    return mode.startswith((ALONE, WITHOUT, f"{LULL}="))


def steps_of(modes: Iterable[str]) -> tuple[str, ...]:
    """The steps that modes are named after, in their order."""
    found = (m[len(ALONE) :] for m in modes if m.startswith((ALONE, WITHOUT)))
    return tuple(dict.fromkeys(found))


def ablation(cases: Iterable[Case], metrics: Iterable[str]) -> Table | None:
    """A line a step, of those of ``metrics`` that the case has; None without steps.

    Ratios are of medians; ``~`` where ``stats.shown`` says that no difference is
    shown. A step for which one of the two modes was not measured has ``-`` there.
    """
    wanted = tuple(dict.fromkeys(metrics))
    lines = tuple(
        line
        for case in cases
        for metric in wanted
        if metric in case.metrics
        for line in _lines(case, metric)
    )
    return Table(_HEADS, lines, frozenset(range(4, len(_HEADS)))) if lines else None


def _lines(case: Case, metric: str) -> Iterator[tuple[str, ...]]:
    rows = case.of(metric)
    steps = steps_of(rows)
    if not steps:
        return
    head = (clean(case.title), clean(metric), str(case.clock))
    for step in steps:
        alone, without = rows.get(ALONE + step), rows.get(WITHOUT + step)
        brings, width = _brings(case, metric, WITHOUT + step)
        cells = (_to_stock(alone), _to_stock(without), brings, width)
        yield (*head, clean(step), *cells)
    for name, mode in (("none of them", NONE), ("all of them", LULL)):
        if mode in rows:
            yield (*head, name, _to_stock(rows[mode]), "", "", "")


def _brings(case: Case, metric: str, without: str) -> tuple[str, str]:
    """Lull to all but a step: below 1 is less with the step than without."""
    found = case.replicates(metric, LULL), case.replicates(metric, without)
    if not all(found):
        return "-", ""
    made = stats.compare(*found)
    return _marked(made.ratio, made.p, made.ci95), interval(made.ci95)


def _to_stock(row: Row | None) -> str:
    if row is None or row.arm is not Arm.LULL:
        return "-"
    return _marked(row.ratio, row.p, row.ratio_ci95)


def _marked(value: float | None, p: float | None, ends: stats.Interval | None) -> str:
    if value is None:
        return "-"
    return ratio(value) + ("" if stats.shown(p, ends) else " ~")
