# SPDX-License-Identifier: GPL-2.0-only
"""A series: from features and a tree to the files of a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from textwrap import wrap

from lull.ask.catalog import feature as find_feature
from lull.ask.catalog import features
from lull.errors import LabError, UsageError
from lull.host.files import read_input
from lull.kernels.inputs import gather
from lull.kernels.patches import apply_patch
from lull.kernels.workspace import Change, decode, encode
from lull.model import LULL, Arm
from lull.report import ablation
from lull.report.compare import read as read_run
from lull.report.summary import promise_text
from lull.series import distro, mails, stages, upstream
from lull.series.description import WIDTH, Entry, load
from lull.series.letter import Letter, Measured, kept
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


def entries(root: Path) -> dict[str, Entry]:
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
    return upstream.room(inputs, root, name, entries(root)[name])


def planner(order: Order, root: Path) -> Callable[[stages.Read], list[stages.Step]]:
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
    says = entries(root)[order.names[0]].upstream
    return " ".join(says.left_out.split()) if says else ""


def measured_in(run: Path, order: Order, root: Path) -> Measured:
    """The tables of a run's folder, to be quoted. Raises UsageError where it is no
    run of what the series is about, or the series is not all of the feature."""
    if order.reader is not Reader.UPSTREAM:
        raise UsageError("--run is for a cover letter", hint="add --for upstream")
    if left_out(order, root):
        raise UsageError(
            f"the series is not all of {order.names[0]}, and a run's figures are",
            hint="leave --run out",
        )
    summary = read_run(run, features(), lambda text: None).summary
    measured = {row.feature for row in summary.rows}
    if summary.base != order.base or not measured & {*order.names}:
        raise UsageError(
            f"a run of {', '.join(sorted(measured)) or 'nothing'} on {summary.base}",
            where=str(run),
            hint=f"lull run {order.names[0]} --base {order.base} --clock insn",
        )
    data = read_input(run / "table.txt", "name the folder of a whole run: --run RUN")
    # The table of a run with --ablate begins with that of the steps.
    table = data.decode("utf-8", "replace").strip()
    every = ablation.render(summary).strip()
    table = table.removeprefix(every).strip()
    mine = tuple(step for step in summary.steps if step.feature in order.names)
    shares = ablation.render(summary.model_copy(update={"steps": mine}))
    return Measured(table, shares.strip())


def files(
    order: Order,
    steps: Sequence[stages.Step],
    pristine: Pristine,
    root: Path,
    measured: Measured | None = None,
) -> dict[str, bytes]:
    """The files of a series by their names. Raises LabError where what git wrote
    would not give what was planned. ``measured`` is for the cover letter."""
    cover = None
    if order.reader is Reader.UPSTREAM:
        one = upstream_of(order, root)
        cover = Letter(
            one.name,
            order.base,
            one.says,
            evidence(one.name, root),
            measured,
            kept(root / "features" / one.name, order.base),
        ).write
    else:
        steps = [_with_evidence(step, root) for step in steps]
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


def _with_evidence(step: stages.Step, root: Path) -> stages.Step:
    """The message of who completes a feature ends with what it is held to."""
    if not step.completes:
        return step
    text = f"{step.words.text.strip()}\n\n{evidence(step.completes, root)}"
    return replace(step, words=step.words.model_copy(update={"text": text}))


def evidence(name: str, root: Path) -> str:
    """How to measure a feature, and which figures it is held to; none is new."""
    feature = find_feature(name, root)
    held = dict.fromkeys(
        promise_text(item) + (f" ({item.clock})" if item.clock else "")
        for item in feature.expectations
        if item.mode == LULL and not item.control
    )
    said = f"Evidence: lull run {name} --check measures it, and fails where one "
    return "\n".join(
        [
            *wrap(f"{said}of these does not hold:", WIDTH),
            *(line for text in held for line in _item(text)),
        ]
    )


def _item(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


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
