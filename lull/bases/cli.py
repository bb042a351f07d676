# SPDX-License-Identifier: GPL-2.0-only
"""``lull base``: do the hooks still apply? Errors pass to the top-level command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lull.bases.check import Report, check
from lull.bases.text import render
from lull.bases.tree import Files, files_of
from lull.command_group import command_group
from lull.errors import ExpectationMissed, UsageError
from lull.host.files import repo_root
from lull.host.progress import open_progress
from lull.kernels import source
from lull.kernels.bases import DEFAULT_BASE, Base, load_base
from lull.kernels.cache import Cache
from lull.kernels.inputs import Inputs, gather
from lull.kernels.patches import parse_patch
from lull.kernels.workspace import decode
from lull.model import Arm

app = command_group("The kernels that Lull is maintained for.")


@app.callback()
def _base() -> None:
    """The kernels that Lull is maintained for."""


@app.command("check")
def check_command(
    new: Annotated[
        Path | None,
        typer.Argument(help="A tree, tarball or package. [default: apt's]"),
    ] = None,
    base: Annotated[str, typer.Option(help="Whose hooks.")] = DEFAULT_BASE,
    as_json: Annotated[
        bool, typer.Option("--json", help="The report as JSON.")
    ] = False,
    take: Annotated[
        bool, typer.Option("--take", help="If all apply, build from apt's.")
    ] = False,
) -> None:
    """Which hooks apply to another release, which moved, which conflict.

    Exit status 1 where one conflicts.
    """
    which = load_base(base)
    if take and new is not None:
        raise UsageError(
            "--take is of what apt has", hint=f"leave {new} out: it is not apt's"
        )
    inputs = gather(repo_root(), base, Arm.LULL)
    hooks = [(_name(hook), decode(hook.read_bytes())) for hook in inputs.hooks]
    with open_progress() as progress:
        files = files_of(new, which, _paths(hooks, inputs), progress.update)
    before = _own(which, hooks)
    report = check(
        hooks,
        {path: decode(file.read_bytes()) for path, file in inputs.overlay.items()},
        files.read,
        before.read if before else None,
    )
    print(
        report.model_dump_json(indent=2)
        if as_json
        else render(report, base, files.version, before.version if before else None)
    )
    _judge(report, files)
    if take:
        with open_progress() as progress:
            taken = source.fetch(which, Cache(), progress.update, refresh=True)
        line = f"kernels of {base} are built from {taken.package_version} from now on"
        print(line, file=sys.stderr)


def _name(hook: Path) -> str:
    """freeze/0001-skip-the-dead: the room and the hook."""
    return f"{hook.parents[2].name}/{hook.stem}"


def _paths(hooks: Sequence[tuple[str, str]], inputs: Inputs) -> set[str]:
    hooked = {part.path for name, text in hooks for part in parse_patch(name, text)}
    return hooked | set(inputs.overlay)


def _own(base: Base, hooks: Sequence[tuple[str, str]]) -> Files | None:
    """The base's sources that the cache has; what changed is told beside them."""
    own = source.cached(base, Cache())
    return files_of(own.tree, base, _paths(hooks, Inputs())) if own else None


def _judge(report: Report, files: Files) -> None:
    if not report.ok:
        raise ExpectationMissed(
            "not all hooks apply",
            where=files.version,
            hint="mend what conflicts, in kernel/hooks and features/*/hooks, and check"
            " again",
        )
