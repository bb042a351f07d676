# SPDX-License-Identifier: GPL-2.0-only
"""``lull tree fit``: recordings in, a description out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lull.graph.edits import apply, parse
from lull.graph.fit import fit, read_all
from lull.graph.load import load
from lull.trees.cli import put
from lull.trees.writer import write


def fit_command(
    recordings: Annotated[
        list[Path], typer.Argument(help="Of one machine, and one way to suspend.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="To this file, else to stdout."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change it: as graph --what-if. May repeat."),
    ] = None,
    comment: Annotated[
        list[str] | None, typer.Option(help="A line at its top. May repeat.")
    ] = None,
    least: Annotated[
        int, typer.Option(min=0, help="A callback shorter than this takes 0, in us.")
    ] = 20,
) -> None:
    """Write a description with the median times of recordings."""
    tree = fit(read_all(load(path) for path in recordings), least_us=least)
    edits = [edit for text in set_ or () for edit in parse(text)]
    notes = list(comment or ())
    if edits:
        notes += ["Changed after that:", *(f"  {edit}" for edit in edits)]
    put(write(apply(tree, edits), notes), out)
