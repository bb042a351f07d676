# SPDX-License-Identifier: GPL-2.0-only
"""The table: a summary as plain ASCII of at most 75 columns, for a mail."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from lull.model import Arm, Clock, Feature, Mode, Promise, Row, Summary
from lull.report import stats
from lull.report.clocks import ASLEEP, INSN
from lull.report.stats import ALPHA, MIN_EACH, Interval
from lull.report.summary import case_name, shown

WIDTH = 75
LABEL = 18  #: the widest name of a metric that gets its cells beside it
MODES = 4  #: columns side by side; more modes are continued below
THREAD_TABLE = "thread-table"  #: has a layout of its own

_TIME = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_NOTES = {
    Clock.INSN: (
        f"insn: times are {INSN}: {ASLEEP}. They do"
        " not see cache misses, nor real parallelism (vCPUs take turns in long"
        " slices): contended and tail figures have to come from wall."
    ),
    Clock.WALL: "wall: time as the guest sees it, with the noise of its host.",
}
_EMULATED = (
    "Under tcg the guest is emulated, and its vCPUs take turns, but where a case"
    " is parallel: trust the ratios, not the times, and look for real"
    " parallelism under kvm."
)

#: A value and what stands behind it where there is room, else below it.
Cell = tuple[str, str]


def render(summary: Summary, features: Iterable[Feature]) -> str:
    """The table of a run; ends in a newline.

    A cell is a median with its 95% interval as +- of the wider side; below
    it the ratio to stock, likewise. Rows of features not given are left out,
    and so is the workload with a layout of its own (lull.report.thread_table).
    """
    chosen = tuple(features)
    lines = list(_head(summary))
    for feature in chosen:
        if any(_in_table(row, feature) for row in summary.rows):
            lines += ["", *_feature(summary, feature)]
    for name, why in summary.absent.items():
        lines += ["", *wrap(f"{name}: not on this base: {why}", "", "  ")]
    if summary.expectations:
        lines += ["", "Expectations, as ratios of medians"]
        for promise in summary.expectations:
            lines += _expectation(promise)
    lines += ["", *_notes(summary, chosen)]
    return plain("\n".join(lines))


def plain(text: str) -> str:
    """``text`` in printable ASCII, without trailing blanks and with one
    newline at the end. What that lacks becomes a question mark."""
    lines = text.replace("\t", " ").split("\n")
    shown = [re.sub(r"[^ -~]", "?", line).rstrip() for line in lines]
    return "\n".join(shown).rstrip() + "\n"


def wrap(
    text: str, first: str = "", rest: str = "", *, width: int = WIDTH
) -> list[str]:
    """``text`` in lines of at most ``width``, with what they start with."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def number(value: float) -> str:
    """Three significant digits, ``k``, ``M``, ... from 1000 on."""
    if not math.isfinite(value):
        return "-"
    if value == int(value) and abs(value) < 1000:
        return str(int(value))
    return _scaled(value, ("", "k", "M", "G", "T", "P"))


def quantity(value: float, unit: str) -> str:
    """A median as it is printed: times in the unit that suits, else a number.

    Other units are not printed with it: they stand beside the metric's name.
    """
    if unit not in _TIME:
        return number(value)
    if value == 0:
        return "0s"
    return _scaled(value * _TIME[unit], ("ns", "us", "ms", "s"))


def ratio(value: float | None) -> str:
    """A ratio to three significant digits; ``-`` where there is none."""
    if value is None:
        return "-"
    return number(value) if value >= 1000 else _digits(value)


def cell(value: float | None, interval: Interval | None, p: float | None) -> str:
    """``0.348 +-0.3%``, with `` ~`` where no difference is shown."""
    if value is None:
        return "-"
    mark = "" if stats.shown(p, interval) else " ~"
    return f"{ratio(value)} {spread(value, interval)}".rstrip() + mark


