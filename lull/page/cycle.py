# SPDX-License-Identifier: GPL-2.0-only
"""A recorded suspend as a timeline, with the critical path of its longest phase."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Sequence

from lull.graph.analysis import Analysis
from lull.graph.path import CriticalRun, Hop
from lull.graph.perfetto import to_json
from lull.graph.text import groups
from lull.model import Clock
from lull.page import charts
from lull.page.bars import Bar, bars
from lull.page.model import Figure, Key, Link, Recorded, Table
from lull.page.phrases import clean
from lull.report.table import quantity

#: Steps of the path that are drawn; the table has all of them.
DRAWN = 16
_WIDTH = 760
_LEFT = 190
_NS = 1e9


def recorded(found: Analysis, mode: str, clock: Clock, name: str) -> Recorded:
    """The pictures of a cycle in a mode, and the whole of it for a viewer."""
    (longest,) = found.longest()
    path = found.paths[longest]
    whole = sum(span.ms for span in found.cycle.spans.values())
    caveats = "; ".join(str(caveat) for caveat in found.caveats[:3])
    text = (
        f"{_time(whole)} in the phases of devices; the longest is {longest}, of which"
        f" the critical path has {_time(path.callbacks_s * 1e3)} in callbacks"
    )
    return Recorded(
        id=name,
        title=clean(f"mode {mode}"),
        text=clean(f"{text}. {caveats}" if caveats else text, 400),
        figure=_timeline(found, mode, clock, f"{name}-t"),
        path=_path(found, path, mode, clock, f"{name}-p"),
        link=_perfetto(found, mode),
    )


def _time(ms: float) -> str:
    return quantity(ms * 1e6, "ns")


def _timeline(found: Analysis, mode: str, clock: Clock, name: str) -> Figure:
    steps = sorted(found.cycle.steps, key=lambda span: span.start_s)
    zero = steps[0].start_s if steps else 0.0
    long = max((span.ms for span in steps), default=0.0) / 1000
    boxes = [
        Bar(
            span.action,
            (span.start_s - zero) * _NS,
            (span.end_s - zero) * _NS,
            charts.colour(1 if span.action.startswith("dpm_") else 0),
        )
        for span in steps
        if span.ms > long
    ]
    rows = [
        (clean(span.action), f"{(span.start_s - zero) * 1e3:.3f}", f"{span.ms:.3f}")
        for span in steps
    ]
    return Figure(
        id=name,
        title="From the first step to the last",
        about=clean(f"Timeline of the steps of a suspend and resume, mode {mode}"),
        clock=clock,
        svg=bars(boxes, "ns", width=_WIDTH, left=_LEFT, step=20),
        table=Table(
            ("step", "begins, ms", "takes, ms"), tuple(rows), frozenset((1, 2))
        ),
        keys=(Key(1, "devices"), Key(0, "other steps")),
        wide=True,
    )


def _path(
    found: Analysis, path: CriticalRun, mode: str, clock: Clock, name: str
) -> Figure:
    waits = found.waits[path.phase]
    lines = [_line(group, path) for group in groups(path)]
    keep = sorted(lines, key=lambda line: line[1] - line[2], reverse=True)[:DRAWN]
    drawn: list[Bar] = []
    for label, end, start, gap, group in lines:
        if (label, end, start, gap, group) not in keep:
            continue
        main = waits.in_main(group[0].name)
        if gap > 0:
            drawn.append(Bar(label, start - gap, start, "var(--line)"))
        drawn.append(Bar(label, start, end, charts.colour(2 if main else 1)))
    rows = tuple(_rows(path))
    return Figure(
        id=name,
        title=f"Critical path of {path.phase}, {_time(path.span.ms)}",
        about=clean(f"Timeline of the critical path of {path.phase}, mode {mode}"),
        clock=clock,
        svg=bars(drawn, "ns", width=_WIDTH, left=_LEFT, step=20),
        table=Table(
            ("device", "ms", "of the phase", "why then", "after", "ms before it"),
            rows,
            frozenset((1, 2, 5)),
        ),
        note="each waited for the one above it",
        keys=(Key(1, "worker"), Key(2, "main thread")),
        wide=True,
    )


_Line = tuple[str, float, float, float, list[Hop]]


def _line(group: list[Hop], path: CriticalRun) -> _Line:
    """Label, end, start and gap before it, in ns of the phase."""
    zero = path.span.start_s
    start = (group[0].call.start_s - zero) * _NS
    end = (group[-1].call.end_s - zero) * _NS
    if len(group) == 1:
        return group[0].name, end, start, group[0].gap_s * _NS, group
    return f"{len(group)} to {group[-1].name}", end, start, 0.0, group


def _rows(path: CriticalRun) -> Iterator[tuple[str, ...]]:
    for group in groups(path):
        first = group[0]
        if len(group) > 1:
            total = sum(step.ms for step in group)
            share = total / path.span.ms if path.span.ms > 0 else 0.0
            ends = clean(f"{len(group)} short ones, {first.name} to {group[-1].name}")
            yield ends, f"{total:.3f}", f"{share:.1%}", "", "", ""
            continue
        yield (
            clean(first.name),
            f"{first.ms:.3f}",
            f"{path.share(first):.1%}",
            clean(first.why),
            clean(first.after or ""),
            f"{first.gap_s * 1e3:.3f}" if first.gap_s > 1e-4 else "",
        )


def _perfetto(found: Analysis, mode: str) -> Link:
    text = to_json(found.cycle, found.graph, found.paths.values())
    # Without a date in it the same recording is the same page.
    packed = gzip.compress(text.encode(), 9, mtime=0)
    data = base64.b64encode(packed).decode()
    return Link(
        text=clean(f"The whole cycle in mode {mode} ({len(packed) / 1000:.0f} kB)"),
        name="".join(c for c in f"{mode}.perfetto.json.gz" if c.isascii() and c != "/"),
        href=f"data:application/gzip;base64,{data}",
    )


def chosen(names: Sequence[str]) -> dict[str, str]:
    """Mode to the name of its first recording: boot-NNN-MODE.ftrace.txt."""
    found: dict[str, str] = {}
    for name in sorted(names):
        parts = name.removesuffix(".ftrace.txt").split("-", 2)
        if name.endswith(".ftrace.txt") and parts[0] == "boot" and len(parts) == 3:
            found.setdefault(parts[2], name)
    return found
