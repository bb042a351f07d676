# SPDX-License-Identifier: GPL-2.0-only
"""From runs to the page, as records. Pure, but for the pictures' library."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lull.model import LULL, Arm, Feature, Metric, Mode, Promise, Workload
from lull.page import charts, curves
from lull.page.ablation import ablation
from lull.page.cases import MeasuredCase, cases_of, colour_of, costs, view
from lull.page.model import (
    Claim,
    Figure,
    Key,
    Page,
    Promises,
    Recorded,
    Section,
    Source,
    System,
    Table,
)
from lull.page.noise import times
from lull.page.phrases import (
    clean,
    interval,
    of_undecided,
    sentence,
    tone,
    verdict,
)
from lull.report.answer import Answer, Block, Coverage, HeadlineAnswer, OnClock, answer
from lull.report.answer_text import render as render_answer
from lull.report.compare import Run
from lull.report.summary import case_key
from lull.report.table import quantity, ratio


@dataclass(frozen=True)
class Extras:
    """What a run's folder may hold beside its samples."""

    profiles: tuple[Section, ...] = ()
    recorded: tuple[Recorded, ...] = ()
    doubts: tuple[str, ...] = field(default_factory=tuple)


def page(runs: Sequence[Run], features: Iterable[Feature], extras: Extras) -> Page:
    """The page of runs, of which each has its clock.

    Nothing is in it of what was not measured. A feature that only a summary
    knows is there with its rows.
    """
    summaries = [run.summary for run in runs]
    known = [*features, *_strangers(runs, features)]
    found = answer(summaries, known)
    by_name = {feature.name: feature for feature in known}
    systems = tuple(
        _system(block, by_name[block.feature], runs, f"s{number}")
        for number, block in enumerate(found.blocks)
    )
    mail = render_answer(found, [clean(run.name, 300) for run in runs])
    return Page(
        title=clean(_title(found)),
        heading=_heading(systems),
        lead=_lead(found),
        broken=_broken(found),
        overview=overview(found),
        systems=systems,
        profiles=extras.profiles,
        recorded=extras.recorded,
        sources=tuple(
            _source(run, coverage)
            for run, coverage in zip(runs, found.coverage, strict=True)
        ),
        mail=mail,
        doubts=(*extras.doubts, *_mixed(runs)),
        absent=tuple((clean(f), clean(why, 300)) for f, why in found.absent.items()),
    )


def _mixed(runs: Sequence[Run]) -> Iterator[str]:
    """What runs on one page should have in common, and have not."""
    seen: dict[str, str] = {}
    for run in runs:
        kernels = run.env.kernels if run.env else {}
        facts = {f"{arm} kernel image": k.digest[:12] for arm, k in kernels.items()}
        for what, value in {"Linux": run.summary.kernel, **facts}.items():
            if seen.setdefault(what, value) != value:
                yield clean(f"Not the same {what}: {seen[what]} and {value}")


def _strangers(runs: Sequence[Run], features: Iterable[Feature]) -> Iterator[Feature]:
    """Features that no file here describes, as far as the rows do."""
    known = {feature.name for feature in features}
    rows = [r for run in runs for r in run.summary.rows if r.feature not in known]
    for name in dict.fromkeys(row.feature for row in rows):
        own = [row for row in rows if row.feature == name]
        yield Feature(
            name=name,
            title="",
            modes=tuple(
                Mode(name=m, text="") for m in dict.fromkeys(r.mode for r in own)
            ),
            metrics={row.metric: Metric(unit=row.unit, text="") for row in own},
            workloads={row.workload: Workload(text="") for row in own},
        )


def _title(found: Answer) -> str:
    for machine in found.machines:
        return f"Lull on Linux {machine.kernel}"
    return "Lull"


def _heading(systems: Sequence[System]) -> str:
    told = [s for s in systems if s.verdicts]
    better = [s for s in told if any(v.tone == "better" for v in s.verdicts)]
    worse = [s for s in told if any(v.tone == "worse" for v in s.verdicts)]
    if not told:
        return "What was measured"
    count = "every" if len(better) == len(told) > 1 else f"{len(better)} of {len(told)}"
    noun = "system" if count == "every" or len(told) == 1 else "systems"
    left = all(v.tone == "left" for s in told for v in s.verdicts)
    none = "Nothing is left to win" if left else "Nothing is shown to be faster"
    text = f"Faster in {count} {noun}" if better else none
    if worse:
        text += f", slower in {len(worse)}"
    return text + "."


