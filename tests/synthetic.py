# SPDX-License-Identifier: GPL-2.0-only
"""A made-up feature and samples of it, for the tests of the report."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from lull.ask.catalog import parse
from lull.ask.job import jobs
from lull.model import Arm, Clock, Feature, Sample, Value
from lull.report.summary import RunMeta

TOML = """
name = "walk"
title = "walking tasks"
modes = [
    { name = "stock", text = "as it is" },
    { name = "quick", text = "skips", unsafe = "skips too much" },
    { name = "lull", text = "skips what is dead" },
]
[metrics.total]
unit = "ns"
text = "all of it"
[metrics.visited]
unit = "tasks"
text = "tasks looked at"
supporting = true
[workloads.zombies]
text = "dead children"
params = { zombies = 30000, mix = "a:1,b:1" }
[workloads.sleepers]
text = "live ones"
params = { sleepers = 50 }
[[cases]]
workload = "zombies"
params = { zombies = 30000 }
quick = true
[[cases]]
workload = "sleepers"
params = { sleepers = 50 }
rounds = 4
[[expectations]]
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
mode = "lull"
max = 0.125
aim = 0.08
clock = "insn"
[[expectations]]
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
mode = "stock"
control = true
min = 0.99
max = 1.01
[[headlines]]
text = "30,000 dead children: time to walk past them"
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
profile = true
[[shown]]
workload = "sleepers"
params = { sleepers = 50 }
metrics = ["total"]
"""

COST = {"stock": 400.0, "quick": 200.0, "lull": 40.0}

#: Of a base where one of its promises is known not to be kept.
UNKEPT = """[[unkept]]
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
clock = "insn"
max = 0.2
why = "it is slow there"
"""


def feature() -> Feature:
    """The feature, with a catalogue's checks passed."""
    return parse(TOML, "walk", where="synthetic")


def meta(clock: Clock = Clock.INSN, **more: object) -> RunMeta:
    """A run's facts."""
    fields: dict[str, object] = {
        "base": "6.12",
        "kernel": "6.12.117",
        "clock": clock,
        "accel": "tcg",
        "cpus": 2,
    }
    return RunMeta(**{**fields, **more})  # type: ignore[arg-type]


def samples(
    seeds: Iterable[int] = range(6),
    *,
    arm: Arm = Arm.LULL,
    cost: Mapping[str, float] = COST,
    noise: float = 0.01,
) -> list[Sample]:
    """Every round of a full run; a task costs ``cost`` +- noise by mode."""
    found = []
    for boot, job in enumerate(jobs([feature()], seeds=seeds, arm=arm)):
        rng = random.Random(job.seed)
        for number, case in enumerate(job.cases):
            tasks = next(v for v in case.params.values() if isinstance(v, int))
            for i, mode in enumerate(case.order):
                total = round(cost[mode] * tasks * rng.uniform(1 - noise, 1 + noise))
                metrics = {"total": float(total), "visited": float(tasks)}
                found.append(
                    sample(
                        mode, metrics, boot=boot, seed=job.seed, case=number, i=i
                    ).model_copy(
                        update={
                            "workload": case.workload,
                            "params": case.params,
                            "arm": arm,
                        }
                    )
                )
    return found


def sample(
    mode: str,
    metrics: Mapping[str, float],
    *,
    boot: int = 0,
    seed: int = 0,
    case: int = 0,
    i: int = 0,
    params: Mapping[str, Value] | None = None,
    workload: str = "zombies",
) -> Sample:
    """One sample."""
    return Sample(
        boot=boot,
        seed=seed,
        case=case,
        i=i,
        feature="walk",
        workload=workload,
        params=params if params is not None else {"zombies": 30000},
        mode=mode,
        metrics=metrics,
    )
