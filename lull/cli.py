# SPDX-License-Identifier: GPL-2.0-only
"""The command ``lull``: options in, exit status out. Nothing else exits."""

from __future__ import annotations

import shlex
import shutil
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from lull import __version__
from lull.ask.catalog import (
    check_clock,
    check_mode,
    check_workload,
    read_params,
    select,
)
from lull.ask.job import SEEDS
from lull.ask.listing import details, overview
from lull.ask.plan import Request, describe, plan
from lull.ask.presence import absent_from, on_some, select_on
from lull.bases.cli import app as base_app
from lull.command_group import command_group
from lull.doctor.cli import doctor_command
from lull.errors import ExpectationMissed, LullError, UsageError
from lull.graph.cli import graph_command
from lull.graph.fit_cli import fit_command
from lull.guest.cli import app as guest_app
from lull.host.files import cache_root, shown_path
from lull.host.process import sigterm_unwinds
from lull.host.progress import open_progress
from lull.host.trust import trust_cache
from lull.kernels.bases import DEFAULT_BASE, Base, base_names, load_base
from lull.kernels.cli import app as kernel_app
from lull.model import Clock, Feature
from lull.page.cli import report_command
from lull.page.command import make_page
from lull.proof.cli import proofs_command, soak_command
from lull.real.catalog import refuse_real
from lull.real.cli import measure_command, scenarios_command, stress_command
from lull.report import ablation
from lull.report.answer import answer
from lull.report.answer_text import LINES, render
from lull.report.compare import compare_runs
from lull.report.summary import to_json
from lull.runs.asked_files import STDOUT, save, saved_promises
from lull.runs.experiment import RunResult, run
from lull.runs.profiler import ProfileRequest, profile
from lull.runs.several import tell
from lull.series.cli import series_command
from lull.trees.cli import app as tree_app

PAGE_LINES = 2  #: of the screen, which say where the page is

#: Commands that use nothing that another user may have left in the cache: root may ask
#: them in a user's home. What the doctor runs is then compiled elsewhere (lull.vm).
WITHOUT_CACHE = ("list", "compare", "doctor", "graph", "tree")

app = command_group("Measure how fast Linux comes to rest and wakes up.")


