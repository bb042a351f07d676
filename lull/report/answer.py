# SPDX-License-Identifier: GPL-2.0-only
"""The answer: what a run says to somebody who has one screen.

Made from summaries and the features' headlines, as records that any page can
show; lull.report.answer_text is the one for a terminal.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import Field

from lull.ask.catalog import full_params
from lull.ask.job import SEEDS, STOCK, plans
from lull.ask.presence import switch_of
from lull.kernels.bases import DEFAULT_BASE
from lull.model import (
    LULL,
    Arm,
    CaseSpec,
    Clock,
    Feature,
    Headline,
    Promise,
    Record,
    Row,
    Summary,
    Value,
)
from lull.report.stats import Interval
from lull.report.summary import shown, undecided

RUN = "run"  #: the command that measures features
DEBIAN = "debian"  #: stands for a base where the kernel is Debian's own

#: What is said of that; it fits a line of the answer beside a promise.
NOTHING_LEFT = "no more to win"
#: So near to its own stock a kernel with Lull has nothing left to win, if it has a
#: part of the feature itself.
_NOTHING = 0.01


class OnClock(Record):
    """A headline on one clock. ``ratio`` is Lull's to stock's, ``p`` of the test
    that they differ; ``shown`` is that they do, ``nothing_left`` that the kernel has
    by itself what there was to win."""

    clock: Clock
    unit: str
    stock: float
    lull: float
    ratio: float | None
    ratio_ci95: Interval | None
    p: float | None
    shown: bool
    nothing_left: bool = False


class HeadlineAnswer(Record):
    """A headline in plain words, and what was measured of it."""

    headline: Headline
    measured: tuple[OnClock, ...]


class Verdict(Record):
    """What a feature promises on a clock: how much of it was checked."""

    clock: Clock
    checked: int
    broken: tuple[Promise, ...]
    unkept: tuple[Promise, ...] = ()  #: those that were known not to be kept there
    undecided: int = 0  #: controls that hold since no difference is shown


class Block(Record):
    """A feature. It has no entries where none of its headlines was measured."""

    feature: str
    title: str
    entries: tuple[HeadlineAnswer, ...]
    verdicts: tuple[Verdict, ...]
    native: str = ""  #: what of it this kernel has itself, in its mode stock

    @property
    def broken(self) -> tuple[Promise, ...]:
        """All its promises that do not hold."""
        return tuple(p for verdict in self.verdicts for p in verdict.broken)


class Coverage(Record):
    """How much of what a whole run measures on a clock was measured."""

    clock: Clock
    cases: int
    of_cases: int
    seeds: int
    of_seeds: int

    @property
    def whole(self) -> bool:
        """Whether nothing was left out."""
        return self.cases >= self.of_cases and self.seeds >= self.of_seeds


class Machine(Record):
    """What the figures of a clock were taken on."""

    clock: Clock
    kernel: str
    base: str
    accel: str
    cpus: int


class Answer(Record):
    """All of it, in the order of the text.

    ``controls`` are the commands that hold this kernel against one without Lull,
    none where that was done; ``following`` is the one to try next, and
    ``purpose`` what it is for. ``lull``: some of it was measured in that mode.
    ``absent`` are features that were asked for and are not on the base, by why.
    """

    machines: tuple[Machine, ...]
    blocks: tuple[Block, ...]
    coverage: tuple[Coverage, ...]
    controls: tuple[str, ...]
    following: str
    purpose: str
    run: str = RUN
    lull: bool = True
    absent: Mapping[str, str] = Field(default_factory=dict)


def answer(
    summaries: Sequence[Summary],
    features: Iterable[Feature],
    *,
    run: str = RUN,
    seeds: Mapping[tuple[Clock, bool], int] = SEEDS,
) -> Answer:
    """What these runs, one a clock, say of the features that they measured.

    Nothing is in it of a feature, a headline or a clock that was not measured,
    and of modes nothing but ``stock`` and ``lull``. ``run`` is the command that
    measures, ``seeds`` how many boots it makes by itself.
    """
    known = [f for f in features if any(_of(f, summary) for summary in summaries)]
    blocks = tuple(_block(feature, summaries) for feature in known)
    base = next((s.base for s in summaries), DEFAULT_BASE)
    following, purpose = _following(blocks, known, base, run)
    return Answer(
        machines=tuple(
            Machine(
                clock=s.clock, kernel=s.kernel, base=s.base, accel=s.accel, cpus=s.cpus
            )
            for s in summaries
        ),
        blocks=blocks,
        coverage=tuple(_coverage(known, summary, seeds) for summary in summaries),
        controls=_controls(known, summaries),
        following=following,
        purpose=purpose,
        run=run,
        lull=any(row.mode == LULL for s in summaries for row in s.rows),
        absent={name: why for s in summaries for name, why in s.absent.items()},
    )


def _of(feature: Feature, summary: Summary) -> list[Row]:
    return [row for row in summary.rows if row.feature == feature.name]


def _case(
    feature: Feature, workload: str, params: Mapping[str, Value], summary: Summary
) -> list[Row]:
    wanted = full_params(feature, workload, params)
    return [
        row
        for row in _of(feature, summary)
        if row.workload == workload
        and full_params(feature, workload, row.params) == wanted
    ]


def _block(feature: Feature, summaries: Sequence[Summary]) -> Block:
    entries = []
    for headline in feature.headlines:
        found = [measured_of(feature, headline, summary) for summary in summaries]
        measured = tuple(each for each in found if each is not None)
        if measured:
            entries.append(HeadlineAnswer(headline=headline, measured=measured))
    verdicts = []
    for summary in summaries:
        own = [p for p in summary.expectations if p.feature == feature.name]
        verdicts.append(
            Verdict(
                clock=summary.clock,
                checked=len(own),
                broken=tuple(promise for promise in own if promise.broken),
                unkept=tuple(promise for promise in own if promise.unkept),
                undecided=undecided(own),
            )
        )
    return Block(
        feature=feature.name,
        title=feature.title,
        entries=tuple(entries),
        verdicts=tuple(verdicts),
        native=next((s.native.get(feature.name, "") for s in summaries), ""),
    )


def rows_of(feature: Feature, headline: Headline, summary: Summary) -> dict[str, Row]:
    """A headline's rows of the kernel with Lull, by mode; none on a clock that it is
    not told on."""
    if headline.clock not in (None, summary.clock):
        return {}
    return {
        row.mode: row
        for row in _case(feature, headline.workload, headline.params, summary)
        if row.arm is Arm.LULL and row.metric == headline.metric
    }


def measured_of(
    feature: Feature, headline: Headline, summary: Summary
) -> OnClock | None:
    """What a run has of a headline; None where it was not measured in both modes."""
    rows = rows_of(feature, headline, summary)
    stock, lull = rows.get(STOCK), rows.get(LULL)
    if stock is None or lull is None:
        return None
    return OnClock(
        clock=summary.clock,
        unit=stock.unit,
        stock=stock.median,
        lull=lull.median,
        ratio=lull.ratio,
        ratio_ci95=lull.ratio_ci95,
        p=lull.p,
        shown=shown(lull),
        nothing_left=_nothing_left(feature, lull, summary),
    )


def has_part(native: str) -> bool:
    """Whether a kernel has a part of a feature by itself, of which ``native`` tells; a
    switch that gives it need not be on."""
    return bool(native) and not switch_of(native)


def near_stock(own: Interval | None) -> bool:
    """Whether nothing is left to win by the interval of the ratio to a kernel's own
    stock, if that has a part of the feature itself."""
    return own is not None and all(abs(end - 1) <= _NOTHING for end in own)


def _nothing_left(feature: Feature, lull: Row, summary: Summary) -> bool:
    """Not of who breaks a promise: what does not work is near its stock, too."""
    broken = any(p.broken for p in summary.expectations if p.feature == feature.name)
    native = summary.native.get(feature.name, "")
    return has_part(native) and near_stock(lull.ratio_ci95) and not broken


def _coverage(
    features: Iterable[Feature],
    summary: Summary,
    seeds: Mapping[tuple[Clock, bool], int],
) -> Coverage:
    planned = [
        (feature, case)
        for feature in features
        for case in plans(feature, quick=False, clock=summary.clock)
    ]
    return Coverage(
        clock=summary.clock,
        cases=sum(
            bool(_case(feature, case.workload, case.params, summary))
            for feature, case in planned
        ),
        of_cases=len(planned),
        seeds=summary.seeds,
        of_seeds=seeds[summary.clock, False],
    )


def _controls(
    features: Sequence[Feature], summaries: Iterable[Summary]
) -> tuple[str, ...]:
    """The commands for the controls of what was measured and not controlled, on the
    first clock that lacks any: a quick run for who has one there, a whole run for
    all others."""
    for summary in summaries:
        quick: list[str] = []
        whole: list[str] = []
        for feature in features:
            if not _of(feature, summary):
                continue
            if missing := list(_uncontrolled(feature, summary)):
                in_quick = any(case.in_quick(summary.clock) for case in missing)
                (quick if in_quick else whole).append(feature.name)
        on = ("--clock", summary.clock)
        asked = ((quick, ("--quick", *on, "--control")), (whole, on))
        commands = tuple(
            _command(RUN, *names, *options, base=summary.base)
            for names, options in asked
            if names
        )
        if commands:
            return commands
    return ()


def _uncontrolled(feature: Feature, summary: Summary) -> Iterator[CaseSpec]:
    wanted = [
        (item.workload, full_params(feature, item.workload, item.params))
        for item in feature.expectations
        if item.control and item.clock in (None, summary.clock)
    ]
    for case in plans(feature, quick=False, clock=summary.clock):
        if (case.workload, full_params(feature, case.workload, case.params)) in wanted:
            rows = _case(feature, case.workload, case.params, summary)
            if not any(row.arm is Arm.STOCK for row in rows):
                yield case


def _following(
    blocks: Sequence[Block], features: Sequence[Feature], base: str, run: str
) -> tuple[str, str]:
    for block in blocks:
        for verdict in block.verdicts:
            if verdict.broken:
                words = [*run.split(), block.feature, "--clock", verdict.clock]
                words += ["--check"] if run == RUN else []
                return _command(*words, base=base), f"all cases of {block.feature}"
    gains = [
        (measured.ratio, feature, entry.headline)
        for block, feature in zip(blocks, features, strict=True)
        for entry in block.entries
        for measured in entry.measured
        if entry.headline.profile and measured.shown and measured.ratio is not None
        if not measured.nothing_left
    ]
    if gains:
        _, feature, headline = min(gains, key=lambda gain: gain[0])
        default = feature.workloads[headline.workload].params
        words = ["profile", feature.name, headline.workload, "--vs", STOCK]
        for name, value in headline.params.items():
            if value != default.get(name):
                words += ["--param", f"{name}={value}"]
        command = _command(*words, base=base)
        return command, "which functions of the kernel made the difference"
    for block in blocks:
        words = [*run.split(), block.feature, *(["--check"] if run == RUN else [])]
        return _command(*words, base=base), f"all cases of {block.feature}"
    return "lull list", "what there is to measure"


def _command(*words: str, base: str) -> str:
    more = [] if base in (DEFAULT_BASE, DEBIAN) else ["--base", base]
    return shlex.join(["lull", *words, *more])
