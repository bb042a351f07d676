# SPDX-License-Identifier: GPL-2.0-only
"""A series: from features and a tree to the files of a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from lull.ask.catalog import feature as find_feature
from lull.ask.catalog import features
from lull.ask.presence import as_on
from lull.errors import LabError, UsageError
from lull.kernels.bases import base_names
from lull.kernels.inputs import gather
from lull.kernels.patches import apply_patch
from lull.kernels.workspace import Change, decode, encode
from lull.model import Arm
from lull.page.figures import reduced, room
from lull.page.notes import Marks, notes_of
from lull.page.origin import figures_of
from lull.report.compare import read as read_run
from lull.series import distro, mails, stages, upstream
from lull.series.description import SeriesFile, load
from lull.series.figures import (
    Quoted,
    Quotes,
    evidence,
    footnotes,
    kept_of,
    promised_to_stock,
)
from lull.series.history import changed_since
from lull.series.letter import Letter, address
from lull.series.pristine import Pristine


class Reader(StrEnum):
    """Who a series is for, if not for whoever reads all of it."""

    UPSTREAM = "upstream"
    DISTRO = "distro"


@dataclass(frozen=True)
class Order:
    """What somebody wants: features in the lab's order, with those they need."""

    base: str
    names: tuple[str, ...]
    reader: Reader | None = None


def entries(root: Path) -> dict[str, SeriesFile]:
    """What each feature's patches say, by name; the frame's by the empty name."""
    found = {"": load(root / "kernel/series.toml")}
    for file in sorted(root.glob("features/*/series.toml")):
        found[file.parent.name] = load(file)
    return found


def order(names: Sequence[str], base: str, reader: Reader | None, root: Path) -> Order:
    """Check what is asked for. Raises UsageError, with the valid names."""
    known = entries(root)
    valid = [name for name in known if name]
    if reader is Reader.UPSTREAM and len(set(names)) > 1:
        raise UsageError(
            "a series for upstream is of one feature",
            hint=f"lull series {names[0]} ...",
        )
    for name in names:
        if name not in known or not name:
            raise UsageError(
                f"there is no patch series of {name!r}; there is: {', '.join(valid)}",
                hint="lull series FEATURE... -o DIR",
            )
    wanted = stages.with_needs(names, known)
    for place in ("kernel", *(f"features/{name}" for name in wanted)):
        if not any((root / place / "hooks" / base).glob("*.patch")):
            raise UsageError(
                f"{place} has no hooks for {base}", hint="another --base: lull list"
            )
    return Order(base, tuple(names if reader is Reader.UPSTREAM else wanted), reader)


def stages_of(order: Order, root: Path) -> list[stages.Stage]:
    """What each patch of a series is to bring. Raises LabError where the project
    says too little of it."""
    known = entries(root)
    inputs = gather(root, order.base, Arm.LULL)
    make = stages.whole if order.reader is Reader.DISTRO else stages.fine
    return make(inputs, root, order.names, known)


def upstream_of(order: Order, root: Path) -> upstream.Room:
    """The one feature of a series for upstream. Raises UsageError where there is
    none to be had."""
    (name,) = order.names
    inputs = gather(root, order.base, Arm.LULL)
    return upstream.room(inputs, root, name, entries(root)[name], order.base)


def planner(
    order: Order, root: Path
) -> Callable[[stages.Read], list[stages.FullPatch]]:
    """What makes the patches' contents from a tree's files. All that is wrong with
    what was asked for, or with the project, is raised here."""
    if order.reader is Reader.UPSTREAM:
        one = upstream_of(order, root)
        return lambda read: upstream.steps(one, read)
    planned = stages_of(order, root)
    return lambda read: stages.steps(planned, read)


def left_out(order: Order, root: Path) -> str:
    """What a series for upstream is without, on one line; mostly nothing."""
    if order.reader is not Reader.UPSTREAM:
        return ""
    says = entries(root)[order.names[0]].on(order.base).upstream
    return " ".join(says.left_out.split()) if says else ""


def measured_in(run: Path | None, order: Order, root: Path) -> Quoted | None:
    """What a letter quotes: of a run's folder, else what the project keeps.

    None where there is no letter, or nothing in the series that was measured. Raises
    UsageError where there are no figures, and for a run of something else.
    """
    if order.reader is not Reader.UPSTREAM:
        if run:
            raise UsageError("--run is for a cover letter", hint="add --for upstream")
        return None
    (name,) = order.names
    says = entries(root)[name].on(order.base).upstream
    if run:
        return _of_run(run, order, root)
    if not says or not any(patch.steps for patch in says.patch):
        return None
    found = kept_of(find_feature(name, root), root, order.base)
    if found is None:
        raise UsageError(
            f"the project keeps no figures of {name} on {order.base} for the letter",
            hint=f"{_measure(order)}, then --run with its folder",
        )
    return found


