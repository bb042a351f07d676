# SPDX-License-Identifier: GPL-2.0-only
"""The steps of a feature's mode ``lull``, one by one: what their names mean. Pure.

``lull+STEP`` is that step alone, with those that it needs; ``lull-STEP`` all but
it, and but those that need it; ``lull=STEP,STEP`` these and no other, whatever
they need, and ``lull=none`` none. The kernel takes any of them: a step that lacks
what it needs does nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from lull.errors import UsageError
from lull.model import LULL, CaseSpec, Feature, Mode, Place, Step

STOCK = "stock"
#: In a trial: a set of steps that the seed draws, another each time.
ANY = f"{LULL}?"
NO_STEP = "none"  #: what the kernel calls no step at all
NONE = f"{LULL}={NO_STEP}"


def alone(step: Step) -> str:
    """The name of a step alone."""
    return f"{LULL}+{step.name}"


def without(step: Step) -> str:
    """The name of all steps but one."""
    return f"{LULL}-{step.name}"


def is_set(word: str) -> bool:
    """Whether a mode's name is one of those that name steps."""
    return word.startswith((f"{LULL}+", f"{LULL}-", f"{LULL}="))


def steps_of(feature: Feature, word: str) -> str:
    """What the kernel's file ``steps`` is to say for the mode of that name.

    For the mode ``lull`` all of them. Raises UsageError, with the valid names,
    for one that the feature does not have.
    """
    known = {step.name: step for step in feature.steps}
    sign, names = word.removeprefix(LULL)[:1], word[len(LULL) + 1 :]
    if sign in ("+", "-"):
        _check(feature, (names,))
    if sign == "+":
        chosen = {names, *_needed(feature, known[names])}
    elif sign == "-":
        chosen = set(known) - {names, *(s.name for s in dependents(feature, names))}
    elif sign == "=":
        wanted = names.split(",") if names != NO_STEP else []
        _check(feature, wanted)
        chosen = set(wanted)
    else:
        chosen = set(known)
    return ",".join(name for name in known if name in chosen) or NO_STEP


def sets_of(feature: Feature, order: Iterable[str]) -> dict[str, str]:
    """For the words of a job's order that stand for steps: what these are.

    Where any does, the mode ``lull`` has a line as well: steps stay as they are
    until others are set. Empty where none does.
    """
    words = tuple(dict.fromkeys(order))
    if not any(map(is_set, words)):
        return {}
    return {w: steps_of(feature, w) for w in words if is_set(w) or w == LULL}


def draw(feature: Feature, order: Iterable[str], seed: int | str) -> tuple[str, ...]:
    """The order with each ``lull?`` replaced by a set that the seed draws."""
    rng = random.Random(f"steps {seed}")
    return tuple(_drawn(feature, rng) if word == ANY else word for word in order)


def places(feature: Feature) -> tuple[Place, ...]:
    """Where ``--ablate`` looks: the headlines, and what single steps name."""
    lines = [
        Place(workload=h.workload, params=h.params, metric=h.metric)
        for h in feature.headlines
    ]
    found: list[Place] = []
    for place in (*lines, *(step.at for step in feature.steps if step.at)):
        if place not in found:
            found.append(place)
    return tuple(found)


def dependents(feature: Feature, name: str) -> tuple[Step, ...]:
    """The steps that do nothing without that one."""
    return tuple(s for s in feature.steps if name in _needed(feature, s))


def ablated(feature: Feature) -> Feature:
    """The feature as ``--ablate`` measures it: the cases of its ``places``, in
    ``stock``, in ``lull``, in that without any step, in each step alone and in all
    but each.

    Nothing is promised of single steps. All modes take turns in one boot: a
    kernel does not take steps from its command line. Raises UsageError for a
    feature that has no steps.
    """
    if not feature.steps:
        raise UsageError(
            f"nobody has said which steps {feature.name} has",
            hint="those that have [[steps]] in feature.toml can be taken apart",
        )
    about = {mode.name: mode for mode in feature.modes}
    modes = [about[STOCK], about[LULL], Mode(name=NONE, text="no step of it")]
    for step in feature.steps:
        modes.append(Mode(name=alone(step), text=f"only: {step.text}"))
        modes.append(Mode(name=without(step), text=f"all but: {step.text}"))
    there = places(feature)
    cases = tuple(
        case.model_copy(update={"parallel": False, "quick": True})
        for case in feature.cases
        if any(_is_of(place, case) for place in there)
    )
    return feature.model_copy(
        update={"modes": tuple(modes), "cases": cases, "expectations": ()}
    )


def _is_of(place: Place, case: CaseSpec) -> bool:
    return (place.workload, dict(place.params)) == (case.workload, dict(case.params))


def _drawn(feature: Feature, rng: random.Random) -> str:
    chosen = [step.name for step in feature.steps if rng.random() < 0.5]
    return f"{LULL}={','.join(chosen) or NO_STEP}"


def _needed(feature: Feature, step: Step) -> Iterator[str]:
    """What a step needs, and what that needs."""
    known = {s.name: s for s in feature.steps}
    for name in step.needs:
        yield name
        yield from _needed(feature, known[name])


def _check(feature: Feature, names: Iterable[str]) -> None:
    known = [step.name for step in feature.steps]
    for name in names:
        if name not in known:
            raise UsageError(
                f"unknown step of {feature.name}: {name!r}",
                hint=f"one of: {', '.join(known) or 'none'}",
            )
