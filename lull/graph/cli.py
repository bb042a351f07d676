# SPDX-License-Identifier: GPL-2.0-only
"""``lull graph``: options in, text out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from lull.errors import UsageError
from lull.graph import text
from lull.graph.analysis import Analysis, analyse
from lull.graph.edits import parse
from lull.graph.load import dmesg_beside, load, load_any, load_log
from lull.graph.perfetto import to_json
from lull.graph.recording import Caveat
from lull.graph.suspect import (
    CycleSet,
    Names,
    Search,
    not_in_order,
    recorded_names,
    runs,
)
from lull.graph.tree import graph
from lull.graph.whatif import predict
from lull.host.files import save_output
from lull.trees.model import Phase
from lull.vm.console import show

#: The longest callbacks of a phase that are shown without --all.
LONGEST = 12
#: The suspects that are shown without --all.
SUSPECTS = 5


def graph_command(
    recordings: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING", help="ftrace text: of pm-graph, trace-cmd or tracefs."
        ),
    ],
    cycle: Annotated[
        int | None, typer.Option(help="Which one; else the last complete one.")
    ] = None,
    phase: Annotated[
        Phase | None,
        typer.Option(metavar="PHASE", help="Show it; else the longest."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="What it waits for, and what for it.")
    ] = None,
    what_if: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC", help="mode=lull,async=all,DEVICE=0ms,DEVICE:resume=2ms"
        ),
    ] = None,
    needs: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="When display,disk,keyboard,DEVICE are back."
        ),
    ] = None,
    suspect: Annotated[
        bool,
        typer.Option(
            "--suspect", help="Of pm_async off and on: which order is missing."
        ),
    ] = False,
    perfetto: Annotated[
        Path | None, typer.Option(help="Write it for the Perfetto viewer.")
    ] = None,
    dmesg: Annotated[
        Path | None, typer.Option(help="The kernel's log, to check against.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="All phases, callbacks, and the replay.")
    ] = False,
) -> None:
    """Say what took long in a recorded suspend, and why."""
    if suspect:
        others = (cycle, phase, device, what_if, needs, perfetto, dmesg)
        if any(other is not None for other in others):
            raise UsageError(
                "--suspect takes no other option but --all",
                hint="without --suspect: one recording, and the rest",
            )
        _print(_suspects(recordings, all_))
        return
    if len(recordings) != 1:
        raise UsageError(
            f"{len(recordings)} recordings", hint="one, or --suspect SYNC ASYNC"
        )
    (recording,) = recordings
    log = dmesg or dmesg_beside(recording)
    logs = load_log(log) if log else None
    found = analyse(load(recording, cycle), cycle, logs, phase)
    lines = _summary(found, str(recording))
    shown = list(found.paths) if all_ else found.longest(phase)
    if device is not None:
        name = found.device(device)
        for each in [phase] if phase else found.paths:
            lines += text.device(found.waits[each], name)
    elif (what_if is None and needs is None) or all_:
        for each in shown:
            lines += text.timeline(found.waits[each], None if all_ else LONGEST)
            lines += text.critical(found.paths[each], found.ideals[each])
    if what_if is not None or needs is not None or all_:
        lines += text.replays(found.replays(), found.kernel)
    edits = parse(what_if) if what_if is not None else ()
    if needs is not None:
        lines += text.needs(found.needs(needs, edits))
    if what_if is not None:
        lines += text.predictions(
            predict(found.graph, found.kernel, edits, found.paths), what_if
        )
    _print(lines)
    if perfetto is not None:
        data = to_json(found.cycle, found.graph, found.paths.values()).encode()
        save_output(perfetto, data, "name a file that you may write: --perfetto FILE")


def _suspects(paths: list[Path], all_: bool) -> list[str]:
    if len(paths) < 2:
        raise UsageError(
            "--suspect takes a recording with pm_async off and one or more with it on",
            hint="lull graph --suspect SYNC ASYNC; 0 or 1 in /sys/power/pm_async",
        )
    search, names, not_off, caveats = _without(paths[0])
    for path in paths[1:]:
        caveats |= dict.fromkeys(_add(search, path))
    found, count = search.result()
    lines = [f"pm_async off: {paths[0]}; on: {', '.join(map(str, paths[1:]))}"]
    lines += text.caveats([*caveats, *not_off])
    return lines + text.suspects(found, names, count if all_ else SUSPECTS, count)


# Functions, so that nothing of a recording is held when the next is read.
def _without(
    path: Path,
) -> tuple[Search, Names, tuple[Caveat, ...], dict[Caveat, None]]:
    recording = load_any(path)
    _, cycle = recording.cycle()
    run = CycleSet(cycle, graph(recording, cycle))
    caveats = dict.fromkeys(recording.caveats)
    return Search(run), recorded_names([run]), not_in_order(run), caveats


def _add(search: Search, path: Path) -> tuple[Caveat, ...]:
    recording = load_any(path)
    for run in runs(recording):
        search.add(run)
    return recording.caveats


def _summary(found: Analysis, where: str) -> list[str]:
    return [
        *text.heading(found.recording, found.number, found.cycle, where),
        *text.caveats(found.caveats),
        *text.account(found.account()),
        *text.phases(found.cycle, found.graph, found.paths, found.ideals, found.checks),
    ]


def _print(lines: list[str]) -> None:
    # Names in it come from a file: they must not steer the terminal.
    for line in "\n".join(lines).split("\n"):
        sys.stdout.write(show(line.encode("utf-8", "replace")) + "\n")
