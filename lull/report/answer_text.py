# SPDX-License-Identifier: GPL-2.0-only
"""The answer as text: at most 40 lines of at most 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

from lull.model import Clock
from lull.report.answer import NOTHING_LEFT, Answer, Block, OnClock, Verdict
from lull.report.clocks import INSN_ALIKE
from lull.report.table import plain, quantity, ratio, wrap

LINES = 40
WIDTH = 80
_BROKEN = 2  #: lines that a feature's broken promises may take
_HEADS = ("", "stock", "lull", "ratio", "its 95% interval")

_CLOCKS = {
    Clock.INSN: f"insn: {INSN_ALIKE}",
    Clock.WALL: "wall: time, with the noise of this machine",
}


def render(
    found: Answer,
    folders: Sequence[str] = (),
    *,
    program: str = "lull",
    most: int = LINES,
) -> str:
    """The text, in printable ASCII, of at most ``most`` lines; ends in a newline.

    ``folders`` are where the tables are, ``program`` how the user calls it. No
    line is longer than 80, but for a folder with so long a name. Where there is
    too much to say, empty lines go first, then second headlines, then what a kernel
    has itself, then systems, which are counted.
    """
    measured = [m for b in found.blocks for e in b.entries for m in e.measured]
    columns = list(zip(_HEADS, *map(_cells, measured), strict=True))
    widths = tuple(max(map(len, column)) for column in columns)
    head = [*_head(found), *([_line(_HEADS, widths)] if measured else [])]
    foot = list(_foot(found, folders, program))
    tries = (
        [
            [""] * gap + part
            for part in (
                *(
                    [*_block_lines(block, entries, widths), *_native(block) * native]
                    for block in found.blocks
                ),
                *_absent(found),
            )
        ]
        for gap, entries, native in ((1, 2, 1), (0, 2, 1), (0, 1, 1), (0, 1, 0))
    )

    def left(kept: int) -> str:
        cut = found.blocks[kept:]
        broken = sum(bool(block.broken) for block in cut)
        unkept = sum(any(v.unkept for v in block.verdicts) for block in cut)
        more = f", of {broken} a promise is BROKEN" if broken else ""
        more += f", of {unkept} one is not kept, as known" if unkept else ""
        return f"and {len(cut)} more{more}: see the tables"

    body = fitted(tries, most - len(head) - len(foot) - 1, left)
    return plain("\n".join([*head, *body, "", *foot]))


def fitted(
    tries: Iterable[list[list[str]]], room: int, left: Callable[[int], str]
) -> list[str]:
    """The lines of the first try whose parts fit; of the last one as many parts as
    do, and a line, ``left`` of how many that are, that stands for the others."""
    parts: list[list[str]] = []
    for parts in tries:
        if sum(map(len, parts)) <= room:
            break
    rest: list[str] = []
    while parts and sum(map(len, parts)) + len(rest) > room:
        parts.pop()
        rest = [left(len(parts))]
    return [*(line for part in parts for line in part), *rest]


def _head(found: Answer) -> Iterator[str]:
    for first in found.machines[:1]:
        compared = (
            "as it is (stock) and with Lull: medians, and the ratio of Lull to stock."
            if found.lull
            else "as it is: the mode lull was not measured."
        )
        yield from _wrapped(f"Linux {first.kernel} on {first.cpus} CPUs, {compared}")
    for machine in found.machines:
        under = "" if machine.clock is Clock.INSN else f", under {machine.accel}"
        yield from _wrapped(f"{_CLOCKS[machine.clock]}{under}", "  ", "        ")


def _foot(found: Answer, folders: Sequence[str], program: str) -> Iterator[str]:
    parts = [
        f"on {c.clock} {c.cases} of {c.of_cases} cases with {c.seeds} of"
        f" {c.of_seeds} seeds"
        for c in found.coverage
        if not c.whole
    ]
    if parts:
        yield from _wrapped(
            f"Measured: {', '.join(parts)}. All cases of a system:"
            f" {program} {found.run} NAME"
        )
    if found.controls:
        yield from _wrapped(
            "Not run: the A/A control, stock against a kernel without Lull. To run it:"
        )
        for command in found.controls:
            yield from _command(command, program)
    if folders:
        yield "Whole tables (table.txt), and every sample:"
        yield from (f"  {folder}" for folder in folders)
    yield from _wrapped(f"Next, {found.purpose}:")
    yield from _command(found.following, program)


def _block_lines(block: Block, entries: int, widths: Sequence[int]) -> Iterator[str]:
    """What a clock's promises came to is said on its last line."""
    lines: list[tuple[Clock | None, str, str]] = []
    if not block.entries:
        lines.append((None, f"{block.feature}: {block.title}", ""))
        lines.append((None, "  not what this page tells of: see the tables", ""))
    for entry in block.entries[:entries]:
        lines.append((None, f"{block.feature}: {entry.headline.text}", ""))
        for m in entry.measured:
            remark = "" if m.shown else "no difference shown"
            # Whether or not the little that there is can be shown.
            remark = NOTHING_LEFT if m.nothing_left else remark
            lines.append((m.clock, _line(_cells(m), widths), remark))
    seen = {clock for clock, _, _ in lines}
    for verdict in block.verdicts:
        if verdict.clock not in seen and verdict.checked:
            lines.append((verdict.clock, f"  {verdict.clock}", ""))
    verdicts = {verdict.clock: verdict for verdict in block.verdicts}
    for i, (clock, text, remark) in enumerate(lines):
        last = clock not in {other for other, _, _ in lines[i + 1 :]}
        told = list(_verdict(verdicts[clock])) if clock and last else []
        yield from _remarked(text, [*filter(None, [remark, *told[:1]])])
        yield from told[1:]


