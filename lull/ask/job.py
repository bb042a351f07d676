# SPDX-License-Identifier: GPL-2.0-only
"""What a boot has to do: the order of the rounds, and the job as text.

Pure; docs/contracts.md has the format.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lull.ask.catalog import check_mode, full_params
from lull.ask.steps import sets_of
from lull.errors import LabError, UsageError
from lull.model import Arm, Case, CaseSpec, Clock, Feature, Job

STOCK = "stock"

#: Boots of the lull kernel, by clock and ``quick``. A seed counts once on the
#: insn clock, and from six on they are tested as pairs; on wall every block of
#: rounds counts.
SEEDS = {
    (Clock.INSN, True): 6,
    (Clock.INSN, False): 12,
    (Clock.WALL, True): 2,
    (Clock.WALL, False): 8,
}


def order(modes: Sequence[str], rounds: int, seed: int | str) -> tuple[str, ...]:
    """Every mode exactly ``rounds`` times, in mirrored blocks (A B C C B A).

    A block is a permutation of the modes followed by its mirror image, so
    that a drift that is linear over the block adds the same to every mode.
    Each block has its own permutation, drawn from ``seed``. An odd number of
    rounds leaves half a block at the end.

    Raises UsageError for no modes, a mode named twice, or rounds below 1.
    """
    if not modes or len(set(modes)) != len(modes):
        raise UsageError(f"modes to run: {' '.join(modes) or 'none'}")
    if rounds < 1:
        raise UsageError(f"rounds: {rounds}", hint="at least 1")
    rng = random.Random(seed)
    words: list[str] = []
    for _ in range((rounds + 1) // 2):
        half = rng.sample(list(modes), len(modes))
        words += half + half[::-1]
    return tuple(words[: rounds * len(modes)])


def block_of(i: int, modes: int) -> int:
    """The number of the block that round ``i`` of ``order`` belongs to."""
    return i // (2 * modes)


@dataclass(frozen=True)
class OwnBoot:
    """A boot of some cases of one feature. ``words`` are more of the kernel's
    command line; ``mode`` is the only one there is in it, empty for all."""

    job: Job
    mode: str
    words: tuple[str, ...]


def plans(
    feature: Feature, *, quick: bool, clock: Clock = Clock.INSN
) -> tuple[CaseSpec, ...]:
    """The cases that a run of the feature measures."""
    return tuple(
        case
        for case in feature.cases
        if (case.in_quick(clock) if quick else case.clock in (None, clock))
    )


def alone(case: CaseSpec, clock: Clock) -> bool:
    """Whether a boot of the case has one mode only."""
    return case.parallel and clock is Clock.WALL


def has_own_boots(case: CaseSpec, clock: Clock) -> bool:
    """Whether the boots of a case are not those of all others."""
    return bool(case.words) or alone(case, clock)


def jobs(
    features: Iterable[Feature],
    *,
    seeds: Iterable[int],
    quick: bool = False,
    clock: Clock = Clock.INSN,
    arm: Arm = Arm.LULL,
    modes: Collection[str] | None = None,
    warmup: int = 1,
) -> tuple[Job, ...]:
    """One job, that is one boot, for each seed: all cases of all features but
    those that have boots of their own.

    ``modes`` restricts the modes of every feature; ``stock`` is always among
    them, since ratios refer to it. The untouched kernel knows ``stock`` only.
    Parameters are written out in full, so that a job does not depend on the
    probe's defaults. The order depends on the seed and the case alone: a run
    of one feature repeats what it did in a run of all.

    Raises UsageError for a mode that a feature does not have.
    """
    chosen = [(feature, _modes(feature, arm, modes)) for feature in features]
    made = (
        Job(
            seed=seed,
            cases=tuple(
                _case(feature, plan, names, seed, warmup)
                for feature, names in chosen
                for plan in plans(feature, quick=quick, clock=clock)
                if not has_own_boots(plan, clock)
            ),
        )
        for seed in seeds
    )
    return tuple(job for job in made if job.cases)


def own_boots(
    feature: Feature,
    *,
    seed: int,
    clock: Clock,
    quick: bool = False,
    modes: Collection[str] | None = None,
    warmup: int = 1,
) -> Iterator[OwnBoot]:
    """The boots, for one seed, of cases that do not share those of all others.

    A static key that is switched while processors run at once is what TCG gets
    wrong (lull/vm/command.py): in a parallel case a mode comes with the command
    line and stays, and the order of the modes depends on the seed. Cases that
    want the same words share their boots.
    """
    own = [
        plan
        for plan in plans(feature, quick=quick, clock=clock)
        if has_own_boots(plan, clock)
    ]
    names = _modes(feature, Arm.LULL, modes)
    for words, one in dict.fromkeys((p.words, alone(p, clock)) for p in own):
        group = [p for p in own if (p.words, alone(p, clock)) == (words, one)]
        for mode in order(names, 1, f"{seed} {words}") if one else ("",):
            warm: set[str] = set()
            cases = []
            for plan in group:
                # The same code, in the same boot, is warm for all its cases.
                again = 0 if plan.workload in warm else warmup
                warm.add(plan.workload)
                order_of = (mode,) if mode else names
                cases.append(_case(feature, plan, order_of, seed, again))
            more = [f"lull.{name}={mode}" for name in feature.switched if mode]
            yield OwnBoot(Job(seed=seed, cases=tuple(cases)), mode, (*more, *words))


def job_text(job: Job) -> str:
    """The job as the probe reads it; ends in a newline.

    Raises LabError for a word that would break a line: empty, or with white
    space or ``#`` in it.
    """
    lines = ["lull-job 1", f"seed {job.seed}"]
    for number, case in enumerate(job.cases):
        lines.append(f"case {number} {_word(case.feature)} {_word(case.workload)}")
        for name, value in case.params.items():
            lines.append(f"param {_word(name)} {_word(str(value))}")
        lines.append(f"warmup {case.warmup}")
        for word, steps in case.steps.items():
            lines.append(f"steps {_word(word)} {_word(steps)}")
        lines.append(" ".join(["order", *map(_word, case.order)]))
        lines.append("end")
    return "\n".join(lines) + "\n"


def _modes(
    feature: Feature, arm: Arm, modes: Collection[str] | None
) -> tuple[str, ...]:
    for name in modes or ():
        check_mode(feature, name)
    if arm is Arm.STOCK:
        return (STOCK,)
    return tuple(
        name
        for name in feature.mode_names
        if modes is None or name in modes or name == STOCK
    )


def _case(
    feature: Feature, plan: CaseSpec, modes: Sequence[str], seed: int, warmup: int
) -> Case:
    params = full_params(feature, plan.workload, plan.params)
    key = (seed, feature.name, plan.workload, sorted(params.items()))
    rounds = order(modes, plan.rounds, repr(key))
    return Case(
        feature=feature.name,
        workload=plan.workload,
        params=params,
        warmup=warmup,
        steps=sets_of(feature, rounds),
        order=rounds,
    )


def _word(text: str) -> str:
    if not text or any(c.isspace() or c == "#" or not c.isprintable() for c in text):
        raise LabError(f"not a word for a job: {text!r}")
    return text
