# SPDX-License-Identifier: GPL-2.0-only
"""``lull kernel deb``: a flavour in, Debian packages out."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from lull.command_group import DryRun
from lull.deb import build as builder
from lull.deb.flavour import Flavour
from lull.deb.folder import put
from lull.deb.newer import newer_text
from lull.deb.tools import PACKAGE, build_tools
from lull.errors import LabError, UsageError
from lull.host.files import shown_path
from lull.host.named import need_folder
from lull.host.progress import open_progress
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.cache import Cache
from lull.kernels.make import Interrupted
from lull.kernels.source import cached


def deb_command(
    flavour: Annotated[
        Flavour | None,
        typer.Option(
            help=f"Whose configuration: Debian's name. [default: {Flavour.CLOUD}]"
        ),
    ] = None,
    base: Annotated[
        str | None, typer.Option(help=f"Which kernel. [default: {DEFAULT_BASE}]")
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The folder of the packages.")
    ] = Path("packages"),
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, help="At once. [default: CPUs + 1]"),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the archive for newer sources.")
    ] = False,
    tools: Annotated[
        bool, typer.Option("--tools", help="Only lull-tools, in seconds.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Build Debian packages: kernel, headers, lull-tools.

    Debian's own configuration of the flavour, with Lull: not signed, and so
    without lockdown and FIPS mode; without debugging information and BTF, and
    without SMC sockets, which exclude the feature thaw. All features start as
    stock.
    """
    if tools and (flavour or base or jobs is not None or refresh):
        raise UsageError(
            "--tools compiles no kernel",
            hint="leave --flavour, --base, -j and --refresh out",
        )
    flavour = flavour or Flavour.CLOUD
    base = base or DEFAULT_BASE
    record = load_base(base)
    if dry_run:
        lines = [f"# {PACKAGE}: the probe, settings and a unit, by dpkg-deb"]
        if not tools:
            lines += builder.describe(base, flavour, jobs=jobs, refresh=refresh)
        print("\n".join(lines))
        return
    need_folder(output)
    with _stoppable(), open_progress() as progress:
        progress.step("lull-tools")
        made = [build_tools(output)]
        if not tools:
            here = None if refresh else cached(record, Cache())
            if here and (text := newer_text(record, here)):
                progress.note(text)
            packages = builder.build(
                base, flavour, progress, jobs=jobs, refresh=refresh
            )
            names = (*packages.files, builder.DIFFERENCES)
            made += put(packages.directory, names, output)
    for path in made:
        print(shown_path(path))
    print(_install_text(made))


def _install_text(paths: Iterable[Path]) -> str:
    """The command that installs these packages, whatever else is in their folder."""
    words = []
    for path in paths:
        if path.suffix == ".deb":
            shown = shown_path(path)
            # A name without a slash would be a package of the archive's.
            words.append(shlex.quote(shown if shown.startswith("/") else f"./{shown}"))
    command = " \\\n        ".join(["sudo apt install", *words])
    return f"To install these, and nothing else that is there:\n    {command}"


@contextmanager
def _stoppable() -> Iterator[None]:
    """kill is as good as Ctrl-C, and both end with a message."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except Interrupted as error:
        raise LabError(
            "interrupted; what is compiled is kept",
            where="lull kernel deb",
            hint="the same command: it goes on where it was",
        ) from error
    except KeyboardInterrupt as error:
        raise LabError(
            "interrupted; what was half made is not kept",
            where="lull kernel deb",
            hint="the same command: what was compiled comes from ccache",
        ) from error
    finally:
        signal.signal(signal.SIGTERM, before)
