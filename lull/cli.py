# SPDX-License-Identifier: GPL-2.0-only
"""The command ``lull``: options in, exit status out. Nothing else exits."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from lull import __version__
from lull.ask.catalog import read_params, select
from lull.ask.listing import details, overview
from lull.ask.presence import select_on
from lull.ask.requests import seeds_from
from lull.bases.cli import app as base_app
from lull.command_group import command_group, warn
from lull.doctor.cli import doctor_command
from lull.errors import LullError
from lull.graph.cli import graph_command
from lull.graph.fit_cli import fit_command
from lull.guest.cli import app as guest_app
from lull.host.files import cache_root
from lull.host.process import sigterm_unwinds
from lull.host.progress import open_progress
from lull.host.trust import trust_cache
from lull.kernels.bases import DEFAULT_BASE, base_names, load_base
from lull.kernels.cli import app as kernel_app
from lull.page.cli import report_command
from lull.proof.cli import proofs_command, soak_command
from lull.real.catalog import SCENARIOS, refuse_real
from lull.real.cli import measure_command, scenarios_command, stress_command
from lull.report.compare import compare_runs
from lull.runs.cli import run_command
from lull.runs.profiler import ProfileRequest, profile
from lull.series.cli import series_command
from lull.trees.cli import app as tree_app

#: Commands that use nothing that another user may have left in the cache: root may ask
#: them in a user's home. What the doctor runs is then compiled elsewhere (lull.vm).
WITHOUT_CACHE = ("list", "compare", "doctor", "graph", "tree")

app = command_group("Measure how fast Linux comes to rest and wakes up.")


app.command("run")(run_command)


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
        refuse_real(features, SCENARIOS)
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
        seed=seeds_from(seed, 1, base)[0],
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
        trust_cache(cache_root(), warn)


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
