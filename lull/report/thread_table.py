# SPDX-License-Identifier: GPL-2.0-only
"""The layout in which the thread on freezing and zombies printed its figures.

It has, for each of ten rounds of 3,000 more zombies, the seconds of the two
lines that the kernel prints; here the modes stand side by side, with the
averages below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lull.model import Arm, Feature, Sample
from lull.report.stats import median
from lull.report.table import THREAD_TABLE, plain, wrap

USER = "freezer_user"
KERNEL = "freezer_kernel"
SIZE = "zombies"
_NS = 1e9
_CELL = 13  #: "0.0101 0.0083"

#: Medians over the boots of user and kernel phase, in seconds.
Pair = tuple[float, float]


@dataclass(frozen=True)
class Round:
    """One line: the number of zombies, and a pair for each mode."""

    zombies: int
    cells: dict[str, Pair]


def rounds(samples: Iterable[Sample]) -> tuple[Round, ...]:
    """The rounds in the samples, by ascending number of zombies.

    Takes the samples of the workload ``thread-table``, or of ``zombies``
    where there are none; metrics are in ns. Empty where nothing fits.
    """
    groups: defaultdict[str, defaultdict[int, defaultdict[str, list[Sample]]]]
    groups = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for sample in samples:
        size = sample.metrics.get(SIZE, sample.params.get(SIZE))
        if (
            sample.arm is Arm.LULL
            and isinstance(size, int | float)
            and {USER, KERNEL} <= sample.metrics.keys()
        ):
            groups[sample.workload][int(size)][sample.mode].append(sample)
    sizes = groups[THREAD_TABLE] or groups[SIZE]
    return tuple(
        Round(size, {mode: _pair(found) for mode, found in modes.items()})
        for size, modes in sorted(sizes.items())
    )


def averages(table: Sequence[Round]) -> dict[str, Pair]:
    """The means over the rounds that a mode is in, in seconds."""
    modes = dict.fromkeys(mode for line in table for mode in line.cells)
    found = {}
    for mode in modes:
        pairs = [line.cells[mode] for line in table if mode in line.cells]
        user, kernel = (sum(p[i] for p in pairs) / len(pairs) for i in (0, 1))
        found[mode] = (user, kernel)
    return found


def render(table: Sequence[Round], feature: Feature) -> str:
    """Plain ASCII of at most 75 columns; empty for no rounds."""
    if not table:
        return ""
    mean = averages(table)
    modes = [mode for mode in feature.modes if mode.name in mean]
    heads = [f"{m.name}{'!' * bool(m.unsafe)}".center(_CELL).rstrip() for m in modes]
    lines = [
        "Freezing user space processes, freezing remaining freezable tasks:",
        "elapsed seconds, median of the boots",
        "",
        _line("round", SIZE, heads),
        _line("", "", [f"{'user':>6} {'kernel':>6}"] * len(modes)),
    ]
    for number, line in enumerate(table, 1):
        cells = [_cell(line.cells.get(mode.name)) for mode in modes]
        lines.append(_line(str(number), str(line.zombies), cells))
    lines.append(_line("average", "", [_cell(mean[mode.name]) for mode in modes]))
    stock = mean.get("stock")
    if stock and all(stock):
        ratios = [
            f"{mean[mode.name][0] / stock[0]:6.3f} {mean[mode.name][1] / stock[1]:6.3f}"
            for mode in modes
        ]
        lines.append(_line("of stock", "", ratios))
    for mode in modes:
        if mode.unsafe:
            lines += wrap(f"{mode.name} is unsafe: {mode.unsafe}", "! ", "  ")
    return plain("\n".join(lines))


def _pair(samples: Sequence[Sample]) -> Pair:
    user, kernel = (
        median([s.metrics[name] for s in samples]) for name in (USER, KERNEL)
    )
    return user / _NS, kernel / _NS


def _cell(pair: Pair | None) -> str:
    return " ".join(f"{x:6.4f}" for x in pair) if pair else f"{'-':>6} {'-':>6}"


def _line(number: str, size: str, cells: Sequence[str]) -> str:
    return " ".join([f"{number:8} {size:>7}", *(f"{cell:<{_CELL}}" for cell in cells)])
