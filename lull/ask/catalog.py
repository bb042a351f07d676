# SPDX-License-Identifier: GPL-2.0-only
"""The features there are, and the scenarios: their ``feature.toml`` as records.

Reading a file and checking what it says are kept apart: ``parse`` is pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.host.records import parse_toml, read_toml
from lull.model import (
    LULL,
    UNTOUCHED,
    CaseSpec,
    Clock,
    Expectation,
    Feature,
    Headline,
    Mode,
    Place,
    Published,
    PublishedRow,
    Shown,
    Value,
    Workload,
)

T = TypeVar("T")

#: Names become words of the job, columns of the table and file names.
NAME = re.compile(r"[a-z][a-z0-9_-]*")
#: As the kernel makes them of its enumerators.
STEP = re.compile(r"[a-z][a-z0-9-]*")
#: What has a folder for each feature, and for each scenario.
ROOMS = ("features", "scenarios")
MODE_WIDTH = 12  #: what a column of the table has room for
HEADLINES = 2  #: of a feature; all of them are on one screen
HEADLINE_WIDTH = 78  #: the feature's name before it


def features(root: Path | None = None) -> tuple[Feature, ...]:
    """All features by name, then the scenarios. Raises LabError for a broken file."""
    base = root or repo_root()
    return tuple(
        load(path)
        for room in ROOMS
        for path in sorted(base.glob(f"{room}/*/feature.toml"))
    )


def feature(name: str, root: Path | None = None) -> Feature:
    """One feature. Raises UsageError, with the valid names, if it is unknown."""
    return _pick("feature", name, {f.name: f for f in features(root)})


def select(names: Iterable[str], root: Path | None = None) -> tuple[Feature, ...]:
    """The features named, in that order; all of them for no names at all."""
    known = {f.name: f for f in features(root)}
    wanted = tuple(dict.fromkeys(names)) or tuple(known)
    return tuple(_pick("feature", name, known) for name in wanted)


def check_mode(feature: Feature, name: str) -> Mode:
    """The mode of that name, else UsageError with the valid names."""
    return _pick(f"mode of {feature.name}", name, {m.name: m for m in feature.modes})


def check_side(feature: Feature, name: str) -> None:
    """A mode to compare with, or the untouched kernel; else UsageError."""
    sides = dict.fromkeys((*feature.mode_names, UNTOUCHED))
    _pick(f"mode of {feature.name}", name, sides)


def check_workload(feature: Feature, name: str) -> Workload:
    """The workload of that name, else UsageError with the valid names."""
    return _pick(f"workload of {feature.name}", name, feature.workloads)


def check_clock(name: str) -> Clock:
    """The clock of that name, else UsageError with the valid names."""
    return _pick("clock", name, {clock.value: clock for clock in Clock})


def full_params(
    feature: Feature, workload: str, params: Mapping[str, Value]
) -> dict[str, Value]:
    """``params`` with the workload's defaults for what they do not set.

    Two cases are the same case when these are equal. A workload that the
    feature does not know (an old results file) has no defaults.
    """
    known = feature.workloads.get(workload)
    return {**(known.params if known else {}), **params}


def read_params(
    feature: Feature, workload: str, words: Iterable[str]
) -> dict[str, Value]:
    """``NAME=VALUE`` words as params; UsageError for what the workload has not."""
    check_workload(feature, workload)
    known = feature.workloads[workload].params
    params: dict[str, Value] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if name not in known:
            raise UsageError(
                f"unknown parameter of {workload}: {word!r}",
                hint=f"one of: {' '.join(f'{n}={v}' for n, v in known.items())}",
            )
        if not equals:
            raise UsageError(
                f"parameter {name} of {workload} needs a value",
                hint=f"as in {name}={known[name]}",
            )
        params[name] = int(value) if value.isdecimal() else value
        if isinstance(known[name], int) and not isinstance(params[name], int):
            raise UsageError(
                f"{word}: {name} of {workload} is a number, from 0",
                hint=f"as in {name}={known[name]}",
            )
    return params


def load(path: Path) -> Feature:
    """One feature.toml. Raises LabError with file and field."""
    feature = read_toml(path, Feature)
    return _checked(feature, path.parent.name, where=str(path))


def parse(text: str, name: str, *, where: str) -> Feature:
    """The text of a feature.toml that lies in a directory called ``name``.

    ``where`` is the file's name for messages. Raises LabError that names the
    field: for TOML that is none, for a wrong type, an unknown member or a
    reference to something that the file does not define.
    """
    return _checked(parse_toml(text, Feature, where=where), name, where=where)


def _checked(feature: Feature, name: str, *, where: str) -> Feature:
    problems = [f"{field}: {what}" for field, what in _problems(feature, name)]
    if problems:
        raise LabError("; ".join(problems), where=where)
    return feature


def _pick(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        valid = ", ".join(known) or "none"
        raise UsageError(f"unknown {what}: {name!r}", hint=f"one of: {valid}")
    return known[name]


def _problems(feature: Feature, name: str) -> Iterator[tuple[str, str]]:
    """What is wrong across the file: pairs of field and message."""
    if feature.name != name:
        yield "name", f"{feature.name!r}, but the directory is {name!r}"
    yield from _bad_modes(feature)
    yield from _bad_steps(feature)
    for kind, names in (
        ("metrics", feature.metrics),
        ("workloads", feature.workloads),
    ):
        for word in names:
            if not NAME.fullmatch(word):
                yield kind, f"{word!r} is not a lower-case word"
    seen: list[tuple[str, dict[str, Value]]] = []
    for i, case in enumerate(feature.cases):
        field = f"cases[{i}]"
        yield from _bad_params(feature, case, field)
        if isinstance(case.quick, Clock) and case.clock not in (None, case.quick):
            yield f"{field}.quick", f"the case is not measured on {case.quick}"
        if case.rounds < 1:
            yield f"{field}.rounds", "less than 1"
        key = (case.workload, full_params(feature, case.workload, case.params))
        if key in seen:
            yield field, "the same workload and parameters as a case before it"
        seen.append(key)
    for i, expectation in enumerate(feature.expectations):
        yield from _bad_expectation(feature, expectation, f"expectations[{i}]")
    for i, headline in enumerate(feature.headlines):
        yield from _bad_headline(feature, headline, f"headlines[{i}]")
    if len(feature.headlines) > HEADLINES:
        yield "headlines", f"more than {HEADLINES}"
    for i, shown in enumerate(feature.shown):
        yield from _bad_shown(feature, shown, f"shown[{i}]")
    for i, table in enumerate(feature.published):
        yield from _bad_published(feature, table, f"published[{i}]")


def _bad_metric(feature: Feature, name: str, field: str) -> Iterator[tuple[str, str]]:
    if name not in feature.metrics:
        known = ", ".join(feature.metrics) or "none"
        yield f"{field}.metric", f"unknown: {name!r}; known: {known}"


def _unmeasured(
    feature: Feature,
    item: Expectation | Headline | PublishedRow | Place | Shown,
    field: str,
    clock: Clock | None,
) -> Iterator[tuple[str, str]]:
    """A case that is on another clock only would never be held against it."""
    cases = _cases_of(feature, item)
    if not cases:
        yield field, "no case measures this workload with these parameters"
    elif clock is not None and not {None, clock} & {case.clock for case in cases}:
        yield f"{field}.clock", f"the case is not measured on {clock}"


def _cases_of(
    feature: Feature, item: Expectation | Headline | PublishedRow | Place | Shown
) -> list[CaseSpec]:
    wanted = full_params(feature, item.workload, item.params)
    return [
        case
        for case in feature.cases
        if case.workload == item.workload
        and full_params(feature, case.workload, case.params) == wanted
    ]


def _bad_shown(feature: Feature, item: Shown, field: str) -> Iterator[tuple[str, str]]:
    params = list(_bad_params(feature, item, field))
    yield from params
    for metric in item.metrics:
        yield from _bad_metric(feature, metric, field)
    if not params:
        yield from _unmeasured(feature, item, field, None)


def _bad_headline(
    feature: Feature, item: Headline, field: str
) -> Iterator[tuple[str, str]]:
    """It is for who runs nothing but ``--quick``, and one line of the answer."""
    room = HEADLINE_WIDTH - len(feature.name)
    if not item.text.isascii() or not item.text.isprintable() or len(item.text) > room:
        yield f"{field}.text", f"not one line of at most {room} ASCII characters"
    params = list(_bad_params(feature, item, field))
    yield from params
    yield from _bad_metric(feature, item.metric, field)
    if item.metric in feature.metrics and feature.metrics[item.metric].supporting:
        yield f"{field}.metric", f"{item.metric!r} is supporting"
    if LULL not in feature.mode_names:
        yield field, f"there is no mode {LULL!r}"
    if params:
        return
    yield from _unmeasured(feature, item, field, item.clock)
    clocks = (item.clock,) if item.clock else tuple(Clock)
    cases = _cases_of(feature, item)
    if cases and not any(case.in_quick(c) for case in cases for c in clocks):
        yield field, "its case is not quick"


def _bad_published(
    feature: Feature,
    table: Published,
    field: str,
) -> Iterator[tuple[str, str]]:
    if not table.heads:
        yield from _bad_metric(feature, table.metric, field)
    columns = len(table.columns) * max(1, len(table.heads))
    for i, row in enumerate(table.rows):
        where = f"{field}.rows[{i}]"
        if len(row.values) != columns:
            yield f"{where}.values", f"{len(row.values)} for {columns} columns"
        if len(row.metrics) != len(table.heads):
            what = f"{len(row.metrics)} for {len(table.heads)} heads"
            yield f"{where}.metrics", what
        for metric in row.metrics:
            yield from _bad_metric(feature, metric, where)
        yield from _unmeasured(feature, row, where, None)


def _bad_modes(feature: Feature) -> Iterator[tuple[str, str]]:
    names = feature.mode_names
    if not names or names[0] != "stock":
        yield "modes[0].name", "the first mode has to be 'stock'"
    for i, name in enumerate(names):
        if not NAME.fullmatch(name) or len(name) > MODE_WIDTH:
            limit = f"a lower-case word of at most {MODE_WIDTH} letters"
            yield f"modes[{i}].name", f"{name!r} is not {limit}"
        if name in names[:i]:
            yield f"modes[{i}].name", f"{name!r} is there twice"
        if name == UNTOUCHED:
            yield f"modes[{i}].name", f"{name!r} means a kernel without Lull"


def _bad_steps(feature: Feature) -> Iterator[tuple[str, str]]:
    """A step needs those that come before it: so nothing needs itself."""
    if feature.steps and (LULL not in feature.mode_names or feature.switches):
        yield "steps", f"steps are of the mode {LULL!r} of one feature"
    before: list[str] = []
    for i, step in enumerate(feature.steps):
        if not STEP.fullmatch(step.name) or step.name in (*before, "none"):
            yield f"steps[{i}].name", f"{step.name!r} is no lower-case word of its own"
        for name in step.needs:
            if name not in before:
                yield f"steps[{i}].needs", f"{name!r} is no step before it"
        if step.at is not None:
            yield from _bad_metric(feature, step.at.metric, f"steps[{i}].at")
            yield from _unmeasured(feature, step.at, f"steps[{i}].at", None)
        before.append(step.name)


def _bad_params(
    feature: Feature, item: CaseSpec | Expectation | Headline | Shown, field: str
) -> Iterator[tuple[str, str]]:
    workload = feature.workloads.get(item.workload)
    if workload is None:
        known = ", ".join(feature.workloads) or "none"
        yield f"{field}.workload", f"unknown: {item.workload!r}; known: {known}"
        return
    for name, value in item.params.items():
        where = f"{field}.params.{name}"
        if name not in workload.params:
            known = ", ".join(workload.params) or "none"
            yield where, f"no parameter of {item.workload}; known: {known}"
        elif isinstance(value, str) != isinstance(workload.params[name], str):
            yield where, f"{value!r} is not of the default's type"


def _bad_expectation(
    feature: Feature,
    item: Expectation,
    field: str,
) -> Iterator[tuple[str, str]]:
    params = list(_bad_params(feature, item, field))
    yield from params
    yield from _bad_metric(feature, item.metric, field)
    yield from _bad_sides(feature, item, field)
    if item.unkept is not None:
        yield f"{field}.unkept", "is said in bases/BASE.toml, of a base"
    if item.min is None and item.max is None and item.aim is None:
        yield field, "has none of min, max and aim"
    if item.every and (not item.absolute or (item.min is None) == (item.max is None)):
        yield f"{field}.every", "goes with absolute and one of min and max"
    if not params:
        yield from _unmeasured(feature, item, field, item.clock)


def _bad_sides(
    feature: Feature, item: Expectation, field: str
) -> Iterator[tuple[str, str]]:
    """What an expectation compares has to be there, and to be two things."""
    known = ", ".join(feature.mode_names)
    sides = (("mode", item.mode), ("to", item.to))
    unknown = [side for side in sides if side[1] not in feature.mode_names]
    for member, name in unknown:
        yield f"{field}.{member}", f"unknown: {name!r}; known: {known}"
    unsafe = {mode.name for mode in feature.modes if mode.unsafe}
    for member, name in sides:
        if name in unsafe:
            yield (
                f"{field}.{member}",
                f"nothing is promised of {name!r}, an unsafe mode",
            )
    if unknown:
        return
    if item.absolute:
        if item.to != "stock":
            yield f"{field}.to", "an absolute value is to no other mode"
        if item.control:
            yield f"{field}.control", "an absolute value is to no other kernel"
    elif item.mode == item.to != "stock":
        yield f"{field}.to", f"{item.to!r} is the mode itself"
    elif item.control != (item.mode == item.to == "stock"):
        yield f"{field}.control", "goes with mode 'stock' alone, and has no 'to'"
