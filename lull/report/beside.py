# SPDX-License-Identifier: GPL-2.0-only
"""Kernels side by side: each system's headline on several bases, with and without
Lull. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lull.ask.job import STOCK
from lull.model import LULL, Clock, Feature, Headline
from lull.report import stats
from lull.report.answer import has_part, near_stock, rows_of
from lull.report.answer_text import LINES, WIDTH, fitted, interval
from lull.report.compare import Run, values_of_row
from lull.report.table import plain, quantity, ratio, wrap

_MODES = (STOCK, LULL)


@dataclass(frozen=True)
class BaseRuns:
    """A base's runs, a clock each, and what is said of its features: why one is not
    there (``absent``), or what of it the kernel has by itself (``native``)."""

    base: str
    runs: tuple[Run, ...]
    absent: Mapping[str, str]
    native: Mapping[str, str]


@dataclass(frozen=True)
class Line:
    """A kernel in a mode; ``found`` is to the stock of the first base that has the
    feature, None for itself; ``note`` is what the kernel's own part in it does to the
    figure."""

    base: str
    mode: str
    unit: str
    median: float
    found: stats.Comparison | None
    note: str = ""


@dataclass(frozen=True)
class Block:
    """A headline on one clock, in the order of the bases."""

    feature: str
    headline: Headline
    clock: Clock
    lines: tuple[Line, ...]
    remarks: tuple[str, ...]


def blocks(
    kernels: Sequence[BaseRuns], features: Sequence[Feature]
) -> tuple[Block, ...]:
    """What is there to say, and nothing of what was not measured on two bases."""
    clocks = dict.fromkeys(run.summary.clock for k in kernels for run in k.runs)
    found = []
    for feature in features:
        for clock in clocks:
            for headline in feature.headlines:
                lines = tuple(_lines(kernels, feature, headline, clock))
                if len({line.base for line in lines}) < 2:
                    continue
                remarks = tuple(_remarks(kernels, feature.name))
                found.append(Block(feature.name, headline, clock, lines, remarks))
                # The others are in the tables.
                break
    return tuple(found)


def _lines(
    kernels: Sequence[BaseRuns], feature: Feature, headline: Headline, clock: Clock
) -> Iterator[Line]:
    first: list[float] = []
    reference = ""
    for kernel in kernels:
        run = next((r for r in kernel.runs if r.summary.clock is clock), None)
        rows = rows_of(feature, headline, run.summary) if run else {}
        for mode in _MODES:
            if run is None or mode not in rows:
                continue
            row = rows[mode]
            values = values_of_row(run, row, feature)
            found: stats.Comparison | None = None
            if not reference and mode == STOCK:
                first, reference = values, kernel.base
            elif kernel.base == reference:  # of the same boots, which are pairs
                found = stats.Comparison(row.ratio, row.ratio_ci95, row.p, "", None)
            elif first:
                found = stats.compare_groups(values, first)
            else:
                continue
            has = has_part(kernel.native.get(feature.name, ""))
            note = _note(mode, row.ratio_ci95) if has else ""
            yield Line(kernel.base, mode, row.unit, row.median, found, note)


def _note(mode: str, own: tuple[float, float] | None) -> str:
    """Of a kernel that has a part of it itself; ``own`` is the interval of the ratio to
    its own stock."""
    if mode == STOCK:
        return "*"
    return "as its stock" if near_stock(own) else ""


def _remarks(kernels: Sequence[BaseRuns], name: str) -> Iterator[str]:
    for kernel in kernels:
        if why := kernel.absent.get(name):
            yield f"not on {kernel.base}: {why}"
        elif text := kernel.native.get(name):
            yield f"in {kernel.base} itself: {text}"


def render(
    found: Sequence[Block],
    kernels: Sequence[BaseRuns],
    features: Sequence[Feature],
    folders: Sequence[str],
    following: Sequence[str],
    most: int | None = LINES,
    whole: str = "",
) -> str:
    """The text of ``blocks``: at most ``most`` lines of at most 80 columns, but for
    long names of folders.

    ``following`` are the commands that say more, ``whole`` is the file that has all of
    it. Where there is too much to say, empty lines go first, then remarks, then
    systems, which are counted.
    """
    head = list(_head(kernels, found))
    foot = [
        "Whole tables (table.txt), pages (report.html), and every sample:",
        *(f"  {folder}" for folder in folders),
        "Next, which differences are the kernel's:",
        *(f"  {command}" for command in following),
    ]
    told = {block.feature for block in found}
    gone = [
        f"{feature.name}: not on {kernel.base}: {kernel.absent[feature.name]}"
        for feature in features
        for kernel in kernels
        if feature.name in kernel.absent and feature.name not in told
    ]
    tries = (
        [
            *(
                [""] * gap + list(_block(block, kernels[0].base, remarks))
                for block in found
            ),
            *([""] * gap + wrap(text, "", "  ", width=WIDTH) for text in gone),
        ]
        for gap, remarks in ((1, True), (0, True), (0, False))
    )
    place = whole or "see the tables"
    body = fitted(
        tries,
        sys.maxsize if most is None else most - len(head) - len(foot) - 1,
        lambda kept: f"and {len(found) + len(gone) - kept} more: {place}",
    )
    if not (found or gone):
        body = ["", "Nothing was measured on two of them."]
    return plain("\n".join([*head, *body, "", *foot]))


def _head(kernels: Sequence[BaseRuns], found: Sequence[Block]) -> Iterator[str]:
    runs = [run for kernel in kernels for run in kernel.runs]
    names = dict.fromkeys(run.summary.kernel for run in runs)
    text = f"Linux {' and '.join(names)}, each as it is (stock) and with Lull: medians,"
    text += f" and the ratio to stock {kernels[0].base} with its 95% interval; ~: no"
    text += " difference shown."
    if any(line.note == "*" for block in found for line in block.lines):
        text += " *: with what that kernel has of it itself (lull list --base)."
    yield from wrap(text, width=WIDTH)


def _block(block: Block, first: str, remarks: bool) -> Iterator[str]:
    base = block.lines[0].base
    to = "" if base == first else f", to stock {base}"
    title = f"{block.feature}: {block.headline.text} ({block.clock}{to})"
    yield from wrap(title, "", "  ", width=WIDTH)
    for line in block.lines:
        name = f"{line.base} {line.mode}"
        yield f"  {name:12} {quantity(line.median, line.unit):>9}  {_against(line)}"
    for text in block.remarks if remarks else ():
        yield from wrap(text, "  ", "    ", width=WIDTH)


def _against(line: Line) -> str:
    found, text = line.found, ""
    if found is not None:
        mark = "" if found.significant else " ~"
        text = f"{ratio(found.ratio):>7} {interval(found.ci95)}{mark}"
    return f"{text:<27} {line.note}" if line.note else text
