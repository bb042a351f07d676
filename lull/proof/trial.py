# SPDX-License-Identifier: GPL-2.0-only
"""What is tried in a guest: the statements of features/*/safety.toml as records.

A trial is one boot. It holds where its checks are there and good; one with a
``fault`` lacks a safeguard, and is seen where its fault shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from lull.ask.catalog import ROOMS, feature
from lull.ask.steps import ANY, draw, is_set, sets_of
from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.host.records import parse_toml
from lull.model import Arm, Case, Job, Record, Value
from lull.proof.faults import known_ways

#: The words of a case that are no parameters of its workload.
_WORDS = frozenset({"run", "modes", "times", "proof", "params"})


class Size(StrEnum):
    """How much of each is tried: enough to show it, or all."""

    TEST = "test"
    PROOF = "proof"


class TrialCase(Record):
    """One workload of a trial; what it has beside these words is a parameter.

    ``proof`` overrides parameters at full size; how often each mode has its turn is
    the same, for a trial's checks are counted.
    """

    run: str
    modes: str
    times: int = Field(1, ge=1)
    params: Mapping[str, Value] = Field(default_factory=dict)
    proof: Mapping[str, Value] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "params" in data:
            return data
        params = {name: data[name] for name in data if name not in _WORDS}
        rest = {name: data[name] for name in data if name in _WORDS}
        return {**rest, "params": params}

    @model_validator(mode="after")
    def _is_counted(self) -> TrialCase:
        words = sorted(_WORDS & self.proof.keys())
        if words:
            raise ValueError(f"proof cannot change {', '.join(words)}")
        return self

    def case(self, name: str, size: Size, seed: int) -> Case:
        """As a job has it, of the feature of that name."""
        more = dict(self.proof) if size is Size.PROOF else {}
        order = tuple(self.modes.split()) * self.times
        sets: dict[str, str] = {}
        if any(word == ANY or is_set(word) for word in order):
            about = feature(name)
            order = draw(about, order, f"{seed} {self.run}")
            sets = sets_of(about, order)
        return Case(
            feature=name,
            workload=self.run,
            params={**self.params, **more},
            steps=sets,
            order=order,
        )


class Fault(Record):
    """Each way in which a missing safeguard may show, and no other.

    ``checks`` are those that may fail, with a regular expression that their
    text has to match (may be empty). ``guest`` is one for why the probe gave up,
    where that is the fault's doing. ``kernel`` are reports of the kernel:
    names of ``lull.proof.faults.WAYS``, or regular expressions for ``KIND:
    TEXT`` of the first finding.
    """

    checks: Mapping[str, str] = Field(default_factory=dict)
    kernel: tuple[str, ...] = ()
    guest: str = ""

    @model_validator(mode="after")
    def _can_show(self) -> Fault:
        if not (self.checks or self.kernel or self.guest):
            raise ValueError("a fault that shows nowhere is none")
        known_ways((*self.kernel, *self.checks.values(), self.guest))
        return self


class Trial(Record):
    """One boot, and what is to come of it; a ``[[trial]]`` of safety.toml.

    ``checks`` have to be there, so many of each name, and good; ``fails`` are
    checks that have to be there and bad. ``seconds`` is about how long it takes on
    the machine that README's times are of. ``random``: other seeds try
    something else.
    """

    name: str
    text: str
    feature: str = ""
    needs: tuple[str, ...] = ()
    cases: tuple[TrialCase, ...] = Field(min_length=1)
    checks: Mapping[str, int] = Field(default_factory=dict)
    fails: Mapping[str, int] = Field(default_factory=dict)
    fault: Fault | None = None
    arm: Arm = Arm.DEBUG
    proof: bool = False  #: at full size only
    random: bool = True
    seconds: int = 30
    about: str = ""  #: of KCSAN: reports in functions that this finds count
    known: tuple[str, ...] = ()  #: of these: reports that are the kernel's own

    @model_validator(mode="after")
    def _is_one(self) -> Trial:
        if (self.fault is None) == (not self.checks):
            raise ValueError("has either checks or a fault")
        if (self.arm is Arm.KCSAN) != bool(self.about):
            raise ValueError("about goes with the arm kcsan")
        return self

    @property
    def id(self) -> str:
        """``attach: CG1 without readers``: unique among all."""
        return f"{self.feature}: {self.name}"

    @property
    def allow(self) -> tuple[str, ...]:
        """Reports that do not count: regular expressions."""
        if not self.about:
            return ()
        return (rf"KCSAN: data-race in (?!.*({self.about}))", *self.known)

    @property
    def seen(self) -> re.Pattern[str] | None:
        """The kernel's report that a fault is looked for by; what comes after it is
        no part of the verdict."""
        ways = self.fault.kernel if self.fault else ()
        return known_ways(ways) if ways else None

    def job(self, size: Size, seed: int) -> Job:
        """The boot's job."""
        cases = tuple(case.case(self.feature, size, seed) for case in self.cases)
        return Job(seed=seed, cases=cases)


class _File(Record):
    #: Features whose kernel code the workloads look at as well.
    needs: tuple[str, ...] = ()
    trial: tuple[Trial, ...]


def parse(text: str, feature: str, *, where: str) -> tuple[Trial, ...]:
    """The trials of a safety.toml; LabError names file and field."""
    file = parse_toml(text, _File, where=where)
    names = [trial.name for trial in file.trial]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise LabError(f"there twice: {', '.join(sorted(twice))}", where=where)
    more = {"feature": feature, "needs": file.needs}
    return tuple(trial.model_copy(update=more) for trial in file.trial)


def trials(root: Path | None = None) -> tuple[Trial, ...]:
    """All that the project has, by feature, in the files' order."""
    return tuple(_all(root or repo_root()))


def _all(root: Path) -> Iterator[Trial]:
    for room in ROOMS:
        for path in sorted(root.glob(f"{room}/*/safety.toml")):
            yield from parse(path.read_text("utf-8"), path.parent.name, where=str(path))


def of_features(found: Iterable[Trial], names: Iterable[str]) -> tuple[Trial, ...]:
    """Those of the features named, or all; UsageError for a name that has none."""
    known = tuple(found)
    wanted = tuple(names)
    have = dict.fromkeys(trial.feature for trial in known)
    for name in wanted:
        if name not in have:
            raise UsageError(
                f"no trials of {name!r}", hint=f"one of: {', '.join(have)}"
            )
    return tuple(t for t in known if not wanted or t.feature in wanted)


def of_size(found: Iterable[Trial], size: Size) -> tuple[Trial, ...]:
    """Those that are tried at that size."""
    return tuple(t for t in found if size is Size.PROOF or not t.proof)
