# SPDX-License-Identifier: GPL-2.0-only
"""A feature's figures in its README: tables of runs that are committed.

``results/CLOCK.json`` beside the README is what the tables need of a run's summary,
``results/ablate-CLOCK.json`` of one with ``--ablate``; which run that was is beside
each (``lull.page.origin``). Of another base than the default one it is
``results/CLOCK-BASE.json``, with a place of its own in the README, where that has one.
A test makes the tables again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lull.ask.catalog import ROOMS
from lull.ask.job import STOCK, plans
from lull.ask.presence import as_on
from lull.errors import LabError
from lull.host.files import write_file
from lull.kernels.bases import DEFAULT_BASE
from lull.model import (
    LULL,
    Arm,
    CaseSpec,
    Clock,
    Expectation,
    Feature,
    Headline,
    Row,
    Shown,
    StepShare,
    Summary,
)
from lull.page.notes import Marks, Note, notes_of
from lull.page.origin import Figures, keep, kept, said
from lull.page.phrases import amount, of_undecided
from lull.report import ablation
from lull.report.answer import DEBIAN, RUN
from lull.report.clocks import INSN
from lull.report.summary import CaseKey, case_key, case_name, undecided
from lull.report.table import aa_control, cell

RESULTS = "results"
_PLACE = re.compile(r"^<!-- figures(?: (\S+))? -->$", re.MULTILINE)

_UNIT = {
    Clock.INSN: INSN,
    Clock.WALL: "time, QEMU's emulation",
}


def refresh_feature(
    feature: Feature, given: Iterable[Figures], root: Path, run: str = RUN
) -> tuple[Path, ...]:
    """Keep what ``given`` have of the feature, and write its README's tables;
    ``run`` is the command that measures it.

    Returns the files that were written: none for a README without a place.
    """
    folder = room(feature, root)
    readme = folder / "README.md"
    text = readme.read_text("utf-8") if readme.is_file() else ""
    there = places(text)
    if not there:
        return ()
    written: list[Path] = []
    for figures in given:
        base = figures.summary.base
        if base not in there:
            continue
        summary = reduced(figures.summary, as_on(feature, base))
        if not summary.rows:
            continue
        place = folder / RESULTS / _name(summary)
        written += keep(place, replace(figures, summary=summary))
    notes = notes_of(feature, folder)
    for base in there:
        text = with_figures(
            text, as_on(feature, base), committed(feature, root, base), run, notes, base
        )
    write_file(readme, text.encode())
    return (*written, readme)


def places(text: str) -> tuple[str, ...]:
    """The bases that a README has a place for."""
    return tuple(match[1] or DEFAULT_BASE for match in _PLACE.finditer(text))


def ends(base: str) -> tuple[str, str]:
    """The lines that such a place is between."""
    of = "" if base == DEFAULT_BASE else f" {base}"
    return f"<!-- figures{of} -->\n", f"<!-- end of figures{of} -->\n"


def room(feature: Feature, root: Path) -> Path:
    """The folder that has the feature's or the scenario's whole life."""
    places = [root / kind / feature.name for kind in ROOMS]
    return next((place for place in places if place.is_dir()), places[0])


def committed(
    feature: Feature, root: Path, base: str = DEFAULT_BASE
) -> tuple[Figures, ...]:
    """The feature's figures: insn first, and what the steps bring last."""
    folder = room(feature, root) / RESULTS
    names = (name_of(c, base, steps) for steps in (False, True) for c in Clock)
    return kept(folder / name for name in names)


def name_of(clock: Clock, base: str, steps: bool = False) -> str:
    """The file's name."""
    of = "" if base == DEFAULT_BASE else f"-{base}"
    return f"{'ablate-' if steps else ''}{clock}{of}.json"


def _name(summary: Summary) -> str:
    return name_of(summary.clock, summary.base, bool(summary.steps))


def reduced(summary: Summary, feature: Feature) -> Summary:
    """What the tables show: metrics that are promised, lead or are `[[shown]]`."""
    steps = tuple(share for share in summary.steps if share.feature == feature.name)
    looked_at = {(_key(feature, share), share.metric) for share in steps}
    wanted = looked_at or _wanted(feature, summary.clock)
    return summary.model_copy(
        update={
            "rows": tuple(
                row
                for row in summary.rows
                if row.feature == feature.name
                and (_key(feature, row), row.metric) in wanted
                and (row.arm is Arm.LULL or row.ratio is not None)
            ),
            "steps": steps,
            "expectations": tuple(
                e for e in summary.expectations if e.feature == feature.name
            ),
        }
    )


def _key(
    feature: Feature,
    item: Row | StepShare | Expectation | Headline | Shown | CaseSpec,
) -> CaseKey:
    return case_key(feature, item.workload, item.params)


