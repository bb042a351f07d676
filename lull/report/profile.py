# SPDX-License-Identifier: GPL-2.0-only
"""Where the instructions went: what the plugin counted, as a table.

Pure. The plugin writes ``windows N``, then ``instructions locked name`` for
each function, then ``end`` (plugin/profile.c).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lull.errors import LabError
from lull.report.table import WIDTH, plain

_NAME = 24
_INSNS = 11
_LOCKED = 9
_LEAST = 0.05


@dataclass(frozen=True)
class Count:
    """Of one function: executed instructions, and how many were locked."""

    insns: int = 0
    locked: int = 0


@dataclass(frozen=True)
class Profile:
    """Counts over ``windows`` rounds in which ``work`` units were done."""

    mode: str  #: or that it was the untouched kernel
    kernel: str  #: its version
    windows: int
    work: float
    functions: Mapping[str, Count]

    @property
    def total(self) -> Count:
        return Count(
            sum(count.insns for count in self.functions.values()),
            sum(count.locked for count in self.functions.values()),
        )

    def each(self, name: str) -> tuple[float, float]:
        """Instructions and locked ones of a function, per unit of work."""
        count = self.functions.get(name, Count())
        return count.insns / self.work, count.locked / self.work


def parse(text: str, where: str) -> tuple[int, dict[str, Count]]:
    """The number of windows and the counts; LabError for a file cut short.

    Static functions of the same name are one.
    """
    lines = text.splitlines()
    functions: dict[str, Count] = {}
    try:
        word, number = lines[0].split()
        if word != "windows" or lines[-1] != "end":
            raise ValueError
        for line in lines[1:-1]:
            insns, locked, name = line.split(maxsplit=2)
            known = functions.get(name, Count())
            functions[name] = Count(
                known.insns + int(insns), known.locked + int(locked)
            )
        return int(number), functions
    except (ValueError, IndexError):
        raise LabError(
            "what the plugin wrote is not complete",
            where=where,
            hint="run it again; if that does not help, report it",
        ) from None


def render(of: Profile, vs: Profile | None, title: str, unit: str, top: int) -> str:
    """The table: a function a line, the most instructions first.

    With ``vs``, both modes and the difference, the largest difference first.
    """
    lines = [title, f"instructions executed and locked read-modify-writes per {unit}"]
    lines += ["", *_table(of, vs, top)]
    return plain("\n".join(lines))


def _table(of: Profile, vs: Profile | None, top: int) -> Iterator[str]:
    both = (of,) if vs is None else (of, vs)
    head = "".join(f"{p.mode:>{_INSNS + _LOCKED}}" for p in both)
    yield f"{'':{_NAME}}{head}"
    columns = f"{'insns':>{_INSNS}}{'locked':>{_LOCKED}}" * len(both)
    more = f"{'diff':>{_INSNS}}" if vs is not None else ""
    yield f"{'function':{_NAME}}{columns}{more}"

    total = [(p.total.insns / p.work, p.total.locked / p.work) for p in both]
    yield _line("total", total)
    if vs is not None and total[1][0]:
        shares = (ours / max(theirs, 1e-9) for ours, theirs in zip(*total, strict=True))
        yield _share(*shares)

    def weight(name: str) -> float:
        ours = of.each(name)[0]
        return ours if vs is None else abs(ours - vs.each(name)[0])

    names = {name for p in both for name in p.functions}
    ranked = sorted(names, key=lambda name: (-weight(name), name))
    # Rows that would be printed as 0.0 say nothing.
    shown = [name for name in ranked[:top] if weight(name) >= _LEAST]
    for name in shown:
        yield _line(name, [p.each(name) for p in both])
    rest = ranked[len(shown) :]
    if rest:
        sums = [
            (sum(p.each(n)[0] for n in rest), sum(p.each(n)[1] for n in rest))
            for p in both
        ]
        yield _line(f"{len(rest)} more", sums)


def _line(name: str, cells: list[tuple[float, float]]) -> str:
    numbers = "".join(f"{_cell(i, 1, _INSNS)}{_cell(k, 2, _LOCKED)}" for i, k in cells)
    if len(cells) == 2:
        numbers += _cell(cells[0][0] - cells[1][0], 1, _INSNS, "+")
    if len(name) < _NAME:
        return f"{name:{_NAME}}{numbers}"
    return f"{name[:WIDTH]}\n{'':{_NAME}}{numbers}"


def _cell(value: float, digits: int, width: int, sign: str = "") -> str:
    """In full where there is room, with a space before it."""
    for text in (f"{value:{sign},.{digits}f}", f"{value:{sign},.0f}"):
        if len(text) < width:
            return f"{text:>{width}}"
    return f"{value:{sign}.3g}".rjust(width)


def _share(insns: float, locked: float) -> str:
    return f"{'  ratio':{_NAME}}{insns:{_INSNS}.3f}{locked:{_LOCKED}.3f}"
