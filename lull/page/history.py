# SPDX-License-Identifier: GPL-2.0-only
"""``lull report --history``: folders of runs in, a page of series out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.ask.catalog import features
from lull.errors import LullError, UsageError
from lull.page.model import Figure
from lull.page.trend import figure, series
from lull.report.compare import Run, read
from lull.runs.rundir import SUMMARY

PAGE = "history.html"


@dataclass(frozen=True)
class History:
    """The page: what its template gets."""

    title: str
    heading: str
    lead: str
    said: tuple[str, ...]
    figures: tuple[Figure, ...]
    doubts: tuple[str, ...]


def history(
    places: Sequence[Path], metrics: Sequence[str], warn: Callable[[str], None]
) -> History:
    """The series of all runs in folders, or in folders of them.

    A run that cannot be read is left out, and ``warn`` hears of it. Raises
    UsageError where there is nothing to draw a line through.
    """
    doubts: list[str] = []
    runs: list[Run] = []
    known = features()
    for folder in _folders(places):
        try:
            runs.append(read(folder / SUMMARY, known, warn))
        except LullError as error:
            doubts.append(str(error))
            warn(str(error))
    found = series(runs, known, metrics)
    if not found:
        what = f"of {', '.join(metrics)}" if metrics else "of a headline"
        raise UsageError(
            f"there are no two runs {what} in {', '.join(map(str, places))}",
            hint="name folders of runs, as lull run leaves them in runs/",
        )
    drawn = [figure(each, f"h{number}") for number, each in enumerate(found)]
    stepped = sum(bool(said) for _, said in drawn)
    count = f"{stepped} of {len(drawn)} figures" if stepped else "no figure"
    return History(
        title="Lull, from run to run",
        heading=f"A step in {count}.",
        lead=f"{len(runs)} runs, by the time when they were measured.",
        said=tuple(
            f"{each.title} ({each.clock}) {line}"
            for each, (_, said) in zip(found, drawn, strict=True)
            for line in said
        ),
        figures=tuple(each for each, _ in drawn),
        doubts=tuple(doubts),
    )


def _folders(places: Sequence[Path]) -> Iterator[Path]:
    seen: set[Path] = set()
    for place in places:
        if not place.is_dir():
            raise UsageError(f"no folder: {place}", hint="name runs/, or runs in it")
        inside = sorted(path.parent for path in place.glob(f"*/{SUMMARY}"))
        for folder in [place] if (place / SUMMARY).is_file() else inside:
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                yield folder
