# SPDX-License-Identifier: GPL-2.0-only
"""A feature as it is on a base whose kernel does part of it by itself.

features/<feature>/bases/<base>.toml says which modes are what that kernel's own
``stock`` does, and what is measured and promised there. A feature without such a
file is the same on all bases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from pydantic import Field

from lull.ask.catalog import full_params
from lull.ask.job import STOCK
from lull.errors import LabError
from lull.host.files import repo_root
from lull.host.records import read_toml
from lull.kernels.bases import Base
from lull.model import (
    CaseSpec,
    Clock,
    Expectation,
    Feature,
    Known,
    Mode,
    Record,
    Value,
)


class Partly(Record):
    """What of a trial can come out there: all but some workloads, cases that ask for
    one of ``params``, or some modes.

    ``checks`` are those that are left of the trial's, all of them.
    """

    why: str
    runs: tuple[str, ...] = ()
    params: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    checks: Mapping[str, int] = Field(default_factory=dict)


class Unkept(Known):
    """A promise of feature.toml's, and what is known of it there."""

    workload: str
    params: dict[str, Value] = Field(default_factory=dict)
    metric: str
    mode: str = "lull"
    clock: Clock | None = None


class OnBase(Record):
    """One such file: what is otherwise than in feature.toml.

    ``native`` are modes; ``cases`` stand in for those of the same workload and
    parameters, or come after all; ``expectations`` are all that is promised, where
    there are some, else feature.toml's, with ``also`` beside them, of which ``unkept``
    say that they are not kept there;
    ``untried`` has trials of safety.toml that cannot come out there, and why,
    ``partly`` those of which some cases can; ``uncalled`` what the feature's hooks
    call less often there than on ``DEFAULT_BASE``, and why.
    """

    native: tuple[str, ...] = ()
    untried: dict[str, str] = Field(default_factory=dict)
    partly: dict[str, Partly] = Field(default_factory=dict)
    uncalled: dict[str, str] = Field(default_factory=dict)
    cases: tuple[CaseSpec, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    also: tuple[Expectation, ...] = ()
    unkept: tuple[Unkept, ...] = ()


def on_base(
    feature: Feature, base: Base, asked: Collection[str] = (), root: Path | None = None
) -> Feature:
    """The feature as it is on a base.

    Modes that are what its kernel does by itself are left out, but for those
    that are ``asked`` for; so are tables that somebody published of them. What
    stock does is then said in the base's own words.

    Raises LabError for a broken file.
    """
    found = _load(feature, base, root or repo_root())
    if found is None:
        return feature
    left = {name for name in found.native if name not in asked}
    return feature.model_copy(
        update={
            "modes": tuple(_modes(feature, base, found, left)),
            "cases": tuple(_cases(feature, found)),
            "expectations": found.expectations or (*_told(feature, found), *found.also),
            "published": () if found.native else feature.published,
        }
    )


def native_modes(
    feature: Feature, base: Base, root: Path | None = None
) -> tuple[str, ...]:
    """The modes that are what a base's kernel does by itself."""
    found = _load(feature, base, root or repo_root())
    return found.native if found else ()


def untried(name: str, base: Base, root: Path | None = None) -> Mapping[str, str]:
    """The trials of the feature of that name that cannot come out on a base: why."""
    found = _read(_path(name, base, root or repo_root()))
    return found.untried if found else {}


def partly(name: str, base: Base, root: Path | None = None) -> Mapping[str, Partly]:
    """The trials of the feature of that name of which some cases cannot come out."""
    found = _read(_path(name, base, root or repo_root()))
    return found.partly if found else {}


def uncalled(name: str, base: Base, root: Path | None = None) -> Mapping[str, str]:
    """What the hooks of the feature of that name need not call on a base: why."""
    found = _read(_path(name, base, root or repo_root()))
    return found.uncalled if found else {}


def _path(name: str, base: Base, root: Path) -> Path:
    return root / "features" / name / "bases" / f"{base.name}.toml"


def _load(feature: Feature, base: Base, root: Path) -> OnBase | None:
    path = _path(feature.name, base, root)
    found = _read(path)
    known = feature.mode_names[1:]
    unknown = [name for name in found.native if name not in known] if found else []
    if unknown:
        raise LabError(f"native: no mode {unknown[0]!r}", where=str(path))
    for item in found.unkept if found else ():
        key = _key(feature, item)
        said = [e for e in feature.expectations if _key(feature, e) == key]
        if len(said) != 1 or said[0].max is None or (found and found.expectations):
            raise LabError(
                f"unkept: {item.metric} of {item.workload} is not one promise of"
                " feature.toml's, with max, that is made there",
                where=str(path),
                hint="it has its workload, params, metric, mode and clock",
            )
    return found


def _read(path: Path) -> OnBase | None:
    return read_toml(path, OnBase) if path.is_file() else None


def _told(feature: Feature, found: OnBase) -> Iterator[Expectation]:
    """feature.toml's, each with why it is known not to be kept there, if it is."""
    unkept = {_key(feature, item): item for item in found.unkept}
    for item in feature.expectations:
        known = unkept.get(_key(feature, item))
        yield item.model_copy(update={"unkept": known}) if known else item


def _key(feature: Feature, item: Expectation | Unkept) -> tuple[object, ...]:
    return *_case(feature, item), item.metric, item.mode, item.clock


def _case(feature: Feature, item: CaseSpec | Expectation | Unkept) -> tuple[str, str]:
    """What tells the case of an item from a workload's others."""
    params = full_params(feature, item.workload, item.params)
    return item.workload, repr(sorted(params.items()))


def _modes(
    feature: Feature, base: Base, found: OnBase, left: Collection[str]
) -> Iterator[Mode]:
    itself = base.native.get(feature.name) if found.native else None
    for mode in feature.modes:
        if itself and mode.name == STOCK:
            yield mode.model_copy(update={"text": itself})
        elif mode.name not in left:
            yield mode


def _cases(feature: Feature, found: OnBase) -> Iterator[CaseSpec]:
    others = {_case(feature, case): case for case in found.cases}
    for case in feature.cases:
        yield others.pop(_case(feature, case), case)
    yield from others.values()