def _wanted(feature: Feature, clock: Clock) -> set[tuple[CaseKey, str]]:
    promised = {
        (_key(feature, e), e.metric)
        for e in feature.expectations
        if e.clock in (None, clock)
    }
    shown = {(_key(feature, s), metric) for s in feature.shown for metric in s.metrics}
    return promised | shown | {(_key(feature, h), h.metric) for h in feature.headlines}


def with_figures(
    text: str,
    feature: Feature,
    given: Sequence[Figures],
    run: str = RUN,
    notes: Sequence[Note] = (),
    base: str = DEFAULT_BASE,
) -> str:
    """A README's text with a base's tables anew. Raises LabError where it has no
    place."""
    first, last = ends(base)
    before, start, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not start or not end:
        raise LabError(
            "there is no place for the figures",
            where=f"{feature.name}/README.md",
            hint=f"it is between {first.strip()} and {last.strip()}",
        )
    blocks = "\n".join(_block(figures, feature, run, notes) for figures in given)
    return f"{before}{start}{blocks}{end}{after}"


def _block(figures: Figures, feature: Feature, run: str, notes: Sequence[Note]) -> str:
    summary = figures.summary
    of = "" if summary.base in (DEFAULT_BASE, DEBIAN) else f" --base {summary.base}"
    command = f"lull {run} {feature.name}{of} --clock {summary.clock}"
    command += " --ablate" if summary.steps else ""
    command += " --quick" if _quick(summary, feature) else ""
    command += f" --seeds {summary.seeds}" if summary.seeds else ""
    head = f"Linux {summary.kernel}, {summary.cpus} CPUs, clock {summary.clock}"
    lines = [
        f"{head} ({_UNIT[summary.clock]}), {summary.seeds} seeds,"
        f" {said(figures.origin, command)}:",
        "",
    ]
    if summary.steps:
        lines += ["```", *ablation.render(summary).splitlines(), "```"]
    else:
        marks = Marks()
        lines += [*_table(summary, feature, notes, marks), ""]
        lines += [*marks.lines(), *_foot(summary)]
    return "\n".join(lines) + "\n"


def _quick(summary: Summary, feature: Feature) -> bool:
    """Whether the run had the quick cases and no other."""
    had = {_key(feature, row) for row in summary.rows}
    quick, whole = (
        {_key(feature, case) for case in plans(feature, quick=q, clock=summary.clock)}
        for q in (True, False)
    )
    shown = {key for key, _ in _wanted(feature, summary.clock)}
    return not summary.steps and had <= quick and bool((whole - quick) & shown)


def _table(
    summary: Summary, feature: Feature, notes: Sequence[Note], marks: Marks
) -> Iterable[str]:
    rows = [row for row in summary.rows if row.arm is Arm.LULL]
    seen = {row.mode for row in rows}
    # Whatever a feature calls its modes: the one that users are told of comes last.
    modes = [m for m in feature.mode_names if m in seen and m not in (STOCK, LULL)]
    modes += [LULL] if LULL in seen else []
    yield f"| case | metric | stock | {' | '.join(f'{m}, to stock' for m in modes)} |"
    yield f"|---|---|---:|{'---|' * len(modes)}"
    before = ""
    for name, metric in dict.fromkeys((_case(row), row.metric) for row in rows):
        of = {r.mode: r for r in rows if (_case(r), r.metric) == (name, metric)}
        mark = marks.mark(feature, next(iter(of.values())), notes)
        cells = [f"`{name}`" if name != before else "", f"`{metric}`{mark}"]
        cells.append(_amount(of.get(STOCK)))
        cells += [_to_stock(of.get(mode)) for mode in modes]
        yield f"| {' | '.join(cells)} |"
        before = name


def _case(row: Row) -> str:
    return case_name(row.workload, row.params)


def _amount(row: Row | None) -> str:
    return amount(row.median, row.unit) if row else "-"


def _to_stock(row: Row | None) -> str:
    """The ratio; the amount itself where stock has nothing to divide by."""
    if row is None:
        return "-"
    if row.ratio is None:
        return amount(row.median, row.unit)
    return cell(row.ratio, row.ratio_ci95, row.p)


def _foot(summary: Summary) -> Iterable[str]:
    broken = [promise for promise in summary.expectations if not promise.ok]
    held = len(summary.expectations) - len(broken)
    line = (
        "Medians; +- is the wider side of the ratio's 95% interval, ~ where no"
        " difference is shown."
    )
    if summary.expectations:
        line += f" {held} of {len(summary.expectations)} promises hold"
        line += of_undecided(undecided(summary.expectations))
        line += ":" if broken else "."
    yield line
    if broken:
        yield ""
        for promise in broken:
            word = "not kept, as known" if promise.unkept else "broken"
            yield f"- {word}: {promise.text}"
    control = [row for row in summary.rows if row.arm is Arm.STOCK]
    if control:
        yield from ("", "Mode `stock` to the untouched kernel, the A/A control:", "")
        yield from (f"- {aa_control(row)}" for row in control)
