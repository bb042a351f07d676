# SPDX-License-Identifier: GPL-2.0-only
"""What a run's folder holds beside samples: profiles and recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from lull.ask.job import STOCK
from lull.errors import LullError
from lull.graph.analysis import analyse
from lull.graph.load import load
from lull.model import Clock
from lull.page.cycle import chosen, recorded
from lull.page.model import Recorded, Section
from lull.page.profiles import section
from lull.report.counted import Counted, kept
from lull.runs.rundir import RECORDINGS


def profiles_of(
    runs: Iterable[Path], doubt: Callable[[str], None]
) -> tuple[Section, ...]:
    """Of the runs that were named by their folder. ``doubt`` hears of a file
    that cannot be read, which is no reason to have no page."""
    found: list[Counted] = []
    for run in runs:
        try:
            found += kept(run)
        except LullError as error:
            doubt(str(error))
    return tuple(section(each, f"p{number}") for number, each in enumerate(found))


def recordings_of(
    runs: Mapping[Path, Clock], doubt: Callable[[str], None]
) -> tuple[Recorded, ...]:
    """One cycle a mode of each run, mode stock first. As above."""
    found: list[Recorded] = []
    for run, clock in runs.items():
        there = run / RECORDINGS
        names = chosen([path.name for path in there.glob("*")])
        for mode in sorted(names, key=lambda mode: (mode != STOCK, mode)):
            try:
                analysis = analyse(load(there / names[mode]))
                found.append(recorded(analysis, mode, clock, f"r{len(found)}"))
            except LullError as error:
                doubt(str(error))
    return tuple(found)
