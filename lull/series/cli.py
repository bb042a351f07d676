# SPDX-License-Identifier: GPL-2.0-only
"""``lull series``: features in, a folder of patches out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from lull.ask.presence import why_not_tried
from lull.errors import UsageError
from lull.host.files import repo_root, shown_path
from lull.host.progress import open_progress
from lull.kernels import source
from lull.kernels.bases import DEFAULT_BASE, Base, base_names, load_base
from lull.kernels.cache import Cache
from lull.series.assemble import Reader, files, left_out, measured_in, order, planner
from lull.series.folder import publish, refuse
from lull.series.letter import FILL_IN, address
from lull.series.mails import COVER, need_git
from lull.series.pristine import Pristine, look
from lull.series.stages import DoesNotFit


def series_command(
    features: Annotated[list[str], typer.Argument(help="Whose patches.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A new folder, or an empty one.")
    ],
    base: Annotated[str, typer.Option(help="For which kernel.")] = DEFAULT_BASE,
    reader: Annotated[
        Reader | None,
        typer.Option("--for", help="Else all of it, a patch a hook."),
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(help="A tree of the base that is yours. [default: the lab's]"),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(help="A run's folder, for the cover letter. [default: kept]"),
    ] = None,
) -> None:
    """Write features as patches for an untouched tree."""
    record, root = load_base(base), repo_root()
    if why := why_not_tried(features, record):
        raise UsageError(why, hint="another --base: lull list")
    wanted = order(features, base, reader, root)
    refuse(output)
    need_git()
    measured = measured_in(run, wanted, root)
    plan = planner(wanted, root)
    pristine = look(tree, record) if tree else _sources(record)
    try:
        steps = plan(pristine.read)
    except DoesNotFit as error:
        if tree is None:
            raise
        raise UsageError(
            f"Lull's changes do not fit this tree: {error.what}",
            where=str(tree),
            hint=f"a tree of Linux {base} as it was released",
        ) from error
    made = files(wanted, steps, pristine, root, measured)
    publish(output, made)
    added = [name for name in wanted.names if name not in features]
    if added:
        print(f"with {', '.join(added)}, which is needed")
    if left := left_out(wanted, root):
        print(f"not all of {wanted.names[0]}: {left}")
    if reader is Reader.UPSTREAM:
        for line in _for_the_sender(base, pristine.version, root):
            print(line)
    patches = sum(name.endswith(".patch") for name in made.keys() - {COVER})
    print(f"{patches} patches for Linux {pristine.version} in {shown_path(output)}")


def _for_the_sender(base: str, version: str, root: Path) -> Iterator[str]:
    """What is left to be done before anybody else reads it."""
    if base != (newest := base_names()[-1]):
        yield (
            f"maintainers read patches against mainline: these are for {version}, the"
            f" newest base here is {newest}; they may have to be ported, and the"
            " letter says what is there already"
        )
    if not address(root):
        yield f"in the letter say where the project is, at 'where: {FILL_IN}'"


def _sources(base: Base) -> Pristine:
    with open_progress() as progress:
        got = source.fetch(base, Cache(), progress.update)
    return Pristine(got.tree, got.version)