def _of_run(run: Path, order: Order, root: Path) -> Quoted:
    (name,) = order.names
    got = read_run(run, features(), lambda text: None)
    measured = {row.feature for row in got.summary.rows}
    if got.summary.base != order.base or name not in measured:
        what = ", ".join(sorted(measured)) or "nothing"
        raise UsageError(
            f"a run of {what} on {got.summary.base}",
            where=str(run),
            hint=_measure(order),
        )
    feature = find_feature(name, root)
    found = figures_of(got)
    found = replace(found, summary=reduced(found.summary, feature))
    if found.summary.steps:
        return Quoted(found, found)
    kept = kept_of(feature, root, order.base)
    steps = kept.steps if kept else None
    # A letter says once what its figures are of.
    if steps and steps.summary.clock is not found.summary.clock:
        steps = None
    return Quoted(found, steps)


def _measure(order: Order) -> str:
    return f"lull run {order.names[0]} --base {order.base} --clock insn"


def files(
    order: Order,
    steps: Sequence[stages.FullPatch],
    pristine: Pristine,
    root: Path,
    measured: Quoted | None = None,
) -> dict[str, bytes]:
    """The files of a series by their names. Raises LabError where what git wrote
    would not give what was planned. ``measured`` is for the cover letter."""
    cover = None
    if order.reader is Reader.UPSTREAM:
        measured = measured or measured_in(None, order, root)
        letter = _letter(order, root, pristine.version, measured)
        steps, cover = letter.told(steps), letter.write
    else:
        steps = [_with_evidence(step, order.base, root) for step in steps]
    numbered = order.reader is not Reader.DISTRO
    written = mails.write(pristine.before, steps, numbered=numbered, cover=cover)
    patches = written[1:] if cover else written
    prove(patches, pristine.read, stages.final(steps))
    if order.reader is not Reader.DISTRO:
        return dict(written)
    known = entries(root)
    names = [name for name, _ in written]
    return {
        **dict(written),
        distro.FRAGMENT: distro.fragment(order.names, known).encode(),
        distro.NIX: distro.nix(names, order.names, known).encode(),
    }


def _letter(order: Order, root: Path, version: str, measured: Quoted | None) -> Letter:
    one = upstream_of(order, root)
    quotes = None
    if measured:
        feature = as_on(find_feature(one.name, root), order.base, root)
        steps = tuple(dict.fromkeys(s for p in one.says.patch for s in p.steps))
        notes = notes_of(feature, room(feature, root))
        parts = ("kernel", f"hooks/{order.base}")
        code = [f"features/{one.name}/{part}" for part in parts]

        def changed(commit: str) -> str | None:
            return changed_since(commit, code, root)

        quotes = Quotes(
            feature, measured, steps, notes, one.says.not_of, changed, order.base
        )
    newest = base_names()[-1]
    where = address(root)
    return Letter(one.name, order.base, version, newest, one.says, quotes, where)


def _with_evidence(step: stages.FullPatch, base: str, root: Path) -> stages.FullPatch:
    """The message of who completes a feature ends with what it is held to."""
    if not step.completes:
        return step
    feature = as_on(find_feature(step.completes, root), base, root)
    marks = Marks()
    notes = notes_of(feature, room(feature, root))
    said = evidence(feature, notes, marks, promised_to_stock(feature), base)
    return step.saying(said, footnotes(marks))


def prove(
    written: Sequence[tuple[str, bytes]],
    read: Callable[[str], bytes | None],
    wanted: Mapping[str, Change],
) -> None:
    """Apply the patches to the tree's files: the result is what the lab builds.

    Raises LabError where it is not; nothing of a series is published before.
    """
    tree: dict[str, str | None] = {}

    def now(path: str) -> str | None:
        if path in tree:
            return tree[path]
        data = read(path)
        return None if data is None else decode(data)

    for name, mail in written:
        tree.update(apply_patch(name, decode(mail), now))
    for path in sorted(tree.keys() | wanted.keys()):
        text = tree.get(path)
        data = None if text is None else encode(text)
        if path not in wanted or data != wanted[path].data:
            raise LabError(
                f"{path} would not be as the lab builds it", where="writing the patches"
            )
