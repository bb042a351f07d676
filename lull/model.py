# SPDX-License-Identifier: GPL-2.0-only
"""Records that more than one part of the lab handles.

Everything here is frozen data: files (feature.toml, bases/*.toml) become
these models in ``lull.ask.catalog``; jobs and samples are the wire format of
docs/contracts.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Value = int | float | str

LULL = "lull"  #: the mode that the answer is about

#: Stands beside the modes where one may compare with a kernel without Lull.
UNTOUCHED = "untouched"


class Record(BaseModel):
    """A frozen record that refuses members it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Clock(StrEnum):
    """What a duration is measured in: executed instructions, or time."""

    INSN = "insn"
    WALL = "wall"


class Arm(StrEnum):
    """Which kernel of a base: untouched, with Lull, or Lull under checkers, of
    which there are two that cannot be in one kernel."""

    STOCK = "stock"
    LULL = "lull"
    DEBUG = "debug"
    KCSAN = "kcsan"


class Mode(Record):
    name: str
    text: str
    unsafe: str = ""  #: why this mode must not be used, when it must not


class Place(Record):
    """A metric of a case, where the headlines have none that shows a step."""

    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    metric: str


class Step(Record):
    """One of the things that the mode ``lull`` consists of. Without those that it
    ``needs`` it does nothing. ``at`` is where ``--ablate`` looks for it, too."""

    name: str
    text: str
    needs: tuple[str, ...] = ()
    at: Place | None = None


class Metric(Record):
    unit: str
    text: str
    supporting: bool = False  #: for the tables, not for the answer


class Workload(Record):
    text: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    work: str = ""  #: the metric that counts a round's units of work, if any


class CaseSpec(Record):
    """One row group of the table: a workload with its parameters."""

    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    quick: bool | Clock = False  #: in ``--quick``; on this clock only
    rounds: int = 2  #: samples of each mode in one boot
    clock: Clock | None = None  #: measured on this clock only
    parallel: bool = False  #: on wall: one mode a boot, CPUs really run at once
    words: tuple[str, ...] = ()  #: for the kernel's command line, in own boots

    def in_quick(self, clock: Clock) -> bool:
        """Whether ``--quick`` measures it on that clock."""
        return self.clock in (None, clock) and self.quick in (True, clock)


class Headline(Record):
    """What the answer says of a feature: a metric of a case, in plain words.

    Without ``clock`` on each clock that it was measured on.
    """

    text: str
    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    metric: str
    clock: Clock | None = None
    profile: bool = False  #: the profile instrument says where it comes from


class Shown(Record):
    """Metrics of a case that README's table has beside promises and headlines."""

    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    metrics: tuple[str, ...]


class Known(Record):
    """Why a promise is known not to be kept on a base, and the ``max`` that is."""

    why: str
    max: float


class Expectation(Record):
    """A bound on the ratio of a mode's median to another's, or on the median."""

    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    metric: str
    mode: str
    to: str = "stock"  #: the mode that the ratio is to
    min: float | None = None
    max: float | None = None
    aim: float | None = None  #: reported, never failed on
    clock: Clock | None = None  #: holds on this clock only
    control: bool = False  #: this mode against the untouched kernel
    absolute: bool = False  #: bounds the median itself, in the metric's unit
    every: bool = False  #: with absolute: bounds each sample, not the median
    unkept: Known | None = None  #: it is known not to be kept on that base


class PublishedRow(Record):
    """A line of somebody's table: a case here, and their figures for it, a
    column each; 0 where they have none. ``metrics`` are ours, one for each of
    the table's ``heads``, where it has those."""

    label: str
    metrics: tuple[str, ...] = ()
    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    values: tuple[float, ...]


class Published(Record):
    """A table that somebody published; ``metric`` is ours for it.

    ``heads`` are the columns that each of ``columns`` consists of, if it does.
    ``unit`` is theirs: ``ms``, for a metric of ours in ns, or the name of what
    both count, of which more is better.
    """

    title: str
    source: str
    metric: str = ""
    unit: str = "ms"
    columns: tuple[str, ...]
    heads: tuple[str, ...] = ()
    rows: tuple[PublishedRow, ...]


