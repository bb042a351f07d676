# SPDX-License-Identifier: GPL-2.0-only
"""``lull report``: runs in, a file out, and its place back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lull.ask.catalog import features
from lull.errors import UsageError
from lull.host.files import save_output
from lull.page.build import Extras, page
from lull.page.history import PAGE as HISTORY
from lull.page.history import history
from lull.page.html import render
from lull.page.run_folder import profiles_of, recordings_of
from lull.real.catalog import features as real_features
from lull.report.compare import read

#: The file in the folder of the (first) run, or in the one that was named.
PAGE = "report.html"


def make_page(
    runs: Sequence[Path], folder: Path | None, warn: Callable[[str], None]
) -> Path:
    """Write the page of runs (folders, or files in them) and return where it is.

    Raises UsageError for what is no run or named twice, LabError for a summary
    that is broken or a page that cannot be written.
    """
    known = (*features(), *real_features())
    seen: set[Path] = set()
    for path in runs:
        if path.resolve() in seen:
            raise UsageError(f"named twice: {path}")
        seen.add(path.resolve())
    doubts: list[str] = []

    def doubt(text: str) -> None:
        doubts.append(text)
        warn(text)

    found = [read(path, known, doubt) for path in runs]
    folders = {
        path: run.summary.clock
        for path, run in zip(runs, found, strict=True)
        if path.is_dir()
    }
    extras = Extras(
        profiles=profiles_of(folders, doubt),
        recorded=recordings_of(folders, doubt),
        doubts=tuple(doubts),
    )
    text = render(page(found, known, extras))
    first = runs[0] if runs[0].is_dir() else runs[0].parent
    return put((folder or first) / PAGE, text)


def make_history(
    places: Sequence[Path],
    metrics: Sequence[str],
    folder: Path | None,
    warn: Callable[[str], None],
) -> Path:
    """Write the page of a series of runs and return where it is.

    Raises what ``lull.page.history.history`` raises, and LabError as above.
    """
    found = history(places, metrics, warn)
    return put((folder or places[0]) / HISTORY, render(found))


def put(place: Path, text: str) -> Path:
    """Write a page, and say where. Raises UsageError where it cannot be written."""
    save_output(place, text.encode(), "name a folder with -o DIR")
    return place
