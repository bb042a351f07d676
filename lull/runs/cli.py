# SPDX-License-Identifier: GPL-2.0-only
"""``lull run``: options in, runs done one after the other, the answer out."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lull.ask.catalog import check_clock
from lull.ask.plan import Request, describe
from lull.ask.requests import Asked, requests_of
from lull.command_group import (
    DryRun,
    FirstSeed,
    Modes,
    RunFolder,
    Seeds,
    Tables,
    Workloads,
    warn,
)
from lull.errors import CannotRun, ExpectationMissed, LullError, UsageError
from lull.host.files import shown_path
from lull.host.named import STANDARD
from lull.host.progress import open_progress
from lull.kernels.bases import DEFAULT_BASE, Base, load_base
from lull.model import Clock, Feature
from lull.page.command import make_page
from lull.real.catalog import refuse_real
from lull.report import ablation
from lull.report.answer import answer
from lull.report.answer_text import LINES, render
from lull.report.summary import to_json
from lull.runs.asked_files import save, saved_promises
from lull.runs.experiment import RunResult, run
from lull.runs.rundir import need_free
from lull.runs.several import tell

PAGE_LINES = 2  #: of the screen, which say where the page is


def run_command(
    features: Annotated[
        list[str] | None, typer.Argument(help="Features. [default: all]")
    ] = None,
    base: Annotated[
        list[str] | None,
        typer.Option(help="Which kernel, or several. [default: 6.12]"),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(help="insn or wall. [default: insn; --quick: both]"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds and cases, both clocks.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if a promise is broken.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Summary to FILE; - is stdout.")
    ] = None,
    ktap_file: Annotated[
        Path | None, typer.Option("--ktap", help="Promises as KTAP to FILE; - too.")
    ] = None,
    mode: Modes = None,
    workload: Workloads = None,
    seeds: Seeds = None,
    seed: FirstSeed = 1,
    control: Annotated[
        bool | None,
        typer.Option(
            "--control/--no-control",
            help="An untouched kernel, too. [default: if not quick]",
        ),
    ] = None,
    ablate: Annotated[
        bool,
        typer.Option("--ablate", help="What each step of the mode lull brings."),
    ] = False,
    table: Tables = False,
    output: RunFolder = None,
    dry_run: DryRun = False,
) -> None:
    """Build what is missing, boot, measure, print the answer."""
    refuse_real(features or ())
    bases = [load_base(name) for name in dict.fromkeys(base or [DEFAULT_BASE])]
    if ablate and mode:
        raise UsageError("--ablate has modes of its own", hint="leave --mode out")
    if ablate and check:
        raise UsageError("--ablate has no promises", hint="leave --check out")
    if clock is not None:
        clocks = [check_clock(clock)]
    else:
        clocks = [Clock.INSN, Clock.WALL] if quick else [Clock.INSN]
    _need_files(json_file, ktap_file, clocks)
    several = len(bases) > 1
    if several and (json_file or ktap_file or ablate):
        raise UsageError(
            "--json, --ktap and --ablate take one --base",
            hint="a run of each: lull compare puts two runs beside each other",
        )
    asked = Asked(
        bases=bases,
        clocks=clocks,
        features=features or (),
        modes=mode or (),
        workloads=workload or (),
        quick=quick,
        seed=seed,
        seeds=seeds,
        control=control,
        ablate=ablate,
        output=output,
    )
    requests = requests_of(asked, _say)
    if dry_run:
        for request in requests:
            print("\n".join(describe(request)))
        return
    if check:
        _need_promises(requests)
    if output is not None:
        need_free(output)
    piped = STANDARD in (json_file, ktap_file)
    results: list[RunResult] = []
    with saved_promises(ktap_file, requests, results, warn):
        try:
            for request in requests:
                with open_progress() as progress:
                    results.append(run(request, progress))
                if json_file is not None:
                    save(json_file, to_json(results[-1].summary), results[-1])
                if ablate and not table and not piped:
                    print(ablation.render(results[-1].summary))
                if table and not piped:
                    print(results[-1].tables)
        finally:
            # What was measured before something failed is not kept back.
            if results and several:
                _tell(results, bases, _all_measured(requests))
            elif results and not piped:
                sys.stdout.write(_answer(requests[0].measured, results))
                _page(results, output)
    if check:
        _hold(results)


def _need_files(
    json_file: Path | None, ktap_file: Path | None, clocks: Sequence[Clock]
) -> None:
    if json_file is not None and len(clocks) > 1:
        raise UsageError("--json takes one clock", hint="add --clock insn")
    if json_file == ktap_file == STANDARD:
        raise UsageError("--json and --ktap cannot both be standard output")
    if json_file is not None and json_file == ktap_file:
        raise UsageError("--json and --ktap are one file", hint="name two")


def _need_promises(requests: Sequence[Request]) -> None:
    if not any(
        item.clock in (None, request.clock)
        for request in requests
        for feature in request.measured
        for item in feature.expectations
    ):
        clocks = " or ".join(dict.fromkeys(request.clock for request in requests))
        raise UsageError(
            f"--check has nothing to check: nothing of it is promised on {clocks}",
            hint="leave --check out, or another --clock or --workload",
        )


def _hold(results: Sequence[RunResult]) -> None:
    """Raises ExpectationMissed for promises that are broken, and CannotRun where there
    were none: that is no success."""
    promises = [v for result in results for v in result.summary.expectations]
    where = ", ".join(str(result.folder) for result in results)
    if missed := [promise.text for promise in promises if promise.broken]:
        raise ExpectationMissed(
            f"{len(missed)} of the promised figures not met: {'; '.join(missed)}",
            where=where,
        )
    if not promises:
        raise CannotRun(
            "nothing is promised of what was measured: --check had nothing to check",
            where=where,
            hint="a whole run, or without --mode: lull run --check",
        )


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _answer(features: tuple[Feature, ...], results: list[RunResult]) -> str:
    folders = [shown_path(result.folder) for result in results]
    found = answer([result.summary for result in results], features)
    return render(found, folders, program=_program(), most=LINES - PAGE_LINES)


def _all_measured(requests: list[Request]) -> tuple[Feature, ...]:
    """The features of all requests, in the order of the one that has most: a base may
    lack some."""
    found: dict[str, Feature] = {}
    for request in sorted(requests, key=lambda request: -len(request.features)):
        for feature in request.measured:
            found.setdefault(feature.name, feature)
    return tuple(found.values())


def _tell(
    results: list[RunResult], bases: list[Base], features: tuple[Feature, ...]
) -> None:
    """What runs of several bases say; it does not hide why one of them has failed."""
    for result in results:
        _made_page([result.folder], None)
    try:
        sys.stdout.write(tell(results, bases, features, _program(), warn))
    except LullError as error:
        warn(f"they cannot be put side by side: {error}")


def _page(results: list[RunResult], output: Path | None) -> None:
    """Make the page and say where it is: the last that a run says.

    A page that cannot be made costs no run its answer.
    """
    folders = [result.folder for result in results]
    place = _made_page(folders, output if len(folders) > 1 else None)
    if place is not None:
        print(f"All of it on one page, for a browser:\n  {shown_path(place)}")


def _made_page(folders: list[Path], output: Path | None) -> Path | None:
    try:
        return make_page(folders, output, warn)
    except LullError as error:
        warn(f"no page was made: {error}")
        return None


def _program() -> str:
    """What the user has to type for this command: often it is in no PATH."""
    called = Path(sys.argv[0])
    if called.name != "lull" or shutil.which("lull"):
        return "lull"
    return shlex.quote(shown_path(called))
