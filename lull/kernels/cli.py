# SPDX-License-Identifier: GPL-2.0-only
"""``lull kernel``: fetch, build, list. Errors pass to the top-level command."""

from __future__ import annotations

from typing import Annotated

import typer

from lull.command_group import DryRun, command_group
from lull.deb.cli import deb_command
from lull.errors import UsageError
from lull.host.progress import open_progress
from lull.kernels import build as builder
from lull.kernels import source
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.cache import Cache
from lull.kernels.listing import listing, table
from lull.kernels.verify import verify
from lull.model import Arm

app = command_group("Fetch, build and list kernels.")
app.command("deb")(deb_command)


@app.command()
def fetch(
    context: typer.Context,
    named: Annotated[
        str | None, typer.Argument(metavar="BASE", help="As --base.", hidden=True)
    ] = None,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the archive for a newer one.")
    ] = False,
) -> None:
    """Download a base's sources into the cache."""
    source_of_base = context.get_parameter_source("base")
    asked = source_of_base is not None and source_of_base.name == "COMMANDLINE"
    if named and asked and named != base:
        raise UsageError(f"{named}, and --base {base}", hint="name one of them")
    with open_progress() as progress:
        got = source.fetch(load_base(named or base), Cache(), progress.update, refresh)
    print(f"{got.base}: {got.package_version} in {got.tree}")


@app.command("build")
def build_command(
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
    arm: Annotated[
        list[Arm] | None,
        typer.Option(
            help="Untouched (stock), with Lull, with checks. [default: stock, lull]"
        ),
    ] = None,
    dry_run: DryRun = False,
    verify_: Annotated[
        bool, typer.Option("--verify", help="Build twice and compare, once a key.")
    ] = False,
) -> None:
    """Build kernels that are not in the cache yet."""
    load_base(base)
    arms = list(dict.fromkeys(arm or [Arm.STOCK, Arm.LULL]))
    if dry_run:
        for each in arms:
            print("\n".join(builder.describe(base, each)))
        return
    for each in arms:
        with open_progress() as progress:
            make = verify if verify_ else builder.build
            kernel = make(base, each, progress.update)
        print(
            f"{kernel.base} {kernel.arm}: {kernel.version} "
            f"sha256 {kernel.digest[:16]} in {kernel.directory}"
        )


@app.command("list")
def list_command() -> None:
    """Show what is in the cache.

    A = stands beside what was built twice and was equal.
    """
    entries = listing()
    print(table(entries) if entries else "no kernels yet: lull kernel build")
