# SPDX-License-Identifier: GPL-2.0-only
"""From samples to summary.json: rows, and expectations held against them.

``python -m lull.report.summary`` prints the JSON Schema of summary.json, which is
checked in as lull/schema/summary.json.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lull.ask.catalog import full_params
from lull.ask.job import STOCK, plans
from lull.model import (
    Arm,
    Clock,
    Expectation,
    Feature,
    Promise,
    Row,
    Sample,
    Summary,
    Value,
)
from lull.report import stats

#: What the text of a promise ends in, where that is so.
NOT_MEASURED = ": not measured"
NOT_SHOWN = ": no difference shown"
KEPT = ": kept, though the base's file says it is not"

#: A case: workload and all parameters, hashable.
CaseKey = tuple[str, tuple[tuple[str, Value], ...]]
Values = Mapping[stats.Key, float]


@dataclass(frozen=True)
class RunMeta:
    """What holds for all of a run.

    ``quick``, ``modes`` (None for all) and ``control`` say what was not going
    to be measured, so that its absence is no failure. ``native`` and ``absent`` are
    sentences by feature: what of it the kernel has itself, and why one that was asked
    for is not there.
    """

    base: str
    kernel: str
    clock: Clock
    accel: str
    cpus: int
    quick: bool = False
    modes: Collection[str] | None = None
    control: bool = True
    native: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


def summarise(
    features: Iterable[Feature], samples: Iterable[Sample], meta: RunMeta
) -> Summary:
    """Rows for what was measured, promises for what was promised.

    Rows come in the order of feature.toml: cases, metrics, modes; then arms.
    Metrics and modes that feature.toml does not know are left out, cases that
    it does not plan come last. ``ok`` is that every expectation for this
    clock is met, with its measurement there, but for those known not to be.
    """
    by_feature: defaultdict[str, list[Sample]] = defaultdict(list)
    seeds: set[int] = set()
    for sample in samples:
        by_feature[sample.feature].append(sample)
        if sample.arm is Arm.LULL:
            seeds.add(sample.seed)
    rows: list[Row] = []
    promises: list[Promise] = []
    features = tuple(features)
    for feature in features:
        cases = _cases(feature, by_feature[feature.name])
        for case, members in cases.items():
            rows += _rows(feature, case, members, meta.clock)
        promises += [
            _promise(feature, item, cases, meta.clock)
            for item in feature.expectations
            if _applies(feature, item, meta)
        ]
    return Summary(
        schema_=1,
        base=meta.base,
        kernel=meta.kernel,
        clock=meta.clock,
        accel=meta.accel,
        cpus=meta.cpus,
        seeds=len(seeds),
        rows=tuple(rows),
        expectations=tuple(promises),
        ok=not any(promise.broken for promise in promises),
        native={f.name: meta.native[f.name] for f in features if f.name in meta.native},
        absent=dict(meta.absent),
    )


def to_json(summary: Summary) -> str:
    """summary.json: indented, ends in a newline."""
    return summary.model_dump_json(by_alias=True, indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of summary.json."""
    found = Summary.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def schema_text() -> str:
    """The text of lull/schema/summary.json."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def shown_params(
    feature: Feature, workload: str, params: Mapping[str, Value]
) -> dict[str, Value]:
    """The parameters that a report names a case by.

    Those that its plan in feature.toml sets; without a plan, those that
    differ from the workload's defaults.
    """
    full = full_params(feature, workload, params)
    for plan in feature.cases:
        if plan.workload == workload:
            planned = full_params(feature, workload, plan.params)
            if planned == full:
                return dict(plan.params)
    default = full_params(feature, workload, {})
    return {k: v for k, v in full.items() if k not in default or v != default[k]}


def shown(row: Row) -> bool:
    """Whether the row differs from what its ratio is to."""
    return stats.shown(row.p, row.ratio_ci95)


def case_name(workload: str, params: Mapping[str, Value]) -> str:
    """``zombies zombies=30000``."""
    return " ".join([workload, *(f"{k}={v}" for k, v in params.items())])


def case_key(feature: Feature, workload: str, params: Mapping[str, Value]) -> CaseKey:
    """What is equal for rows and samples of the same case."""
    return workload, tuple(sorted(full_params(feature, workload, params).items()))


def _cases(feature: Feature, samples: Sequence[Sample]) -> dict[CaseKey, list[Sample]]:
    groups: dict[CaseKey, list[Sample]] = {
        case_key(feature, plan.workload, plan.params): [] for plan in feature.cases
    }
    for sample in samples:
        key = case_key(feature, sample.workload, sample.params)
        groups.setdefault(key, []).append(sample)
    return groups


def values_of(
    samples: Sequence[Sample], mode: str, metric: str, arm: Arm, clock: Clock
) -> Values:
    """A metric's value for each seed or block of rounds, of one mode and kernel."""
    of_arm = [sample for sample in samples if sample.arm is arm]
    modes = len({sample.mode for sample in of_arm})
    of_mode = (sample for sample in of_arm if sample.mode == mode)
    return stats.replicates(of_mode, metric, clock, modes)


def _rows(
    feature: Feature, case: CaseKey, samples: Sequence[Sample], clock: Clock
) -> list[Row]:
    params = shown_params(feature, case[0], dict(case[1]))
    rows = []
    for metric, about in feature.metrics.items():
        for mode in feature.mode_names:
            for arm in (Arm.LULL, Arm.STOCK, Arm.DEBUG):
                values = values_of(samples, mode, metric, arm, clock)
                if not values:
                    continue
                row = Row(
                    feature=feature.name,
                    workload=case[0],
                    metric=metric,
                    unit=about.unit,
                    params=params,
                    mode=mode,
                    arm=arm,
                    n=len(values),
                    median=stats.median(list(values.values())),
                    ci95=stats.median_ci(list(values.values())),
                )
                found = _against_stock(samples, mode, metric, arm, clock, values)
                if found is not None:
                    row = row.model_copy(
                        update={
                            "ratio": found.ratio,
                            "ratio_ci95": found.ci95,
                            "p": found.p,
                            "needs": found.needs,
                        }
                    )
                rows.append(row)
    return rows


