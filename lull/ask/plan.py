# SPDX-License-Identifier: GPL-2.0-only
"""What a run is going to do: its boots, and its commands as text. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lull.ask.job import job_text, jobs, own_boots
from lull.ask.presence import own_switch
from lull.ask.steps import ablated
from lull.kernels.bases import load_base
from lull.kernels.build import describe as describe_build
from lull.model import Arm, CaseSpec, Clock, Feature, Job
from lull.runs.boot import machine_spec
from lull.vm.command import PLACEHOLDERS, qemu_command


@dataclass(frozen=True)
class Request:
    """What to measure. ``seeds`` are seconds that the guest's date moves by.

    ``modes`` and ``workloads`` restrict; None is all of them. ``control``:
    boot the untouched kernel where an expectation compares with it. ``ablate``:
    each step of the mode ``lull``, instead of the modes there are. ``native`` and
    ``absent`` are what there is to say of features on this base (lull.model.Summary).
    """

    features: tuple[Feature, ...]
    base: str
    clock: Clock
    quick: bool
    seeds: tuple[int, ...]
    modes: tuple[str, ...] | None = None
    workloads: tuple[str, ...] | None = None
    control: bool = True
    ablate: bool = False
    native: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    output: Path | None = None

    @property
    def measured(self) -> tuple[Feature, ...]:
        """The features, cut down to the workloads that are asked for; with
        ``ablate`` in the modes that their steps make."""
        features = map(ablated, self.features) if self.ablate else self.features
        return tuple(_only(f, self.workloads) for f in features)


@dataclass(frozen=True)
class PlannedBoot:
    """One boot that a run is going to make.

    ``mode`` is the one that the whole boot is in, empty where they are
    interleaved; ``words`` are more of the kernel's command line.
    """

    arm: Arm
    job: Job
    mode: str = ""
    words: tuple[str, ...] = ()

    @property
    def parallel(self) -> bool:
        """Whether virtual CPUs may run at once: no mode is switched in it."""
        return bool(self.mode)

    @property
    def title(self) -> str:
        """``lull kernel, zfree, mode deferred, seed 3``; no name where many are."""
        names = {case.feature for case in self.job.cases}
        name = f", {names.pop()}" if len(names) == 1 else ""
        mode = f", mode {self.mode}" if self.mode else ""
        return f"{self.arm} kernel{name}{mode}, seed {self.job.seed}"


def plan(request: Request) -> tuple[PlannedBoot, ...]:
    """The boots of a run in order.

    A seed is one boot for each feature, of a quick run one for all of them:
    what a case has done to a kernel stays until it boots again (a static key
    that stays on, pages that are not together any more), and the next feature
    would be measured on that.

    Raises UsageError for a mode that a feature does not have.
    """
    features = [_in_order(f, request) for f in request.measured if f.cases]
    if not features:
        return ()
    groups = [features] if request.quick else [[f] for f in features]
    # In turns, as the modes are: the host's drift meets both kernels.
    boots = [
        planned
        for seed in request.seeds
        for group in groups
        for planned in _pair(group, seed, request)
    ]
    return (*boots, *_own(features, request))


def _pair(
    features: Sequence[Feature], seed: int, request: Request
) -> Iterator[PlannedBoot]:
    """The boot of the lull kernel, and the one of the untouched to hold against."""
    asked = partial(jobs, seeds=(seed,), quick=request.quick, clock=request.clock)
    for job in asked(features, modes=request.modes):
        yield PlannedBoot(Arm.LULL, job)
    controls = _controlled(features, request.clock) if request.control else []
    for job in asked(controls, arm=Arm.STOCK):
        yield PlannedBoot(Arm.STOCK, job)


def _own(features: Sequence[Feature], request: Request) -> list[PlannedBoot]:
    return [
        PlannedBoot(Arm.LULL, own.job, own.mode, own.words)
        for seed in request.seeds
        for feature in features
        for own in own_boots(
            feature,
            seed=seed,
            clock=request.clock,
            quick=request.quick,
            modes=request.modes,
        )
    ]


def describe(request: Request) -> list[str]:
    """The commands that a run would execute, as text; nothing is done."""
    planned = plan(request)
    lines: list[str] = []
    for arm in dict.fromkeys(p.arm for p in planned):
        lines += describe_build(request.base, arm)
    for number, item in enumerate(planned):
        lines.append(
            f"# boot {number + 1} of {len(planned)}: {item.title}, "
            f"{request.clock} clock, with this job:"
        )
        lines += [f"#   {line}" for line in job_text(item.job).splitlines()]
        spec = machine_spec(
            Path(f"KERNEL-{item.arm}"),
            request.base,
            item.job.seed,
            request.clock,
            "tcg",
            item.words,
            parallel=item.parallel,
        )
        lines.append(shlex.join(qemu_command(spec, PLACEHOLDERS)))
    return lines


def repeat_command(request: Request) -> list[str]:
    """The command line that asks for the same run again."""
    words = ["lull", "run", *(f.name for f in request.features)]
    words += ["--base", request.base, "--clock", request.clock]
    words += ["--quick"] if request.quick else []
    words += ["--ablate"] if request.ablate else []
    words += ["--seed", str(request.seeds[0]), "--seeds", str(len(request.seeds))]
    for option, names in (("--mode", request.modes), ("--workload", request.workloads)):
        for name in names or ():
            words += [option, name]
    if request.control == request.quick:
        words.append("--control" if request.control else "--no-control")
    return words


def _only(feature: Feature, workloads: Sequence[str] | None) -> Feature:
    if workloads is None:
        return feature
    return feature.model_copy(
        update={
            "cases": tuple(c for c in feature.cases if c.workload in workloads),
            "expectations": tuple(
                e for e in feature.expectations if e.workload in workloads
            ),
        }
    )


def _controlled(features: Iterable[Feature], clock: Clock) -> list[Feature]:
    """Features cut down to the cases that a control expectation is about."""
    found = []
    for feature in features:
        cases = tuple(c for c in feature.cases if _has_control(feature, c, clock))
        if cases:
            found.append(feature.model_copy(update={"cases": cases}))
    return found


def _in_order(feature: Feature, request: Request) -> Feature:
    """The same cases; those that the untouched kernel runs, too, come first, so
    that both kernels have done the same before. Those that switch on what the
    base has by itself come last: it may stay on until the next boot."""
    switch = own_switch(feature, load_base(request.base))
    cases = sorted(
        feature.cases,
        key=lambda case: (
            not _has_control(feature, case, request.clock),
            bool(switch and case.params.get(switch)),
        ),
    )
    return feature.model_copy(update={"cases": tuple(cases)})


def _has_control(feature: Feature, case: CaseSpec, clock: Clock) -> bool:
    return any(
        e.control
        and e.clock in (None, clock)
        and (e.workload, e.params) == (case.workload, case.params)
        for e in feature.expectations
    )
