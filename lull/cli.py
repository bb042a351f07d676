# SPDX-License-Identifier: GPL-2.0-only
"""The command ``lull``: options in, exit status out. Nothing else exits."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from lull import __version__
from lull.catalog import (
    check_clock,
    check_mode,
    check_workload,
    read_params,
    select,
)
from lull.compare import compare_runs
from lull.errors import ExpectationMissed, LabError, LullError, UsageError
from lull.experiment import Result, run
from lull.files import write_output
from lull.graph.cli import graph_command
from lull.graph.fit_cli import fit_command
from lull.kernels.bases import DEFAULT_BASE, base_names, load_base
from lull.kernels.cli import app as kernel_app
from lull.model import Clock, Feature
from lull.plan import SEEDS, Request, describe
from lull.profiler import ProfileRequest, profile
from lull.progress import open_progress
from lull.summary import to_json
from lull.trees.cli import app as tree_app

app = typer.Typer(
    help="Measure how fast Linux comes to rest and wakes up.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(kernel_app, name="kernel")
app.add_typer(tree_app, name="tree")
tree_app.command("fit")(fit_command)
app.command("graph")(graph_command)


@app.command("run")
def run_command(
    features: Annotated[
        list[str] | None, typer.Argument(help="Features. [default: all]")
    ] = None,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
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
        bool, typer.Option(help="Boot the untouched kernel too, where compared.")
    ] = True,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder of the run.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the commands, do nothing.")
    ] = False,
) -> None:
    """Build what is missing, boot, measure, print the table."""
    load_base(base)
    chosen = select(features or ())
    _check_names(chosen, mode, workload)
    if clock is not None:
        clocks = [check_clock(clock)]
    else:
        clocks = [Clock.INSN, Clock.WALL] if quick else [Clock.INSN]
    if json_file is not None and len(clocks) > 1:
        raise UsageError("--json takes one clock", hint="add --clock insn")
    requests = [
        Request(
            features=chosen,
            base=base,
            clock=each,
            quick=quick,
            seeds=tuple(range(seed, seed + (seeds or SEEDS[each, quick]))),
            modes=tuple(mode) if mode else None,
            workloads=tuple(workload) if workload else None,
            control=control,
            output=output / each if output and len(clocks) > 1 else output,
        )
        for each in clocks
    ]
    if dry_run:
        for request in requests:
            print("\n".join(describe(request)))
        return
    results = [_run(request, json_file) for request in requests]
    missed = [v.text for r in results for v in r.summary.expectations if not v.ok]
    if check and missed:
        raise ExpectationMissed(
            f"{len(missed)} of the promised figures not met: {'; '.join(missed)}",
            where=", ".join(str(r.folder) for r in results),
        )


def _run(request: Request, json_file: Path | None) -> Result:
    with open_progress() as progress:
        result = run(request, progress)
    if json_file == Path("-"):
        sys.stdout.write(to_json(result.summary))
    else:
        sys.stdout.write(result.report)
        print(f"\nrun: {result.folder}\n")
        if json_file is not None:
            _save(json_file, result)
    return result


def _save(json_file: Path, result: Result) -> None:
    try:
        write_output(json_file, to_json(result.summary).encode())
    except OSError as error:
        raise LabError(
            f"the run is done, but cannot be written here: {error.strerror or error}",
            where=str(json_file),
            hint=f"the same is in {result.folder / 'summary.json'}",
        ) from error


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


@app.command("profile")
def profile_command(
    feature: Annotated[str, typer.Argument(help="One of the features.")],
    workload: Annotated[str, typer.Argument(help="One of its workloads.")],
    mode: Annotated[str, typer.Option(help="In this mode.")] = "lull",
    vs: Annotated[
        str | None,
        typer.Option(help="The difference to another mode, or to untouched: no Lull."),
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for it. May repeat.")
    ] = None,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
    rounds: Annotated[int, typer.Option(min=1, help="How often it is run.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the boots.")] = 1,
    top: Annotated[int, typer.Option(min=1, help="How many functions.")] = 25,
) -> None:
    """Count instructions by kernel function while a workload runs."""
    load_base(base)
    (chosen,) = select([feature])
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


@app.command("list")
def list_command() -> None:
    """Features with their modes and workloads, bases, clocks."""
    for feature in select(()):
        print(f"{feature.name}: {feature.title}")
        for mode in feature.modes:
            unsafe = " (unsafe)" if mode.unsafe else ""
            print(f"  mode {mode.name}{unsafe}: {mode.text}")
        for name, workload in feature.workloads.items():
            params = " ".join(f"{k}={v}" for k, v in workload.params.items())
            print(f"  workload {name}: {workload.text}")
            if params:
                print(f"    {params}")
    print(f"bases: {', '.join(base_names())}")
    print(f"clocks: {', '.join(Clock)}")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"lull {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """The entry point: every error becomes a message and a status."""
    try:
        app()
    except LullError as error:
        print(f"lull: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception:
        traceback.print_exc()
        print("lull: this is a bug of the lab", file=sys.stderr)
        sys.exit(LullError.exit_code)