def _lead(found: Answer) -> str:
    checked = sum(v.checked for b in found.blocks for v in b.verdicts)
    broken = sum(len(v.broken) for b in found.blocks for v in b.verdicts)
    unkept = sum(len(v.unkept) for b in found.blocks for v in b.verdicts)
    undecided = of_undecided(sum(v.undecided for b in found.blocks for v in b.verdicts))
    parts = []
    if unkept:
        parts.append(f"{unkept} of {checked} promises not kept, as known.")
    elif checked and not broken:
        held = f"All {checked} promises hold" if checked > 1 else "The promise holds"
        parts.append(f"{held}{undecided}.")
    for machine in found.machines[:1]:
        parts.append(
            f"One Linux {machine.kernel} on {machine.cpus} CPUs, as it is (stock)"
            " and with Lull: medians of the same boots."
        )
    return clean(" ".join(parts), 300)


def _broken(found: Answer) -> str:
    promises = [p for b in found.blocks for p in b.broken]
    checked = sum(v.checked for b in found.blocks for v in b.verdicts)
    if not promises:
        return ""
    return f"{len(promises)} of {checked} promises broken"


def _system(block: Block, feature: Feature, runs: Sequence[Run], name: str) -> System:
    cases = [(run, case) for run in runs for case in cases_of(run, feature)]
    entries = [e.headline.metric for e in block.entries]
    first = [*entries, *(e.metric for e in feature.expectations)]
    wanted = {
        case_key(feature, e.headline.workload, e.headline.params) for e in block.entries
    }
    views = [
        view(case, first, f"{name}-c{number}", case.key in wanted)
        for number, (_, case) in enumerate(cases)
    ]
    sections = []
    shown = [case for _, case in cases]
    if tails := curves.tails(shown, f"{name}-t"):
        text = "The slowest are what people notice: how long all but a few take."
        sections.append(Section(f"{name}-tails", "Tails", text, tails))
    grown = [
        figure
        for i, run in enumerate(runs)
        for figure in curves.growth(run, feature, f"{name}-g{i}")
    ]
    if grown:
        text = "What one more of them costs."
        sections.append(Section(f"{name}-growth", "Growth", text, tuple(grown)))
    modes = {row.mode for _, case in cases for row in case.rows}
    # What a headline is about comes first; the rest keep their order.
    views.sort(key=lambda each: not each.first)
    return System(
        id=name,
        name=clean(feature.name),
        title=clean(feature.title),
        verdicts=tuple(
            _verdict(entry, measured, [case for _, case in cases])
            for entry in block.entries
            for measured in entry.measured
        ),
        promises=tuple(
            Promises(
                verdict.clock,
                kept=tuple(
                    _promise(p)
                    for run in runs
                    if run.summary.clock is verdict.clock
                    for p in run.summary.expectations
                    if p.feature == block.feature and p.ok
                ),
                broken=tuple(_promise(p) for p in verdict.broken),
                unkept=tuple(
                    (*_promise(p), clean(p.unkept, 200)) for p in verdict.unkept
                ),
            )
            for verdict in block.verdicts
            if verdict.checked
        ),
        costs=costs(shown),
        steps=ablation((run.summary for run in runs), feature.name),
        modes=tuple(
            (
                Key(colour_of(feature, mode.name), clean(mode.name)),
                clean(mode.text),
                clean(f"unsafe: {mode.unsafe}") if mode.unsafe else "",
            )
            for mode in feature.modes
            if mode.name in modes
        ),
        cases=tuple(views),
        sections=tuple(sections),
        native=clean(block.native, 300),
    )


def _promise(promise: Promise) -> tuple[str, str]:
    measured = promise.measured
    return clean(promise.text, 200), "" if measured is None else f"{measured:.4g}"


def _verdict(
    entry: HeadlineAnswer, found: OnClock, cases: Sequence[MeasuredCase]
) -> Claim:
    how = tone(found.unit, found.ratio, found.shown)
    how = "left" if found.nothing_left else how
    size, word = verdict(found)
    headline = entry.headline
    severity = ""
    for case in cases:
        rows = case.of(headline.metric)
        row = rows.get(LULL)
        same = case.clock is found.clock and case.rows[0].workload == headline.workload
        if row is None or not same or row.ratio != found.ratio:
            continue
        if there := case.noise(headline.metric):
            severity = (
                f"{times(there.severity(found.ratio))} its A/A noise of {there.text}"
            )
        break
    return Claim(
        clock=found.clock,
        factor=size,
        word=word,
        sentence=clean(sentence(found, headline.text), 300),
        tone=how,
        noise=severity,
    )


