# SPDX-License-Identifier: GPL-2.0-only
"""The command ``lull tree``: options in, text out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lull.command_group import command_group
from lull.host.files import save_output
from lull.host.named import STANDARD
from lull.trees.model import Tree
from lull.trees.reader import read
from lull.trees.report import report
from lull.trees.shapes import load, make
from lull.trees.sysfs import SYSFS, scan
from lull.trees.writer import write

app = command_group("Describe trees of devices.")

_Out = Annotated[
    Path | None, typer.Option("-o", "--output", help="To FILE; - is stdout, as none.")
]


@app.command("make")
def make_command(
    spec: Annotated[str, typer.Argument(help="SHAPE or SHAPE:NAME=VALUE,...")],
    out: _Out = None,
) -> None:
    """Write a made-up tree: chain, fan, fan2, random, empty.

    For example chain:n=50,us=1000,phases=suspend+resume. Times are in
    microseconds; a name that there is not gets the list of those that are.
    """
    put(write(make(spec), [f"lull tree make {spec}"]), out)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A description; - is stdin.")],
    cpus: Annotated[int, typer.Option(min=1, help="For busy callbacks.")] = 2,
) -> None:
    """Say what is in a description, and how its phases would go."""
    sys.stdout.write(report(_load(file), cpus))


@app.command()
def sysfs(
    root: Annotated[Path, typer.Argument(help="Where sysfs is mounted.")] = SYSFS,
    out: _Out = None,
) -> None:
    """Describe the devices of this machine."""
    found = scan(root)
    put(write(found.tree, found.caveats), out)


def put(text: str, out: Path | None) -> None:
    """A description to stdout, or to a file. Raises UsageError."""
    if out in (None, STANDARD):
        sys.stdout.write(text)
    else:
        hint = "name a file that you may write: --output FILE"
        save_output(out, text.encode("ascii"), hint)


def _load(file: Path) -> Tree:
    if file == STANDARD:
        return read(sys.stdin.buffer.read(), "stdin")
    return load(file)
