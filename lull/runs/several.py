# SPDX-License-Identifier: GPL-2.0-only
"""Runs of several bases, and what they say beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lull.ask.presence import absent_from
from lull.host.files import save_output, shown_path
from lull.kernels.bases import Base
from lull.model import Feature
from lull.report.answer_text import LINES
from lull.report.beside import BaseRuns, blocks, render
from lull.report.compare import read
from lull.runs.experiment import RunResult

#: All of it, however long, in the folder of the first run.
BESIDE = "beside.txt"


def tell(
    results: Sequence[RunResult],
    bases: Sequence[Base],
    features: Sequence[Feature],
    program: str,
    warn: Callable[[str], None],
) -> str:
    """The answer of these runs, in the order of the bases; the whole of it is kept.

    Their folders are read again: samples are there. Raises what ``read`` raises, and
    UsageError where it cannot be kept.
    """
    of_bases = [
        (base, [r for r in results if r.summary.base == base.name]) for base in bases
    ]
    of_bases = [(base, found) for base, found in of_bases if found]
    kernels = [
        BaseRuns(
            base.name,
            tuple(read(result.folder, features, warn) for result in found),
            absent_from(base),
            base.native,
        )
        for base, found in of_bases
    ]
    first, *others = [found for _, found in of_bases]
    following = [
        f"{program} compare {shown_path(old.folder)} {shown_path(new.folder)}"
        for found in others
        for old in first
        for new in found
        if old.summary.clock is new.summary.clock
    ]
    folders = [shown_path(r.folder) for r in results]
    place = results[0].folder / BESIDE
    said = blocks(kernels, features)

    def text(most: int | None) -> str:
        whole = shown_path(place)
        return render(said, kernels, features, folders, following, most, whole)

    save_output(place, text(None).encode(), "name a folder with -o DIR")
    return text(LINES)
