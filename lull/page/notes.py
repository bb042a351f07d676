# SPDX-License-Identifier: GPL-2.0-only
"""What has to stand beside a figure wherever a README shows it: ``notes.toml``.

It is a file of its own in the feature's room: feature.toml's record is a part of
what remembered verdicts depend on, and no word here is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from lull.errors import LabError
from lull.host.records import read_toml
from lull.model import (
    Expectation,
    Feature,
    Headline,
    Place,
    Record,
    Row,
    StepShare,
    Value,
)
from lull.report.summary import CaseKey, case_key

FILE = "notes.toml"


class Note(Record):
    """``text`` is a sentence or two about a metric of a case."""

    workload: str
    params: Mapping[str, Value] = Field(default_factory=dict)
    metric: str
    text: str


class _File(Record):
    notes: tuple[Note, ...]


def notes_of(feature: Feature, folder: Path) -> tuple[Note, ...]:
    """Those in the feature's room. Raises LabError for a broken file, and for a note
    of what no README shows: it would never be seen."""
    path = folder / FILE
    if not path.is_file():
        return ()
    found = read_toml(path, _File).notes
    headlines = [about(feature, headline) for headline in feature.headlines]
    for note in found:
        if about(feature, note) not in headlines:
            what = f"{note.workload} {note.metric}: no headline is about it"
            raise LabError(what, where=str(path))
    return found


def about(
    feature: Feature, item: Note | Headline | Place | Row | StepShare | Expectation
) -> tuple[CaseKey, str]:
    """What of a feature it is about: a metric of a case."""
    return case_key(feature, item.workload, item.params), item.metric


class Marks:
    """Numbers for the notes of a table, in the order in which its lines come."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def mark(
        self,
        feature: Feature,
        item: Headline | Row | StepShare | Expectation,
        notes: Sequence[Note],
    ) -> str:
        """What a cell about ``item`` ends with: nothing, or a blank and numbers."""
        texts = [n.text for n in notes if about(feature, n) == about(feature, item)]
        return "".join(f" ({self._number(text)})" for text in texts)

    def _number(self, text: str) -> int:
        if text not in self._texts:
            self._texts.append(text)
        return self._texts.index(text) + 1

    def lines(self) -> Iterator[str]:
        """The notes themselves, for below the table: paragraphs."""
        for number, text in enumerate(self._texts, 1):
            yield f"({number}) {text}"
            yield ""
