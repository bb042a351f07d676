# SPDX-License-Identifier: GPL-2.0-only
"""``lull guest measure``: scenarios in, the answer and a run's folder out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lull.ask.catalog import check_clock
from lull.ask.job import STOCK
from lull.ask.presence import need_on, why_absent
from lull.ask.requests import seeds_from
from lull.command_group import (
    FirstSeed,
    Modes,
    RunFolder,
    Seeds,
    Tables,
    Workloads,
)
from lull.errors import UsageError
from lull.host.files import shown_path
from lull.host.progress import open_progress
from lull.kernels.bases import DEFAULT_BASE, Base, base_names, load_base
from lull.model import Clock
from lull.real.catalog import Scenario, scenarios, select
from lull.real.plan import BOOTS, YEARS, Request, describe, only, plan
from lull.real.run import ScenariosRun, measure
from lull.real.said import failed
from lull.real.stress import stress
from lull.report.summary import to_json
from lull.runs.rundir import ANSWER, need_free


def scenarios_command(
    base: Annotated[
        str | None, typer.Option(help="As they are on this kernel. [default: all]")
    ] = None,
) -> None:
    """Show the scenarios of real programs, and what they need."""
    bases = [load_base(name) for name in ([base] if base else base_names())]
    for one in select(()):
        print("\n".join(_listed(one, bases)))


def _listed(one: Scenario, bases: Sequence[Base]) -> list[str]:
    """All of a scenario, as ``lull list`` has a feature; of one base, as there."""
    found = ((base, why_absent(one.feature, base)) for base in bases)
    absent = [f"  not on {base.name}: {why}" for base, why in found if why]
    lines = [f"{one.name}: {one.feature.title}"]
    if absent and len(bases) == 1:
        return lines + absent
    for mode in one.feature.modes:
        bare = "" if mode.name in one.guest.bare else " (with Lull)"
        lines.append(f"  mode {mode.name}{bare}: {mode.text}")
    for case in one.feature.cases:
        params = " ".join(f"{k}={v}" for k, v in case.params.items())
        lines.append(f"  case {case.workload} {params}")
    lines.append(f"  packages: {', '.join(one.guest.packages)}")
    return lines + absent


def measure_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Scenarios. [default: all]")
    ] = None,
    base: Annotated[
        str | None, typer.Option(help=f"Which kernel. [default: {DEFAULT_BASE}]")
    ] = None,
    clock: Annotated[str, typer.Option(help="insn or wall.")] = Clock.WALL.value,
    quick: Annotated[
        bool, typer.Option("--quick", help="One boot, and fewer cases.")
    ] = False,
    mode: Modes = None,
    workload: Workloads = None,
    seeds: Seeds = None,
    seed: FirstSeed = 1,
    debian: Annotated[
        bool,
        typer.Option("--debian", help="Debian's own kernel; modes without Lull."),
    ] = False,
    packages: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Of lull kernel deb. [default: built]"),
    ] = None,
    json_file: Annotated[
        bool, typer.Option("--json", help="The summary, to standard output.")
    ] = False,
    table: Tables = False,
    output: RunFolder = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the boots, do nothing.")
    ] = False,
) -> None:
    """Run real programs in a Debian with Lull, mode by mode.

    The first time a kernel is built for it, which takes hours.
    """
    for option, given in (("--packages", packages), ("--base", base)):
        if debian and given is not None:
            raise UsageError(
                f"--debian takes no {option}",
                hint="leave --debian out: it is Debian's own kernel, without Lull",
            )
    base = base or DEFAULT_BASE
    chosen = tuple(only(one, workload) for one in select(names or ()))
    record = load_base(base)
    others = [one.feature for one in scenarios()]
    for one in () if debian else chosen:
        need_on(one.feature, record, known=others)
    which = check_clock(clock)
    if debian and which is Clock.INSN:
        raise UsageError(
            "Debian's own kernel does not come up on insn: it stops at its second CPU",
            hint="--clock wall, or a kernel with Lull",
        )
    count = seeds or BOOTS[which, quick]
    request = Request(
        scenarios=chosen,
        base=base,
        clock=which,
        quick=quick,
        seeds=seeds_from(seed, count, base, later=YEARS),
        modes=tuple(dict.fromkeys([STOCK, *mode])) if mode else None,
        workloads=tuple(workload) if workload else None,
        bare=debian,
        packages=packages,
        output=output,
    )
    plan(request)  # says what is wrong with the words before anything is built
    if dry_run:
        print("\n".join(describe(request)))
        return
    if output is not None:
        need_free(output)
    with open_progress() as progress:
        result = measure(request, progress)
    _show(result, json_file, table)
    if result.failures:
        bad = {failure.scenario for failure in result.failures}
        raise failed(result.failures, [c.name for c in chosen if c.name not in bad])


def stress_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Stressors, or selftests/AREA/PROGRAM. [default: all]"),
    ] = None,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
    seconds: Annotated[
        int, typer.Option(min=1, help="How long a stressor has, of the guest's time.")
    ] = 20,
    mode: Modes = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="For consoles and the table.")
    ] = Path("runs/stress"),
) -> None:
    """Run foreign stress while it suspends and modes switch.

    stress-ng and the kernel's selftests, on the debug kernel, one boot a mode. Exit
    status 1 where a mode does worse than stock.
    """
    load_base(base)
    with open_progress() as progress:
        told = stress(names or (), seconds, base, output, progress, mode or ())
    sys.stdout.write(told)
    print(f"each mode's console: {shown_path(output)}")


def _show(result: ScenariosRun, as_json: bool, table: bool) -> None:
    if as_json:
        sys.stdout.write(to_json(result.summary))
        return
    if table:
        print(result.tables)
    sys.stdout.write((result.folder / ANSWER).read_text("utf-8"))
