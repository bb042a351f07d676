# SPDX-License-Identifier: GPL-2.0-only
"""``lull report``: options in, the place of a file out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lull.errors import UsageError
from lull.host.files import shown_path
from lull.host.progress import open_progress
from lull.page.command import make_history, make_page
from lull.page.readme import refresh


def report_command(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="Folders of runs, a clock each."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder of the page. [default: RUN]"),
    ] = None,
    over: Annotated[
        bool,
        typer.Option("--history", help="Figures over all runs in these folders."),
    ] = False,
    readme: Annotated[
        bool,
        typer.Option(
            "--readme", help="README's results: of these runs, else as committed."
        ),
    ] = False,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="With --history: these, not the headlines. May repeat."),
    ] = None,
) -> None:
    """Show what was measured on one page for a browser."""
    if readme:
        if over or output or metric:
            raise UsageError("--readme goes with runs alone")
        for place in refresh(runs or ()):
            print(shown_path(place))
        return
    if metric and not over:
        raise UsageError("--metric goes with --history", hint="add --history")
    if not runs:
        raise UsageError("no run is named", hint="name a folder below runs/")
    with open_progress() as progress:
        if over:
            place = make_history(runs, metric or (), output, progress.warn)
        else:
            place = make_page(runs, output, progress.warn)
    print(shown_path(place))
