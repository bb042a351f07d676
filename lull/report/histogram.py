# SPDX-License-Identifier: GPL-2.0-only
"""How often an operation took how long, or how much, in powers of two."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from lull.model import Arm, Feature, Sample
from lull.report.summary import case_name, shown_params
from lull.report.table import plain, quantity, wrap

_LABEL = 16
_CELL = 13

#: Mode to how many were in the bucket that begins at 2^N ns, or of its unit.
Buckets = dict[str, Counter[int]]


def render(samples: Iterable[Sample], features: Iterable[Feature]) -> str:
    """The histograms that the features name; empty where nothing has any.

    They are of times, in ns, where feature.toml gives no unit for the name.

    The boots of a case are added up. Rows before the first that anybody has,
    and after the last, are left out.
    """
    known = {feature.name: feature for feature in features}
    found: defaultdict[tuple[str, str, str], Buckets]
    found = defaultdict(lambda: defaultdict(Counter))
    for sample in samples:
        feature = known.get(sample.feature)
        if feature is None or sample.arm is not Arm.LULL:
            continue
        shown = shown_params(feature, sample.workload, sample.params)
        for metric in feature.histograms:
            for log, count in buckets(sample, metric):
                key = (feature.name, case_name(sample.workload, shown), metric)
                found[key][sample.mode][log] += count
    texts = [
        _table(case, metric, buckets, known[name])
        for (name, case, metric), buckets in found.items()
    ]
    return plain("\n\n".join(texts)) if texts else ""


def buckets(sample: Sample, metric: str) -> Iterable[tuple[int, int]]:
    """Pairs of N and how many took 2^N to 2^(N+1) ns."""
    pattern = re.compile(rf"{re.escape(metric)}_h(\d+)")
    for name, value in sample.metrics.items():
        if match := pattern.fullmatch(name):
            yield int(match[1]), int(value)


def _table(case: str, metric: str, buckets: Buckets, feature: Feature) -> str:
    there = [mode for mode in feature.mode_names if mode in buckets]
    logs = [log for mode in there for log, n in buckets[mode].items() if n]
    given = feature.metrics.get(metric)
    unit = given.unit if given else "ns"
    what = f"had how many {unit}" if given else "took how long"
    lines = wrap(f"{case}: how many {metric}s {what}", "", "  ")
    lines.append(_line("from", there))
    for log in range(min(logs, default=0), max(logs, default=-1) + 1):
        counts = [str(buckets[mode][log] or "-") for mode in there]
        lines.append(_line(quantity(2**log, unit), counts))
    return "\n".join(lines)


def _line(label: str, cells: Sequence[str]) -> str:
    return f"{label:>{_LABEL}}{''.join(f'{cell:>{_CELL}}' for cell in cells)}"
