# SPDX-License-Identifier: GPL-2.0-only
"""Where committed figures come from: the command that ran, the commit, the day.

It lies beside the summary that is committed, ``NAME.origin.json`` beside
``NAME.json``. The summary itself has no place for it: its record is a part of
what remembered verdicts depend on.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from lull.errors import LabError
from lull.guest.boot import without
from lull.host.files import write_file
from lull.model import Record, Summary
from lull.report.compare import Run, read
from lull.report.summary import to_json
from lull.runs.rundir import Env

SUFFIX = ".origin.json"
_FOLDER = "--packages"  #: of packages that somebody has built


class Origin(Record):
    """What is kept of a run. ``commit`` and ``created`` are empty where nobody
    wrote them down; of figures from before this was kept, the command is the one
    that the history has, and the day that of their commit."""

    command: str
    commit: str = ""
    created: str = ""

    def __str__(self) -> str:
        when = f", {self.day}" if self.day else ""
        return f"`{self.command}`{when}{f', commit {self.short}' if self.short else ''}"

    @property
    def day(self) -> str:
        """Of ``created``, without the time."""
        return self.created[:10]

    @property
    def short(self) -> str:
        """Ten digits of ``commit``: what finds it in the history of the checkout."""
        number, _, dirty = self.commit.partition("-")
        return f"{number[:10]}{'-' if dirty else ''}{dirty}" if number else ""


@dataclass(frozen=True)
class Figures:
    """A summary, and where it comes from as far as that is known."""

    summary: Summary
    origin: Origin | None = None


def figures_of(run: Run) -> Figures:
    """A run's figures: env.json beside them says what ran."""
    return Figures(run.summary, _of(run.env))


def _of(env: Env | None) -> Origin | None:
    if env is None or not env.commands:
        return None
    # Others have no such folder: without it the lab builds what was in it.
    commands = (without(words, _FOLDER) for words in env.commands)
    command = " && ".join(map(shlex.join, commands))
    return Origin(command=command, commit=env.commit, created=env.created)


def said(origin: Origin | None, built: str) -> str:
    """The command beside a table. ``built`` is one that measures the same, for
    figures of which nobody wrote down what ran."""
    return f"by {origin}" if origin else f"to be repeated by `{built}`"


def keep(place: Path, figures: Figures) -> tuple[Path, ...]:
    """Write both files, and return what was written. Where the origin is not
    known an older one goes: it is of other figures."""
    write_file(place, to_json(figures.summary).encode())
    beside = place.with_suffix(SUFFIX)
    if figures.origin is None:
        beside.unlink(missing_ok=True)
        return (place,)
    text = figures.origin.model_dump_json(indent=2, exclude_defaults=True)
    write_file(beside, f"{text}\n".encode())
    return (place, beside)


def kept(places: Iterable[Path]) -> tuple[Figures, ...]:
    """What is committed in those of the files that are there. Raises LabError."""
    return tuple(_read(place) for place in places if place.is_file())


def _read(place: Path) -> Figures:
    # What makes a comparison doubtful is of no concern here.
    summary = read(place, (), lambda text: None).summary
    beside = place.with_suffix(SUFFIX)
    if not beside.is_file():
        return Figures(summary)
    try:
        return Figures(summary, Origin.model_validate_json(beside.read_bytes()))
    except ValidationError as error:
        raise LabError("not the origin of a run", where=str(beside)) from error