def spread(middle: float, interval: Interval | None) -> str:
    """``+-3%``: the wider side of the interval, rounded up; may be empty."""
    if interval is None:
        return ""
    side = max(middle - interval[0], interval[1] - middle)
    if side == 0:
        return "+-0%"
    percent = 100 * abs(side / middle) if middle else math.inf
    # A share of nothing, or of next to nothing, says less than the side itself.
    if not math.isfinite(percent):
        return f"+-{number(side)}"
    # 1e-9: 2% must not become 3% by the last bit of a division.
    if percent < 1:
        return f"+-{math.ceil(percent * 10 - 1e-9) / 10:g}%"
    if percent < 1000:
        return f"+-{math.ceil(percent - 1e-9)}%"
    return "+-10x" if percent < 1001 else f"+-{number(math.ceil(percent / 100))}x"


def _digits(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "-"
    if abs(value) < 0.0001:
        return f"{value:.0e}"
    # The exponent after rounding to three digits: 0.9996 is 1.00.
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{value:.{max(0, 2 - exponent)}f}"


def _scaled(value: float, units: Sequence[str]) -> str:
    for unit in units[:-1]:
        if abs(value) < 999.5:  # 999.6 would be printed as 1000
            return _digits(value) + unit
        value /= 1000
    return (_digits(value) if abs(value) < 1e5 else f"{value:.2e}") + units[-1]


def _head(summary: Summary) -> Iterator[str]:
    counts = sorted({row.n for row in summary.rows if row.arm is Arm.LULL})
    what = "seeds" if summary.clock is Clock.INSN else "blocks of rounds"
    n = "-".join(str(count) for count in dict.fromkeys(counts[:1] + counts[-1:]))
    yield from wrap(
        f"Linux {summary.kernel}, base {summary.base}, clock {summary.clock},"
        f" accel {summary.accel}, {summary.cpus} CPUs, n = {n or 0} {what}"
    )
    yield "Cells: median, +- its 95% interval; below, the ratio to stock,"
    yield f"+- its 95% interval, and ~ where no difference is shown (p >= {ALPHA}, or"
    yield "an interval with 1 in it)."


def _in_table(row: Row, feature: Feature) -> bool:
    return row.feature == feature.name and row.workload != THREAD_TABLE


def _feature(summary: Summary, feature: Feature) -> Iterator[str]:
    yield from wrap(f"{feature.name}: {feature.title}")
    if native := summary.native.get(feature.name):
        yield from wrap(f"in this kernel: {native}", "  ", "    ")
    rows = [row for row in summary.rows if _in_table(row, feature)]
    cases = {case_name(row.workload, row.params): None for row in rows}
    for case in cases:
        members = [r for r in rows if case_name(r.workload, r.params) == case]
        yield ""
        yield from wrap(case, "", "  ")
        yield from _case(feature, [row for row in members if row.arm is Arm.LULL])
    control = [row for row in rows if row.arm is Arm.STOCK and row.ratio]
    if control:
        yield ""
        yield "A/A control: mode stock to the untouched kernel, same seeds or boots"
        for row in control:
            yield from wrap(aa_control(row), "  ", "      ")


def aa_control(row: Row) -> str:
    """A row of the A/A control: mode stock to the untouched kernel.

    The row is untouched kernel to mode stock; here it is read the other way round:
    what does it cost to have it compiled in?
    """
    name = f"{case_name(row.workload, row.params)} {row.metric}:"
    value = f"{1 / row.ratio:.4f}" if row.ratio else "-"
    if row.ratio_ci95 and row.ratio_ci95[0] > 0:
        low, high = 1 / row.ratio_ci95[1], 1 / row.ratio_ci95[0]
        value += f" [{low:.4f}, {high:.4f}]"
        if not low <= 1 <= high:
            value += " excludes 1"
    return f"{name} {value} {_shown(row)} (n={row.n})"


def _shown(row: Row) -> str:
    return "" if shown(row) else "~"


def _case(feature: Feature, rows: Sequence[Row]) -> Iterator[str]:
    modes = [mode for mode in feature.modes if any(r.mode == mode.name for r in rows)]
    names = [name for row in rows for name in (row.metric, _second(row.unit))]
    label = min(LABEL, max(map(len, names), default=0))
    for start in range(0, len(modes), MODES):
        yield from _columns(rows, modes[start : start + MODES], label)
    weak: dict[str, list[str]] = {}
    for row in rows:
        if row.needs is not None:
            text = f"{row.mode} {number(row.needs)} (has {row.n})"
            weak.setdefault(row.metric, []).append(text)
    if weak:
        parts = [f"{name} {', '.join(texts)}" for name, texts in weak.items()]
        yield from wrap(f"underpowered: needs about: {'; '.join(parts)}", "~ ", "  ")


def _second(unit: str) -> str:
    return "  ratio" if unit in _TIME else f"  ({unit})"


def _columns(rows: Sequence[Row], modes: Sequence[Mode], label: int) -> Iterator[str]:
    room = (WIDTH - label) // len(modes) - 1
    lines: list[tuple[str, list[Cell]]] = []
    for metric in dict.fromkeys(row.metric for row in rows):
        found = {row.mode: row for row in rows if row.metric == metric}
        unit = next(iter(found.values())).unit
        lines.append((metric, [_median(found.get(mode.name)) for mode in modes]))
        ratios = [_ratio(found.get(mode.name)) for mode in modes]
        if unit not in _TIME or any(value for value, _ in ratios):
            lines.append((_second(unit), ratios))
    names = [mode.name + "!" * bool(mode.unsafe) for mode in modes]
    columns = [
        _column(name, [cells[i] for _, cells in lines], room)
        for i, name in enumerate(names)
    ]
    yield from _line("", [column[0] for column in columns], label)
    for i, (name, _) in enumerate(lines, 1):
        yield from _line(name, [column[i] for column in columns], label)


def _column(head: str, cells: Sequence[Cell], room: int) -> list[tuple[str, ...]]:
    """A column as texts of one width, one or two lines a cell.

    What stands behind the values is lined up too where there is room for it,
    and goes below the values where there is not.
    """
    left = max(len(value) for value, _ in cells)
    right = max(len(behind) for _, behind in cells)
    texts: list[tuple[str, ...]]
    if left + 1 + right <= room:
        texts = [(f"{value:>{left}} {behind:<{right}}",) for value, behind in cells]
    else:
        texts = [(value, behind) if behind else (value,) for value, behind in cells]
    width = max(len(head), *(len(part) for text in texts for part in text))
    return [(f"{head:>{width}}",), *(tuple(f"{t:>{width}}" for t in x) for x in texts)]


def _median(row: Row | None) -> Cell:
    if row is None:
        return "-", ""
    return quantity(row.median, row.unit), spread(row.median, row.ci95)


def _ratio(row: Row | None) -> Cell:
    if row is None or row.ratio is None:
        return "", ""
    behind = (spread(row.ratio, row.ratio_ci95), _shown(row))
    return ratio(row.ratio), " ".join(part for part in behind if part)


def _line(name: str, cells: Sequence[tuple[str, ...]], label: int) -> Iterator[str]:
    if len(name) > label:
        yield name[:WIDTH]
        name = ""
    for i in range(max(map(len, cells))):
        parts = [cell[i] if i < len(cell) else " " * len(cell[0]) for cell in cells]
        yield " ".join([f"{'' if i else name:<{label}}", *parts])


def _expectation(promise: Promise) -> Iterator[str]:
    word = "ok" if promise.ok else "unkept" if promise.unkept else "MISSED"
    yield from wrap(promise.text, f"  {word:8}", " " * 10)
    if promise.measured is not None:
        text = f"measured {promise.measured:.4g}"
        if promise.aim is not None:
            reached = "" if promise.measured <= promise.aim else "not "
            text += f"; aim {promise.aim:g} {reached}reached"
        yield f"{'':10}{text}"
    if promise.unkept:
        yield from wrap(f"known: {promise.unkept}", " " * 10, " " * 10)


def _notes(summary: Summary, features: Iterable[Feature]) -> Iterator[str]:
    for feature in features:
        rows = [row for row in summary.rows if _in_table(row, feature)]
        for mode in feature.modes:
            if mode.unsafe and any(row.mode == mode.name for row in rows):
                text = f"{feature.name} {mode.name} is unsafe: {mode.unsafe}"
                yield from wrap(text, "! ", "  ")
    if any(1 <= row.n < MIN_EACH for row in summary.rows if row.arm is Arm.LULL):
        text = f"with n below {MIN_EACH} no test can give p < {ALPHA}: all are ~"
        yield from wrap(text, "~ ", "  ")
    yield from wrap(_NOTES[summary.clock])
    if summary.clock is Clock.WALL and summary.accel == "tcg":
        yield from wrap(_EMULATED)