def _native(block: Block) -> list[str]:
    text = f"in this kernel: {block.native}"
    return _wrapped(text, "  ", "    ") if block.native else []


def _absent(found: Answer) -> Iterator[list[str]]:
    for name, why in found.absent.items():
        yield _wrapped(f"{name}: not on this base: {why}", "", "  ")


def _remarked(text: str, remarks: Sequence[str]) -> list[str]:
    line = f"{text}  {', '.join(remarks)}".rstrip()
    if len(line) > WIDTH:
        first = _wrapped(f"{text}  {''.join(remarks[:1])}".rstrip(), "", " " * 8)
        return [*first, *(f"{'':8}{word}" for word in remarks[1:])]
    return [line]


def _verdict(verdict: Verdict) -> Iterator[str]:
    """The words for the clock's line, and lines of their own below it."""
    if not verdict.checked:
        yield "no promise was checked"
    elif not verdict.broken and not verdict.unkept:
        yield "promise holds"
    else:
        bad = verdict.broken or verdict.unkept
        yield "promise BROKEN:" if verdict.broken else "promise not kept, as known:"
        first, *others = bad
        text = first.text
        if first.measured is not None:
            text += f" (measured {first.measured:.4g})"
        if others or not verdict.broken:
            text = f"{len(bad)} of {verdict.checked}: {text}"
        text += ", ..." if others else ""
        lines = _wrapped(text, " " * 8, " " * 8)
        if len(lines) > _BROKEN:
            lines = [*lines[: _BROKEN - 1], f"{lines[_BROKEN - 1][: WIDTH - 4]} ..."]
        yield from lines


def _cells(measured: OnClock) -> tuple[str, ...]:
    values = (_quantity(v, measured.unit) for v in (measured.stock, measured.lull))
    return (
        str(measured.clock),
        *values,
        ratio(measured.ratio),
        interval(measured.ratio_ci95),
    )


def interval(of: tuple[float, float] | None) -> str:
    """``[0.0494, 0.0500]``; ``-`` where there is none."""
    return f"[{ratio(of[0])}, {ratio(of[1])}]" if of else "-"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    clock, stock, lull, times, span = (
        cell.ljust(width) if i in (0, 4) else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"  {clock}  {stock}  {lull}  {times} {span}"


def _quantity(value: float, unit: str) -> str:
    text = quantity(value, unit)
    return text if text.endswith("s") and unit == "ns" else f"{text} {unit}"


def _command(command: str, program: str) -> Iterator[str]:
    """A command as it is typed; a long one goes on after a backslash."""
    words = f"{program} {command.removeprefix('lull ')}"
    lines = textwrap.wrap(
        words,
        WIDTH - 2,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for i, line in enumerate(lines, 1):
        yield line + " \\" * (i < len(lines))


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return wrap(text, first, rest, width=WIDTH)