def _against_stock(
    samples: Sequence[Sample],
    mode: str,
    metric: str,
    arm: Arm,
    clock: Clock,
    values: Values,
) -> stats.Comparison | None:
    """A row against mode stock: of its own kernel, or, for the untouched
    kernel, of the Lull kernel."""
    if arm is Arm.STOCK:
        stock = values_of(samples, STOCK, metric, Arm.LULL, clock)
        return _control(values, stock) if stock else None
    if mode == STOCK:
        return None
    stock = values_of(samples, STOCK, metric, arm, clock)
    return stats.compare(values, stock) if stock else None


def _control(values: Values, reference: Values) -> stats.Comparison:
    """Two kernels. Seeds or boots that only one of them ran are left out;
    what is left is not taken as pairs, since two kernels share no boot."""
    common = {key[0] for key in values} & {key[0] for key in reference}
    both = [
        [value for key, value in side.items() if key[0] in common or not common]
        for side in (values, reference)
    ]
    return stats.compare_groups(both[0], both[1])


def _applies(feature: Feature, item: Expectation, meta: RunMeta) -> bool:
    if item.clock not in (None, meta.clock) or (item.control and not meta.control):
        return False
    if meta.modes is not None and not {item.mode, item.to} <= {STOCK, *meta.modes}:
        return False
    wanted = case_key(feature, item.workload, item.params)
    return any(
        case_key(feature, plan.workload, plan.params) == wanted
        for plan in plans(feature, quick=meta.quick, clock=meta.clock)
    )


def _promise(
    feature: Feature,
    item: Expectation,
    cases: Mapping[CaseKey, Sequence[Sample]],
    clock: Clock,
) -> Promise:
    samples = cases.get(case_key(feature, item.workload, item.params), ())
    measured, apart = _measured(item, samples, clock)
    text = promise_text(item)
    promise = Promise(
        text=text, ok=False, measured=measured, aim=item.aim, feature=feature.name
    )
    if measured is None:
        return promise.model_copy(update={"text": text + NOT_MEASURED})
    ok = (item.min is None or measured >= item.min) and (
        item.max is None or measured <= item.max
    )
    if ok and not apart and _of_a_difference(item):
        return promise.model_copy(update={"text": text + NOT_SHOWN})
    if not ok and not apart and item.control:
        # Boots of one kernel differ by more than the bounds.
        return promise.model_copy(update={"text": text + NOT_SHOWN, "ok": True})
    if ok and item.unkept:
        return promise.model_copy(update={"text": text + KEPT, "ok": True})
    shown = apart or not _of_a_difference(item)
    known = item.unkept if shown and not ok else None
    unkept = known.why if known and measured <= known.max else ""
    return promise.model_copy(update={"ok": ok, "unkept": unkept})


def undecided(promises: Iterable[Promise]) -> int:
    """How many hold although they are out of their bounds: controls of which no
    difference is shown."""
    return sum(p.ok and p.text.endswith(NOT_SHOWN) for p in promises)


def _of_a_difference(item: Expectation) -> bool:
    """Whether it promises that one mode is less than the other, or more."""
    less = item.max is not None and item.max < 1
    more = item.min is not None and item.min > 1
    return (less or more) and not item.absolute


def _measured(
    item: Expectation, samples: Sequence[Sample], clock: Clock
) -> tuple[float | None, bool]:
    """What the bounds are held against, None where it was not measured; and
    whether a difference is shown, where it is of two sides. Of a control whose
    boots are too few for the test it is where the interval is to one side of 1."""
    values = values_of(samples, item.mode, item.metric, Arm.LULL, clock)
    if item.every:
        each = [
            sample.metrics[item.metric]
            for sample in samples
            if (sample.arm, sample.mode) == (Arm.LULL, item.mode)
            and item.metric in sample.metrics
        ]
        worst = min if item.max is None else max
        return worst(each, default=None), False
    if item.absolute:
        return (stats.median(list(values.values())) if values else None), False
    arm = Arm.STOCK if item.control else Arm.LULL
    base = values_of(samples, item.to, item.metric, arm, clock)
    if not values or not base:
        return None, False
    compare = _control if item.control else stats.compare
    found = compare(values, base)
    if item.control and min(len(values), len(base)) < stats.MIN_EACH:
        within = found.ci95 is not None and found.ci95[0] <= 1 <= found.ci95[1]
        return found.ratio, not within
    return found.ratio, found.significant


def promise_text(item: Expectation) -> str:
    """What is promised: ``freezer_total lull <= 0.125 of stock at 30000 zombies``."""
    bounds = []
    if item.min is not None:
        bounds.append(f">= {item.min:g}")
    if item.max is not None:
        bounds.append(f"<= {item.max:g}")
    bound = " and ".join(bounds) or "reported"
    of = " of the untouched kernel" if item.control else f" of {item.to}"
    if item.absolute:
        of = " in every sample" if item.every else ""
    at = ", ".join(
        f"{value} {name}" if not isinstance(value, str) else f"{name}={value}"
        for name, value in item.params.items()
    )
    return f"{item.metric} {item.mode} {bound}{of} at {at or item.workload}"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
