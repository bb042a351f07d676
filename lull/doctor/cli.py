# SPDX-License-Identifier: GPL-2.0-only
"""The command ``lull doctor``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lull.doctor.bundle import read_bundle
from lull.doctor.collect import (
    DEADLINE_S,
    build_collector,
    collect_here,
    load_folder,
    plan,
)
from lull.doctor.consent import consent, read_measure_names
from lull.doctor.findings import judge, read_budget
from lull.doctor.model import Budget, to_json
from lull.doctor.read_measures import NAMES
from lull.doctor.render import render
from lull.doctor.textfile import textfile
from lull.doctor.there import collect_there
from lull.errors import CannotRun, ExpectationMissed, UsageError
from lull.host.files import repo_root, save_output
from lull.host.named import STANDARD
from lull.vm.console import show

_MEASURES = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
_MAY_WRITE = "name a file that you may write"


def doctor_command(
    from_: Annotated[
        Path | None,
        typer.Option("--from", help="A FOLDER that lull-probe collect wrote."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(metavar="ssh://HOST", help="Look there; or adb:SERIAL."),
    ] = None,
    collector: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only write lull-probe there, to copy."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="All of it, to FILE; - is stdout.")
    ] = None,
    textfile_: Annotated[
        Path | None, typer.Option("--textfile", help="For Prometheus, to FILE.")
    ] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART=TIME",
            help="resume=800ms: exit with 1 if it takes longer. May repeat.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"{_MEASURES}: says how, and asks.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before measuring.")
    ] = False,
    deadline: Annotated[
        int | None,
        typer.Option(
            metavar="S",
            min=1,
            max=3600,
            help=f"Seconds for each step, here; {DEADLINE_S} without it.",
        ),
    ] = None,
) -> None:
    """Say what is slow on a machine, and what would change it.

    Changes nothing without --measure. What costs most comes first. Budgets are of
    resume, freeze, thaw and sync, medians of what is in the log.
    """
    if collector is not None:
        others = (json_file, textfile_, from_, on, measure, budget, yes, deadline)
        if any(others):
            raise UsageError("--collector goes alone", hint="leave the others away")
        program = build_collector(repo_root()).read_bytes()
        save_output(collector, program, _MAY_WRITE, 0o755)
        print(f"wrote {collector}: there, as root: ./{collector.name} collect FOLDER")
        return
    if json_file is not None and json_file == textfile_:
        raise UsageError("--json and --textfile are one file", hint="name two")
    if yes and not measure:
        raise UsageError("--yes is for --measure", hint="leave it out")
    if from_ is not None and on is not None:
        raise UsageError("--from and --on are two machines", hint="choose one")
    if deadline is not None and (from_ is not None or on is not None):
        raise UsageError("--deadline is for this machine", hint="leave it out")
    limits = [read_budget(words) for words in budget or ()]
    measures = read_measure_names(measure or ())
    if measures and from_ is not None:
        raise UsageError(
            "a folder cannot be measured any more",
            where=str(from_),
            hint="on its machine: ./lull-probe collect --measure NAME FOLDER",
        )
    if measures:
        consent(plan(repo_root(), measures), on or "this machine", yes)
    if from_ is not None:
        files = load_folder(from_)
    elif on is not None:
        files = collect_there(repo_root(), on, measures)
    else:
        files = collect_here(repo_root(), deadline or DEADLINE_S, measures)
    report = judge(read_bundle(files, str(from_ or "")), limits)
    if json_file == STANDARD:
        sys.stdout.write(to_json(report))
    else:
        # Names in it come from elsewhere: they must not steer the terminal.
        for line in render(report):
            print(show(line.encode("utf-8", "replace")))
        if json_file is not None:
            save_output(json_file, to_json(report).encode(), _MAY_WRITE)
    if textfile_ is not None:
        save_output(textfile_, textfile(report).encode(), _MAY_WRITE)
    _hold(report.budgets)


def _hold(budgets: tuple[Budget, ...]) -> None:
    """Raises ExpectationMissed for one that is exceeded, and CannotRun for one of
    which the log says nothing: that is no success."""
    over = [
        f"{b.name} {b.seen_ms:,.0f} ms of {b.limit_ms:,.3g}"
        for b in budgets
        if b.ok is False and b.seen_ms is not None
    ]
    if over:
        raise ExpectationMissed(f"over budget: {'; '.join(over)}")
    unknown = [b.name for b in budgets if b.ok is None]
    if unknown:
        raise CannotRun(
            f"the log has no suspend that says how long: {', '.join(unknown)}",
            hint="as root, after a suspend since boot",
        )