@app.command("run")
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
        bool, typer.Option("--check", help="Exit with 1 where a promise is broken.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Summary to FILE; - is stdout.")
    ] = None,
    ktap_file: Annotated[
        Path | None, typer.Option("--ktap", help="Promises as KTAP to FILE; - too.")
    ] = None,
    mode: Annotated[
        list[str] | None, typer.Option(help="Only these, and stock. May repeat.")
    ] = None,
    workload: Annotated[
        list[str] | None, typer.Option(help="Only these. May repeat.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="How many boots; else by clock and --quick."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
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
    table: Annotated[
        bool, typer.Option("--table", help="Print the whole tables, too.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder of the run.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands, do nothing.")
    ] = False,
) -> None:
    """Build what is missing, boot, measure, print the answer."""
    refuse_real(features or ())
    bases = [load_base(name) for name in dict.fromkeys(base or [DEFAULT_BASE])]
    if ablate and mode:
        raise UsageError("--ablate has modes of its own", hint="leave --mode out")
    on: dict[str, tuple[Feature, ...]] = {}
    absent: dict[str, dict[str, str]] = {}
    for record in bases:
        names = on_some(features or (), record, bases)
        if features and not names:
            continue
        chosen = select_on(record, names, mode or ())
        absent[record.name] = {
            name: why
            for name, why in absent_from(record).items()
            if not features or name in set(features).difference(names)
        }
        for name, why in absent[record.name].items():
            text = f"without {name}, not on the base {record.name}: {why}"
            print(text, file=sys.stderr)
        if ablate and not features:
            chosen = tuple(feature for feature in chosen if feature.steps)
        _check_names(chosen, mode, workload)
        on[record.name] = chosen
    if clock is not None:
        clocks = [check_clock(clock)]
    else:
        clocks = [Clock.INSN, Clock.WALL] if quick else [Clock.INSN]
    if json_file is not None and len(clocks) > 1:
        raise UsageError("--json takes one clock", hint="add --clock insn")
    if json_file == ktap_file == STDOUT:
        raise UsageError("--json and --ktap cannot both be standard output")
    several, two = len(bases) > 1, len(clocks) > 1
    if several and (json_file or ktap_file or ablate):
        raise UsageError(
            "--json, --ktap and --ablate take one --base",
            hint="a run of each: lull compare puts two runs beside each other",
        )
    native = {record.name: record.native for record in bases}
    asked = [
        Request(
            features=chosen,
            base=name,
            clock=each,
            quick=quick,
            seeds=tuple(range(seed, seed + (seeds or SEEDS[each, quick]))),
            modes=tuple(mode) if mode else None,
            workloads=tuple(workload) if workload else None,
            control=not quick if control is None else control,
            ablate=ablate,
            native=native[name],
            absent=absent[name],
            output=_place(output, name if several else "", each if two else ""),
        )
        for name, chosen in on.items()
        for each in clocks
    ]
    # Nobody who names no clock has to know that a feature has nothing on one.
    requests = [request for request in asked if plan(request)] or asked[:1]
    if dry_run:
        for request in requests:
            print("\n".join(describe(request)))
        return
    piped = STDOUT in (json_file, ktap_file)
    results: list[RunResult] = []
    with saved_promises(ktap_file, requests, results, _warn):
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
    missed = [v.text for r in results for v in r.summary.expectations if v.broken]
    if check and missed:
        raise ExpectationMissed(
            f"{len(missed)} of the promised figures not met: {'; '.join(missed)}",
            where=", ".join(str(r.folder) for r in results),
        )


def _place(output: Path | None, *parts: str) -> Path | None:
    """The folder of one of several runs, below the one that was named."""
    return output.joinpath(*filter(None, parts)) if output else None


def _warn(text: str) -> None:
    print("warning:", text, file=sys.stderr)


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
        sys.stdout.write(tell(results, bases, features, _program(), _warn))
    except LullError as error:
        _warn(f"they cannot be put side by side: {error}")


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
        return make_page(folders, output, _warn)
    except LullError as error:
        _warn(f"no page was made: {error}")
        return None


def _program() -> str:
    """What the user has to type for this command: often it is in no PATH."""
    called = Path(sys.argv[0])
    if called.name != "lull" or shutil.which("lull"):
        return "lull"
    return shlex.quote(shown_path(called))


def _check_names(
    chosen: tuple[Feature, ...], modes: list[str] | None, workloads: list[str] | None
) -> None:
    """A name has to be known to one of the features; else UsageError."""
    for names, check in ((modes, check_mode), (workloads, check_workload)):
        for name in names or ():
            errors = []
            for feature in chosen:
                try:
                    check(feature, name)
                except UsageError as error:
                    errors.append(error)
            if len(errors) == len(chosen):
                raise errors[0]


@app.command("list")
def list_command(
    features: Annotated[
        list[str] | None, typer.Argument(help="Features, to be told all of them.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="As they are on this kernel. [default: all]")
    ] = None,
) -> None:
    """Show what can be measured: features, modes, workloads, bases."""
    bases = [load_base(name) for name in ([base] if base else base_names())]
    if features:
        refuse_real(features)
        print("\n".join(details(feature, bases) for feature in select(features)))
    else:
        print(overview(select(()), bases))


@app.command("profile")
def profile_command(
    feature: Annotated[str, typer.Argument(help="One of the features.")],
    workload: Annotated[str, typer.Argument(help="One of its workloads.")],
    mode: Annotated[str, typer.Option(help="In this mode.")] = "lull",
    vs: Annotated[
        str | None,
        typer.Option(help="To hold against: a mode, lull-STEP, or untouched: no Lull."),
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for it. May repeat.")
    ] = None,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
    rounds: Annotated[int, typer.Option(min=1, help="How often it is run.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the boots.")] = 1,
    top: Annotated[int, typer.Option(min=1, help="How many functions.")] = 25,
    into: Annotated[
        Path | None, typer.Option(help="A run's folder: for its lull report, too.")
    ] = None,
) -> None:
    """Count instructions by kernel function while a workload runs."""
    refuse_real([feature])
    asked = [mode] if vs is None else [mode, vs]
    (chosen,) = select_on(load_base(base), [feature], asked)
    request = ProfileRequest(
        feature=chosen,
        workload=workload,
        mode=mode,
        vs=vs,
        base=base,
        params=read_params(chosen, workload, param or ()),
        rounds=rounds,
        seed=seed,
        top=top,
        into=into,
    )
    with open_progress() as progress:
        text = profile(request, progress)
    sys.stdout.write(text)


@app.command("compare")
def compare_command(
    old: Annotated[Path, typer.Argument(help="A run's folder, or a summary.json.")],
    new: Annotated[Path, typer.Argument(help="Another.")],
) -> None:
    """Hold two runs against each other."""
    with open_progress() as progress:
        text = compare_runs(old, new, progress.warn)
    sys.stdout.write(text)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lull {__version__}")
        raise typer.Exit


# The order of --help: what one begins with first.
app.command("report")(report_command)
app.command("doctor")(doctor_command)
app.command("graph")(graph_command)
app.command("series")(series_command)
app.command("soak")(soak_command)
app.command("proofs")(proofs_command)
app.add_typer(kernel_app, name="kernel")
app.add_typer(base_app, name="base")
app.add_typer(tree_app, name="tree")
app.add_typer(guest_app, name="guest")
tree_app.command("fit")(fit_command)
guest_app.command("measure")(measure_command)
guest_app.command("scenarios")(scenarios_command)
guest_app.command("stress")(stress_command)


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    # Who asks only what a command does is not told whose the cache is.
    asks = {"--help", "--dry-run"} & set(sys.argv)
    if context.invoked_subcommand not in WITHOUT_CACHE and not asks:
        trust_cache(cache_root(), _warn)


def main() -> None:
    """The entry point: every error becomes a message and a status, and SIGTERM an
    end with all that was begun cleaned up."""
    try:
        with sigterm_unwinds():
            app()
    except LullError as error:
        print(f"lull: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception:
        traceback.print_exc()
        print("lull: this is a bug of the lab", file=sys.stderr)
        sys.exit(LullError.exit_code)
