# SPDX-License-Identifier: GPL-2.0-only
"""Kernels side by side: each system's headline on several bases, with and without
Lull. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lull.ask.catalog import full_params
from lull.ask.job import STOCK
from lull.model import LULL, Arm, Clock, Feature, Headline, Row
from lull.report import stats
from lull.report.answer_text import LINES, WIDTH
from lull.report.compare import Run, values_of_row
from lull.report.table import plain, quantity, ratio, wrap

_MODES = (STOCK, LULL)


@dataclass(frozen=True)
class Kernel:
    """A base's runs, a clock each, and what is said of its features: why one is not
    there (``absent``), or what of it the kernel has by itself (``native``)."""

    base: str
    runs: tuple[Run, ...]
    absent: Mapping[str, str]
    native: Mapping[str, str]


@dataclass(frozen=True)
class Line:
    """A kernel in a mode; ``found`` is to the first base's stock, None for itself."""

    base: str
    mode: str
    unit: str
    median: float
    found: stats.Comparison | None


@dataclass(frozen=True)
class Block:
    """A headline on one clock, in the order of the bases."""

    feature: str
    headline: Headline
    clock: Clock
    lines: tuple[Line, ...]
    remarks: tuple[str, ...]


def blocks(kernels: Sequence[Kernel], features: Sequence[Feature]) -> tuple[Block, ...]:
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
    kernels: Sequence[Kernel], feature: Feature, headline: Headline, clock: Clock
) -> Iterator[Line]:
    if headline.clock not in (None, clock):
        return
    first: list[float] = []
    for kernel in kernels:
        run = next((r for r in kernel.runs if r.summary.clock is clock), None)
        rows = _rows(run, feature, headline) if run else {}
        for mode in _MODES:
            if run is None or mode not in rows:
                continue
            row = rows[mode]
            values = values_of_row(run, row, feature)
            if not first:
                if mode != STOCK:
                    return
                first = values
                yield Line(kernel.base, mode, row.unit, row.median, None)
            else:
                found = stats.compare_groups(values, first)
                if kernel is kernels[0]:  # of the same boots, which are pairs
                    found = stats.Comparison(row.ratio, row.ratio_ci95, row.p, "", None)
                yield Line(kernel.base, mode, row.unit, row.median, found)


def _rows(run: Run, feature: Feature, headline: Headline) -> dict[str, Row]:
    wanted = full_params(feature, headline.workload, headline.params)
    return {
        row.mode: row
        for row in run.summary.rows
        if (row.feature, row.workload) == (feature.name, headline.workload)
        and row.arm is Arm.LULL
        and row.metric == headline.metric
        and full_params(feature, row.workload, row.params) == wanted
    }


def _remarks(kernels: Sequence[Kernel], name: str) -> Iterator[str]:
    for kernel in kernels:
        if why := kernel.absent.get(name):
            yield f"not on {kernel.base}: {why}"
        elif text := kernel.native.get(name):
            yield f"in {kernel.base} itself: {text}"


def render(
    kernels: Sequence[Kernel],
    features: Sequence[Feature],
    folders: Sequence[str],
    following: Sequence[str],
) -> str:
    """The text: at most 40 lines of at most 80 columns, but for long names of folders.

    ``following`` are the commands that say more. Where there is too much to say,
    remarks go first, then empty lines, then systems, which are counted.
    """
    found = blocks(kernels, features)
    head = list(_head(kernels))
    foot = [
        "Whole tables (table.txt), and every sample:",
        *(f"  {folder}" for folder in folders),
        "Next, which differences are the kernel's:",
        *(f"  {command}" for command in following),
    ]
    room = LINES - len(head) - len(foot) - 1
    parts: list[list[str]] = []
    for gap, remarks in ((1, True), (1, False), (0, False)):
        parts = [[""] * gap + list(_block(block, remarks)) for block in found]
        if sum(map(len, parts)) <= room:
            break
    rest: list[str] = []
    while parts and sum(map(len, parts)) + len(rest) > room:
        parts.pop()
        rest = [f"and {len(found) - len(parts)} more: see the tables"]
    body = [line for part in parts for line in part]
    if not found:
        body = ["", "Nothing was measured on two of them."]
    return plain("\n".join([*head, *body, *rest, "", *foot]))


def _head(kernels: Sequence[Kernel]) -> Iterator[str]:
    runs = [run for kernel in kernels for run in kernel.runs]
    names = dict.fromkeys(run.summary.kernel for run in runs)
    text = f"Linux {' and '.join(names)}, each as it is (stock) and with Lull: medians,"
    text += f" and the ratio to stock {kernels[0].base} with its 95% interval; ~: no"
    text += " difference shown."
    yield from wrap(text, width=WIDTH)


def _block(block: Block, remarks: bool) -> Iterator[str]:
    title = f"{block.feature}: {block.headline.text} ({block.clock})"
    yield from wrap(title, "", "  ", width=WIDTH)
    for line in block.lines:
        name = f"{line.base} {line.mode}"
        yield f"  {name:12} {quantity(line.median, line.unit):>9}  {_against(line)}"
    for text in block.remarks if remarks else ():
        yield from wrap(text, "  ", "    ", width=WIDTH)


def _against(line: Line) -> str:
    found = line.found
    if found is None:
        return ""
    interval = found.ci95
    span = f"[{ratio(interval[0])}, {ratio(interval[1])}]" if interval else "-"
    mark = "" if found.significant else " ~"
    return f"{ratio(found.ratio):>7} {span}{mark}"
