# SPDX-License-Identifier: GPL-2.0-only
"""What each step of the mode ``lull`` brings: the table of ``lull run --ablate``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lull.ask.catalog import full_params
from lull.ask.steps import NONE, alone, dependents, places, without
from lull.model import LULL, Arm, Clock, Feature, Row, Sample, StepShare, Summary
from lull.report import stats
from lull.report.summary import case_name, values_of
from lull.report.table import cell, plain, wrap

#: Columns of the table: what they are headed by, and how wide they are.
_STEP, _CELL = 12, 20


def shares(
    feature: Feature, samples: Iterable[Sample], clock: Clock
) -> tuple[StepShare, ...]:
    """The feature's steps, in its order, for each place that is looked at.

    Both sides of a ratio are of the same boots, and are taken as pairs as
    ``stats.compare`` does. Empty for samples in which no step was taken out.
    """
    mine = [s for s in samples if s.feature == feature.name and s.arm is Arm.LULL]
    found: list[StepShare] = []
    for line in places(feature):
        wanted = full_params(feature, line.workload, line.params)
        case = [
            s
            for s in mine
            if s.workload == line.workload
            and full_params(feature, s.workload, s.params) == wanted
        ]
        whole = values_of(case, LULL, line.metric, Arm.LULL, clock)
        for step in feature.steps:
            rest = values_of(case, without(step), line.metric, Arm.LULL, clock)
            if not whole or not rest:
                continue
            brings = stats.compare(whole, rest)
            found.append(
                StepShare(
                    feature=feature.name,
                    workload=line.workload,
                    params=dict(line.params),
                    metric=line.metric,
                    step=step.name,
                    text=step.text,
                    needs=step.needs,
                    needed_by=tuple(s.name for s in dependents(feature, step.name)),
                    alone=alone(step),
                    without=without(step),
                    none=NONE,
                    ratio=brings.ratio,
                    ratio_ci95=brings.ci95,
                    p=brings.p,
                )
            )
    return tuple(found)


def with_shares(
    summary: Summary, features: Iterable[Feature], samples: Sequence[Sample]
) -> Summary:
    """The summary with what each step brings, where that was measured."""
    found = [share for f in features for share in shares(f, samples, summary.clock)]
    return summary.model_copy(update={"steps": tuple(found)})


def render(summary: Summary) -> str:
    """Plain ASCII of at most 75 columns; empty where no step was taken out."""
    lines: list[str] = []
    for key in dict.fromkeys(_case(share) for share in summary.steps):
        group = [share for share in summary.steps if _case(share) == key]
        lines += ["", *_table(summary, group)]
    if not lines:
        return ""
    lines += [""]
    lines += wrap(
        "alone, all but it: to stock. brings: lull to all but it, below 1 is less with"
        " the step. +- is the wider side of the 95% interval, ~ where no difference is"
        " shown."
    )
    return plain("\n".join(lines[1:]))


def _case(share: StepShare) -> tuple[str, str, str]:
    return share.feature, case_name(share.workload, share.params), share.metric


def _table(summary: Summary, group: Sequence[StepShare]) -> Iterator[str]:
    feature, case, metric = _case(group[0])
    rows = {
        row.mode: row
        for row in summary.rows
        if (row.feature, case_name(row.workload, row.params), row.metric)
        == (feature, case, metric)
        and row.arm is Arm.LULL
    }
    yield from wrap(
        f"{feature}: what each step of lull brings to {metric}, {case},"
        f" clock {summary.clock}"
    )
    yield table_line("step", "alone", "all but it", "brings")
    for share in group:
        yield share_line(share, rows)
    yield table_line("none of them", to_stock(rows.get(group[0].none)), "", "")
    yield table_line("all of them", to_stock(rows.get(LULL)), "", "")
    for share in group:
        yield from wrap(f"{share.step}: {share.text}{company(share)}", "  ", "    ")


def company(share: StepShare) -> str:
    """The steps that a step is measured with, in brackets; empty for none."""
    parts = [
        f"{word} {', '.join(names)}"
        for word, names in (
            ("alone is with", share.needs),
            ("all but it is without", share.needed_by),
        )
        if names
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def to_stock(row: Row | None) -> str:
    """A mode's ratio to stock with its interval; - where it was not measured."""
    return cell(row.ratio, row.ratio_ci95, row.p) if row else "-"


def share_line(share: StepShare, rows: Mapping[str, Row]) -> str:
    """A step in the table: ``rows`` are those of its case, by mode."""
    return table_line(
        share.step,
        to_stock(rows.get(share.alone)),
        to_stock(rows.get(share.without)),
        cell(share.ratio, share.ratio_ci95, share.p),
    )


def table_line(name: str, *cells: str) -> str:
    """A line of the table, in its columns."""
    return " ".join(
        [f"{name:<{_STEP}}", *(f"{cell:<{_CELL}}" for cell in cells)]
    ).rstrip()