def overview(found: Answer) -> Figure | None:
    """All headlines that have a ratio, in one picture; None for none."""
    rows: list[dict[str, str | float | None]] = []
    cells: list[tuple[str, ...]] = []
    labels: Counter[str] = Counter()
    for block in found.blocks:
        for entry in block.entries:
            for m in entry.measured:
                if m.ratio is None or m.ratio <= 0:
                    continue
                low, high = m.ratio_ci95 or (m.ratio, m.ratio)
                said = " ".join(filter(None, verdict(m)))
                label = f"{block.feature} {m.clock}"
                # A line has one name: a second headline is numbered.
                labels[label] += 1
                again = f" {labels[label]}" if labels[label] > 1 else ""
                rows.append(
                    {
                        "name": clean(label, charts.LABEL - len(again)) + again,
                        "ratio": m.ratio,
                        "low": max(low, m.ratio / 100),
                        "high": high,
                        "fill": "var(--m1)" if m.shown else "var(--m0)",
                        "text": said if m.shown or m.nothing_left else "~",
                    }
                )
                cells.append(
                    (
                        clean(block.feature),
                        clean(entry.headline.text, 200),
                        str(m.clock),
                        clean(quantity(m.stock, m.unit)),
                        clean(quantity(m.lull, m.unit)),
                        ratio(m.ratio),
                        interval(m.ratio_ci95),
                        said,
                    )
                )
    if not rows:
        return None
    heads = (
        "system",
        "what",
        "clock",
        "stock",
        "lull",
        "ratio",
        "95% interval",
        "verdict",
    )
    return Figure(
        id="overview",
        title="Lull to stock",
        about="Ratio of Lull to stock for each headline, on a logarithmic axis",
        clock=None,
        svg=charts.ratios(rows),
        table=Table(heads, tuple(cells), frozenset((3, 4, 5, 6))),
        note="left of the line is less; the dot is the ratio of the medians, the line"
        " its 95% interval",
    )


def _source(run: Run, part: Coverage) -> Source:
    s, env = run.summary, run.env
    facts = [
        ("folder", run.name),
        ("kernel", f"Linux {s.kernel}, base {s.base}"),
        ("clock", f"{s.clock}, under {s.accel}, {s.cpus} CPUs"),
    ]
    command = ""
    if env is not None:
        facts.append(("when", env.created))
        if env.commit:
            facts.append(("commit", env.commit))
        for kernel in env.kernels.values():
            version = f"{kernel.version} {kernel.package_version}".rstrip()
            digest = f"{version}, sha256 of bzImage {kernel.digest}"
            facts.append((f"{kernel.arm} kernel", digest))
        compilers = dict.fromkeys(
            k.compiler for k in env.kernels.values() if k.compiler
        )
        facts += [("compiler", compiler) for compiler in compilers]
        if env.qemu:
            facts.append(("QEMU", env.qemu))
        facts.append(("seeds", ", ".join(map(str, env.seeds))))
        if env.host is not None:
            cpu = f"{env.host.cpu} x {env.host.cpus}"
            facts.append(("host", f"{cpu}, {env.host.memory_mb} MB, {env.host.system}"))
        command = "\n".join(shlex.join(words) for words in env.commands)
    if not part.whole:
        text = f"{part.cases} of {part.of_cases} cases"
        facts.append(("part", f"{text}, {part.seeds} of {part.of_seeds} seeds"))
    counts = sorted({row.n for row in s.rows if row.arm is Arm.LULL})
    ends = dict.fromkeys(str(n) for n in counts[:1] + counts[-1:])
    facts.append(("samples", f"{len(run.samples)}; n = {'-'.join(ends) or 0} a mode"))
    return Source(
        title=clean(f"{s.clock}: {run.name}", 300),
        clock=s.clock,
        facts=tuple((name, clean(text, 300)) for name, text in facts),
        command=clean(command, 1000) if "\n" not in command else command,
    )
