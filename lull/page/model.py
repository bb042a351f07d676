# SPDX-License-Identifier: GPL-2.0-only
"""The page as records: what the templates get, and nothing that they work out.

All text in them is cleaned (``lull.page.phrases``), and is text, not markup;
``Figure.svg`` alone is markup, of ``lull.page.draw``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lull.model import Clock


@dataclass(frozen=True)
class Table:
    """What a picture shows, in figures. ``numeric`` columns are lined up."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Key:
    """A mode's colour, by its number, and its name."""

    number: int
    name: str


@dataclass(frozen=True)
class Figure:
    """A picture with the table behind it. ``svg`` is empty without samples.

    ``about`` is for who cannot see the picture, ``note`` for everybody.
    ``verdict`` is on Lull's mode, in the tone of ``Claim``.
    """

    id: str
    title: str
    about: str
    clock: Clock | None
    svg: str
    table: Table
    note: str = ""
    verdict: str = ""
    tone: str = ""
    keys: tuple[Key, ...] = ()
    wide: bool = False


@dataclass(frozen=True)
class Claim:
    """A headline on one clock: "28.6x", "faster", and the sentence.

    ``tone`` is ``better``, ``worse``, ``other`` or ``same``, or ``left``: nothing is
    left to win.
    """

    clock: Clock
    factor: str
    word: str
    sentence: str
    tone: str
    noise: str = ""


@dataclass(frozen=True)
class Promises:
    """What a system promises on a clock: kept ones, those that are not, and those
    that were known not to be, with why."""

    clock: Clock
    kept: tuple[tuple[str, str], ...]
    broken: tuple[tuple[str, str], ...]
    unkept: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class CaseView:
    """A case: what differs, what does not, and whatever else was counted.

    ``brief`` is its verdict in a line, in the tone of ``Claim``; with
    ``first`` it is what a headline is about, and is not folded.
    """

    id: str
    title: str
    clock: Clock
    noise: str
    shown: tuple[Figure, ...]
    quiet: tuple[Figure, ...]
    supporting: Table | None = None
    brief: str = ""
    tone: str = "same"
    first: bool = False


@dataclass(frozen=True)
class Section:
    """Figures under one heading, with a sentence before them."""

    id: str
    title: str
    text: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Link:
    """Something to take away: a file that is in the page."""

    text: str
    name: str
    href: str


@dataclass(frozen=True)
class System:
    """A feature or a scenario, with all that was measured of it.

    ``costs`` are what is worse in Lull's mode, as lines of a table; ``steps`` what
    each step of it brings, where they were taken out one by one; ``native`` what of it
    the kernel has itself, in its mode stock.
    """

    id: str
    name: str
    title: str
    verdicts: tuple[Claim, ...]
    promises: tuple[Promises, ...]
    costs: Table | None
    modes: tuple[tuple[Key, str, str], ...]
    cases: tuple[CaseView, ...]
    sections: tuple[Section, ...] = ()
    steps: Table | None = None
    native: str = ""

    @property
    def shown(self) -> tuple[Claim, ...]:
        """The verdicts that say that something differs."""
        return tuple(v for v in self.verdicts if v.tone != "same")


@dataclass(frozen=True)
class Recorded:
    """A suspend cycle in one mode: a picture, its path, and the whole of it."""

    id: str
    title: str
    text: str
    figure: Figure
    path: Figure
    link: Link


@dataclass(frozen=True)
class Source:
    """A run: facts by name, the command that repeats it, the tables."""

    title: str
    clock: Clock
    facts: tuple[tuple[str, str], ...]
    command: str


@dataclass(frozen=True)
class Page:
    """All of it, in the order of the page.

    ``absent`` are features that were asked for and are not on the base, each with why.
    """

    title: str
    heading: str
    lead: str
    broken: str
    overview: Figure | None
    systems: tuple[System, ...]
    profiles: tuple[Section, ...]
    recorded: tuple[Recorded, ...]
    sources: tuple[Source, ...]
    mail: str
    doubts: tuple[str, ...] = field(default_factory=tuple)
    absent: tuple[tuple[str, str], ...] = ()
