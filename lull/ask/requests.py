# SPDX-License-Identifier: GPL-2.0-only
"""What the words of ``lull run`` ask for, as requests: one a base and clock."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.ask.catalog import check_mode, check_workload
from lull.ask.job import SEEDS, plans
from lull.ask.plan import Request, plan
from lull.ask.presence import absent_from, on_some, select_on
from lull.errors import UsageError
from lull.kernels.bases import Base
from lull.model import Clock, Feature
from lull.runs.boot import machine_spec


@dataclass(frozen=True)
class Asked:
    """The words. Empty names are all there are; None is what ``quick`` makes of it.

    ``seed`` is the first of ``seeds`` boots. ``output`` is the folder of the run, or of
    all of them, where there are several.
    """

    bases: Sequence[Base]
    clocks: Sequence[Clock]
    features: Sequence[str] = ()
    modes: Sequence[str] = ()
    workloads: Sequence[str] = ()
    quick: bool = False
    seed: int = 1
    seeds: int | None = None
    control: bool | None = None
    ablate: bool = False
    output: Path | None = None


def requests_of(asked: Asked, say: Callable[[str], None]) -> list[Request]:
    """The runs, in the order of bases and clocks; those that measure nothing are left
    out: nobody who names no clock has to know that a feature has nothing on one.

    ``say`` is told of features that are left out, and why. Raises UsageError for names
    that nobody knows, a seed that is no date, and where nothing would be measured.
    """
    on = _on_bases(asked, say)
    several, two = len(asked.bases) > 1, len(asked.clocks) > 1
    found = [
        Request(
            features=on[base.name].features,
            base=base.name,
            clock=clock,
            quick=asked.quick,
            seeds=seeds_from(
                asked.seed,
                asked.seeds or SEEDS[clock, asked.quick],
                base.name,
            ),
            modes=tuple(asked.modes) or None,
            workloads=tuple(asked.workloads) or None,
            control=not asked.quick if asked.control is None else asked.control,
            ablate=asked.ablate,
            native=base.native,
            absent=on[base.name].absent,
            output=_place(
                asked.output, base.name if several else "", clock if two else ""
            ),
        )
        for base in asked.bases
        if base.name in on
        for clock in asked.clocks
    ]
    measure = [request for request in found if plan(request)]
    if not measure:
        raise _nothing(found)
    return measure


def seeds_from(first: int, count: int, base: str, later: int = 0) -> tuple[int, ...]:
    """So many seeds. Raises UsageError where the last is no date of a guest's, which
    is so many seconds later than the lab's are."""
    last = first + count - 1
    try:
        machine_spec(Path("KERNEL"), base, last + later, Clock.INSN, "tcg")
    except ValueError as error:
        raise UsageError(
            f"seeds {first} to {last}: {error}", hint="a smaller --seed, or --seeds"
        ) from error
    return tuple(range(first, last + 1))


@dataclass(frozen=True)
class _OnBase:
    """What is measured on a base, and why the rest is not on it."""

    features: tuple[Feature, ...]
    absent: Mapping[str, str]


def _on_bases(asked: Asked, say: Callable[[str], None]) -> dict[str, _OnBase]:
    """By base; one that has none of the features that are named has no entry."""
    found: dict[str, _OnBase] = {}
    for base in asked.bases:
        names = on_some(asked.features, base, asked.bases)
        if asked.features and not names:
            continue
        chosen = select_on(base, names, asked.modes)
        absent = {
            name: why
            for name, why in absent_from(base).items()
            if not asked.features or name in set(asked.features).difference(names)
        }
        for name, why in absent.items():
            say(f"without {name}, not on the base {base.name}: {why}")
        if asked.ablate and not asked.features:
            chosen = tuple(feature for feature in chosen if feature.steps)
        _known_to_one(chosen, asked.workloads, check_workload)
        _known_to_one(chosen, asked.modes, check_mode)
        if asked.modes and not asked.features:
            chosen = _with_modes(chosen, asked.modes, base, say)
        found[base.name] = _OnBase(chosen, absent)
    return found


def _known_to_one(
    chosen: Sequence[Feature],
    names: Iterable[str],
    check: Callable[[Feature, str], object],
) -> None:
    """A name has to be known to one of the features; else UsageError."""
    for name in names:
        errors = []
        for feature in chosen:
            try:
                check(feature, name)
            except UsageError as error:
                errors.append(error)
        if len(errors) == len(chosen):
            raise errors[0]


def _with_modes(
    chosen: Sequence[Feature],
    modes: Collection[str],
    base: Base,
    say: Callable[[str], None],
) -> tuple[Feature, ...]:
    """Those that have all the modes. Raises UsageError where none has."""
    found = tuple(one for one in chosen if set(modes) <= set(one.mode_names))
    if not found:
        raise UsageError(
            f"no feature has all of the modes {', '.join(modes)}",
            hint="a run of each mode",
        )
    left = [one.name for one in chosen if one not in found]
    if left:
        text = f"without {', '.join(left)} on {base.name}"
        say(f"{text}: not with the mode {' and '.join(modes)}")
    return found


def _place(output: Path | None, *parts: str) -> Path | None:
    """The folder of one of several runs, below the one that was named."""
    return output.joinpath(*filter(None, parts)) if output else None


def _nothing(requests: Sequence[Request]) -> UsageError:
    """What is said where no case is left: what has one."""
    features = {f.name: f for request in requests for f in request.features}.values()
    names = {name for request in requests for name in request.workloads or ()}
    clocks = dict.fromkeys(request.clock for request in requests)
    quick = any(request.quick for request in requests)

    def cases(quick: bool, clocks: Iterable[Clock]) -> set[str]:
        return {
            case.workload
            for feature in features
            for clock in clocks
            for case in plans(feature, quick=quick, clock=clock)
        }

    asked = names or cases(quick=False, clocks=Clock)
    hints = []
    if quick and asked & cases(False, clocks):
        hints.append("without --quick")
    elif other := [c for c in Clock if asked & cases(False, [c]) and c not in clocks]:
        hints.append(f"{'without --quick, ' if quick else ''}--clock {other[0]}")
    hints += [f"--workload {name}" for name in sorted(cases(quick, clocks))]
    what = ", ".join(sorted(names) or [feature.name for feature in features])
    how = f" on {' or '.join(clocks)}{' in a quick run' if quick else ''}"
    return UsageError(
        f"nothing is measured of {what}{how}",
        hint="; or ".join(hints) or "lull list NAME: what is tried is for make test",
    )