class Feature(Record):
    """One feature.toml."""

    name: str
    title: str
    modes: tuple[Mode, ...]
    #: What the mode ``lull`` consists of, where it can be taken apart.
    steps: tuple[Step, ...] = ()
    metrics: Mapping[str, Metric]
    workloads: Mapping[str, Workload]
    cases: tuple[CaseSpec, ...] = ()
    headlines: tuple[Headline, ...] = ()
    shown: tuple[Shown, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    published: tuple[Published, ...] = ()
    #: Of metrics whose samples have NAME_hN: how many took 2^N to 2^(N+1) ns, or
    #: had so many of the unit that `metrics` has for NAME.
    histograms: tuple[str, ...] = ()
    #: A scenario's features: a mode of it is that mode of each of them.
    switches: tuple[str, ...] = ()

    @property
    def switched(self) -> tuple[str, ...]:
        """The features whose modes change with its own."""
        return self.switches or (self.name,)

    @property
    def mode_names(self) -> tuple[str, ...]:
        return tuple(mode.name for mode in self.modes)


class Case(Record):
    """One ``case`` of a job, as the probe gets it."""

    feature: str
    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    warmup: int = 0
    #: For words of the order that stand for steps of the mode ``lull``: which.
    steps: Mapping[str, str] = Field(default_factory=dict)
    order: tuple[str, ...]


class Job(Record):
    """What one boot has to do; ``lull.ask.job`` writes it as text."""

    seed: int
    cases: tuple[Case, ...]


class Sample(Record):
    """One measured round; a line of results.jsonl.

    ``boot`` is the boot's number in the run and ``arm`` the kernel it ran on.
    """

    arm: Arm = Arm.LULL
    boot: int
    seed: int
    case: int
    i: int
    feature: str
    workload: str
    params: Mapping[str, Value]
    mode: str
    metrics: Mapping[str, float]


class Check(Record):
    """The verdict of a safety workload."""

    case: int
    name: str
    ok: bool
    text: str


class Hello(Record):
    """The probe's first line: the machine as the guest sees it."""

    kernel: str
    cpus: int
    clocksource: str = ""
    features: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)


class Row(Record):
    """One row of summary.json: a metric of a case in one mode.

    ``ratio`` is to the same case's ``stock`` in the same run, below 1 is
    less; ``p`` tests that the two differ. ``needs`` is about how many samples
    a mode would show a difference of the size seen, where none was shown.
    """

    feature: str
    workload: str
    metric: str
    unit: str
    params: Mapping[str, Value]
    mode: str
    arm: Arm = Arm.LULL
    n: int
    median: float
    ci95: tuple[float, float] | None
    ratio: float | None = None
    ratio_ci95: tuple[float, float] | None = None
    p: float | None = None
    needs: int | None = None


class StepShare(Record):
    """What a step of the mode ``lull`` brings, by a metric of a case.

    ``alone`` and ``without`` are modes of ``rows``: that step, with those that it
    needs, and all but it, and but those that need it; ``none`` is without any.
    ``ratio`` is ``lull`` to
    ``without``: below 1 is less with the step than without it.
    """

    feature: str
    workload: str
    params: Mapping[str, Value]
    metric: str
    step: str
    text: str
    needs: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    alone: str
    without: str
    none: str
    ratio: float | None = None
    ratio_ci95: tuple[float, float] | None = None
    p: float | None = None


class Promise(Record):
    """An expectation of ``feature`` held against what was measured."""

    text: str
    ok: bool
    measured: float | None
    aim: float | None = None
    feature: str = ""
    unkept: str = ""  #: why it was known that it would not hold, where it does not

    @property
    def broken(self) -> bool:
        """It does not hold, and nobody had said so before."""
        return not self.ok and not self.unkept


class Summary(Record):
    """summary.json; ``lull/schema/summary.json`` is its JSON Schema."""

    schema_: Literal[1] = Field(1, alias="schema")
    base: str
    kernel: str
    clock: Clock
    accel: str
    cpus: int
    seeds: int = 0  #: how many the boots with Lull had
    rows: tuple[Row, ...]
    #: Of ``lull run --ablate``; empty in other runs.
    steps: tuple[StepShare, ...] = ()
    expectations: tuple[Promise, ...]
    ok: bool
    #: By feature: what of it this kernel has itself, and why another is not there.
    native: Mapping[str, str] = Field(default_factory=dict)
    absent: Mapping[str, str] = Field(default_factory=dict)

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
