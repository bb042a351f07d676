# SPDX-License-Identifier: GPL-2.0-only
"""A profile as a picture by function, and as a differential table.

No stacks are counted, so that the flame graph has one level: a function is as
wide as what it executes, in the same order in both modes, and coloured by its
difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lull.model import Clock
from lull.page.bars import Bar, bars
from lull.page.model import Figure, Section, Table
from lull.page.phrases import clean
from lull.report.counted import Counted
from lull.report.profile import Profile

TOP = 30  #: functions of the table
WIDEST = 40  #: functions that have a bar of their own
_WIDTH = 1000
_LEFT = 92
_LETTER = 6.2  #: px of one at the size of a bar's text


def section(found: Counted, name: str) -> Section:
    """The pictures of a profile."""
    of = found.of.profile()
    vs = found.vs.profile() if found.vs else None
    sides = [side for side in (vs, of) if side is not None]
    text = f"Executed instructions by function, per {found.unit}"
    text += (
        ". Static functions of one name are one."
        if vs is None
        else (
            f": {sides[0].mode} above {of.mode}. A function that executes less in"
            f" {of.mode} is blue, one that executes more is red."
        )
    )
    totals = " to ".join(f"{side.total.insns / side.work:,.0f}" for side in sides)
    figure = Figure(
        id=name,
        title=clean(f"{totals} instructions per {found.unit}"),
        about=clean(f"Instructions by function of {found.title}", 300),
        clock=Clock.INSN,
        svg=bars(list(_bars(sides)), "", width=_WIDTH, left=_LEFT, step=46),
        table=table(of, vs),
        note="a bar is a function, as wide as its instructions; the grey one at the"
        " end is all others",
        wide=True,
    )
    return Section(f"{name}-p", clean(found.title), clean(text, 300), (figure,))


def table(of: Profile, vs: Profile | None) -> Table:
    """The functions that differ most, or that execute most."""
    sides = [of] if vs is None else [vs, of]

    def weight(name: str) -> float:
        if vs is None:
            return of.each(name)[0]
        return abs(of.each(name)[0] - vs.each(name)[0])

    names = sorted(
        {n for s in sides for n in s.functions}, key=lambda n: (-weight(n), n)
    )
    heads = ["function"]
    for side in sides:
        heads += [clean(f"{side.mode} insns"), clean(f"{side.mode} locked")]
    rows = [("total", *_cells([_total(side) for side in sides]))]
    rows += [
        (clean(name), *_cells([side.each(name) for side in sides]))
        for name in names[:TOP]
    ]
    rest = names[TOP:]
    if rest:
        sums = [
            (sum(s.each(n)[0] for n in rest), sum(s.each(n)[1] for n in rest))
            for s in sides
        ]
        rows.append((f"{len(rest)} more", *_cells(sums)))
    if vs is not None:
        heads.append("difference")
    return Table(tuple(heads), tuple(rows), frozenset(range(1, len(heads))))


def _total(side: Profile) -> tuple[float, float]:
    return side.total.insns / side.work, side.total.locked / side.work


def _cells(pairs: Sequence[tuple[float, float]]) -> Iterator[str]:
    for insns, locked in pairs:
        yield f"{insns:,.1f}"
        yield f"{locked:,.2f}"
    if len(pairs) == 2:
        yield f"{pairs[1][0] - pairs[0][0]:+,.1f}"


def _bars(sides: Sequence[Profile]) -> Iterator[Bar]:
    names = sorted(
        {name for side in sides for name in side.functions},
        key=lambda name: (-max(side.each(name)[0] for side in sides), name),
    )
    longest = max((_total(side)[0] for side in sides), default=0) or 1.0
    for side in sides:
        at = 0.0
        for name in names[:WIDEST]:
            size = side.each(name)[0]
            if size:
                # The room of a bar in letters; a part of a word is no name.
                room = int(size / longest * (_WIDTH - _LEFT) / _LETTER) - 1
                text = clean(name) if len(name) <= room else ""
                fill = _fill(name, sides)
                yield Bar(side.mode, at, at + size, fill, text)
                at += size
        rest = sum(side.each(name)[0] for name in names[WIDEST:])
        if rest:
            yield Bar(side.mode, at, at + rest, "var(--line)")


def _fill(name: str, sides: Sequence[Profile]) -> str:
    if len(sides) == 1:
        return "var(--same)"
    before, after = (side.each(name)[0] for side in sides)
    if abs(after - before) <= 0.02 * max(before, after):
        return "var(--same)"
    return "var(--less)" if after < before else "var(--more)"
