# SPDX-License-Identifier: GPL-2.0-only
"""What a cover letter quotes of what was measured: the ratio to stock beside stock's
own value, what each step of the series brings, and what is promised. No figure comes
from here; none is quoted without its case, and no case without its note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lull.ask.catalog import full_params
from lull.ask.job import STOCK
from lull.errors import LabError
from lull.kernels.bases import DEFAULT_BASE
from lull.model import LULL, Arm, CaseSpec, Clock, Expectation, Feature, Row, StepShare
from lull.page.figures import RESULTS, name_of, room
from lull.page.notes import Marks, Note, about
from lull.page.origin import Figures, kept
from lull.page.phrases import amount
from lull.report import stats
from lull.report.ablation import company, share_line, table_line, to_stock
from lull.report.summary import case_name, promise_text
from lull.report.table import aa_control, cell, ratio, wrap
from lull.series.description import Cases


@dataclass(frozen=True)
class Quoted:
    """What there is to quote: of a run, or what the project keeps."""

    results: Figures
    #: Of a run in which each step was taken out, on the same clock.
    steps: Figures | None = None


def kept_of(feature: Feature, root: Path, base: str) -> Quoted | None:
    """What is committed in the feature's room, if it is of this base."""
    folder = room(feature, root) / RESULTS
    results, steps = (
        next((f for f in kept([folder / name]) if f.summary.base == base), None)
        for name in (name_of(Clock.INSN, base), name_of(Clock.INSN, base, steps=True))
    )
    return Quoted(results, steps) if results else None


@dataclass(frozen=True)
class Quotes:
    """What is quoted of a feature. ``steps`` are those of the series."""

    feature: Feature
    measured: Quoted
    steps: tuple[str, ...] = ()
    notes: Sequence[Note] = ()
    not_of: tuple[Cases, ...] = ()  #: cases that are no figures of the series
    #: What has changed the feature's code after a commit (``lull.series.history``).
    changed: Callable[[str], str | None] = lambda commit: None
    base: str = DEFAULT_BASE  #: that the feature is held to these promises on
    marks: Marks = field(default_factory=Marks)

    def __post_init__(self) -> None:
        """Raises LabError where ``not_of`` has a case that the feature has not."""
        for cases in self.not_of:
            if not any(self._are(cases, case) for case in self.feature.cases):
                raise LabError(
                    f"{self.feature.name} has no case"
                    f" {case_name(cases.workload, cases.params)!r}",
                    where=f"not_of of {self.feature.name}'s series.toml",
                    hint="a workload of its [[cases]], and some of the parameters",
                )

    def are_of_this_code(self) -> bool:
        """Whether all of them are known to be of the code as it is."""
        found = (self.measured.results, self.measured.steps)
        origins = [figures.origin for figures in found if figures]
        return all(o and self.changed(o.commit) == "" for o in origins)

    def most(self, step: str) -> str:
        """What a step brings where it brings most, in brackets."""
        if self.measured.steps is None:
            return ""
        if not (mine := self._shares(step)):
            return " (not measured alone)"
        if (share := _least(mine)) is None:
            return " (not shown)"
        return f" ({ratio(share.ratio)}){self._mark(share)}"

    def told(self, steps: Sequence[str], begun: Collection[str]) -> str:
        """For the message of the patch that completes these steps: what each brings
        where it brings most. ``begun`` are steps that earlier patches have parts of.
        Empty where none of them was measured."""
        figures = self.measured.steps
        found = {step: mine for step in steps if (mine := self._shares(step))}
        if figures is None or not found:
            return ""
        summary = figures.summary
        boots = f", medians of {summary.seeds} boots" if summary.seeds else ""
        last = self.changed(figures.origin.commit) if figures.origin else None
        state = _STATES[last if last is None else bool(last)]
        lines = wrap(
            f"What {'each' if len(found) > 1 else 'the'} step brings where it brings"
            " most: the whole to the whole without it, below 1 is less with it (in"
            f" {_UNITS[summary.clock]}{boots}{state}; the cover letter has all cases"
            " and the command):"
        )
        # Notes are numbered by themselves: nobody has the letter beside a commit.
        marks = Marks()
        for step, mine in found.items():
            company = ["earlier patches"] if step in begun else []
            share = _least(mine)
            said = "no difference was shown"
            if share is not None:
                mark = marks.mark(self.feature, share, self.notes)
                said = cell(share.ratio, share.ratio_ci95, share.p)
                said += f" ({share.metric}, {_case(share)}){mark}"
                if share.needed_by:
                    company.append(f"{' and '.join(share.needed_by)} on top of it")
            name = f"{step}, with {' and '.join(company)}" if company else step
            lines += wrap(f"{name}: {said}", "  ", "    ")
        notes = footnotes(marks)
        return "\n".join([*lines, *(["", notes] if notes else [])])

    def results(self) -> str:
        """Each case: stock's value, and the ratio of the mode ``lull`` to it."""
        figures = self.measured.results
        run = f"lull run {self.feature.name} --base {figures.summary.base}"
        again = f"{run} --clock {figures.summary.clock}"
        lines = [*self._ran(figures, again), ""]
        lines.append(f"{'case, metric':<28} {'stock':>12}  lull, to stock")
        rows = [row for row in figures.summary.rows if self._is_of_it(row)]
        before = ""
        for name, metric in dict.fromkeys((_case(row), row.metric) for row in rows):
            of = {r.mode: r for r in rows if (_case(r), r.metric) == (name, metric)}
            if LULL not in of or STOCK not in of:
                continue
            lines += wrap(name, "", "  ") if name != before else []
            mark = self._mark(of[STOCK])
            lines.append(_beside(f"{metric}{mark}", of[STOCK], of[LULL]))
            before = name
        if missed := [case_name(c.workload, c.params) for c in self.not_of]:
            said = "Not quoted, since what is not in this series has a part in them:"
            lines += ["", *wrap(f"{said} {', '.join(missed)}.")]
        lines += ["", *self._legend({row.metric for row in rows})]
        control = [
            row
            for row in figures.summary.rows
            if row.arm is Arm.STOCK
            and row.feature == self.feature.name
            and not self._left_out(row)
        ]
        if control:
            lines += ["", "stock to the same kernel without this code:"]
            for row in control:
                lines += wrap(aa_control(row), "  ", "    ")
        return "\n".join(lines)

    def brings(self) -> str:
        """What each step brings, at the cases that are there to show one of them."""
        of = self.measured.results.summary
        run = f"lull run {self.feature.name} --base {of.base}"
        again = f"{run} --clock {of.clock} --ablate"
        figures = self.measured.steps
        if figures is None:
            said = "No step of it was measured by itself on this base and clock."
            return "\n".join([*wrap(f"{said} This does it:"), *command(again)])
        if seeds := figures.summary.seeds:
            again += f" --seeds {seeds}"
        there = [s for s in figures.summary.steps if s.step in self.steps]
        known = dict.fromkeys(share.step for share in figures.summary.steps)
        lines = self._ran(figures, again)
        if missed := [step for step in self.steps if step not in known]:
            lines += wrap(
                f"That run knows no step {' and no step '.join(missed)}, and all"
                " figures of this table are of the code without them."
            )
        wanted = self._wanted()
        shares = [
            share
            for share in there
            if about(self.feature, share) in wanted and not self._left_out(share)
        ]
        for key in dict.fromkeys(map(_place, shares)):
            group = [share for share in shares if _place(share) == key]
            lines += ["", *self._taken_out(figures, group)]
        lines.append("")
        for share in {share.step: share for share in there}.values():
            said = f"{share.step}: {share.text}{company(share)}"
            lines += wrap(said, "  ", "    ")
        lines += ["", *wrap(_COLUMNS)]
        if others := [step for step in known if step not in self.steps]:
            lines += wrap(
                f"All of them, and all but one, have {' and '.join(others)} besides,"
                " which this series has not."
            )
        return "\n".join(lines)

    def evidence(self) -> str:
        """What is promised of the series, and held by a command."""
        held = promised_to_stock(self.feature)
        mine = [item for item in held if not self._left_out(item)]
        return evidence(self.feature, self.notes, self.marks, mine, self.base)

    def footnotes(self) -> str:
        """The notes of all cases that were quoted so far; may be empty."""
        return footnotes(self.marks)

    def _ran(self, figures: Figures, again: str) -> list[str]:
        """Which run it was, and of which code, as far as that was written down."""
        origin = figures.origin
        if origin is None:
            said = "Of which run, day and state of this code these are, nobody wrote"
            return [*wrap(f"{said} down. To repeat them:"), *command(again)]
        where = "of which commit, nobody wrote down"
        if short := origin.short:
            # Not "commit 0123": who reads this looks for such in the kernel's history.
            where = f"{short} of the project"
            last = self.changed(origin.commit)
            if last:
                where = f"of an earlier state of this code: {where}, and {last[:10]}"
                where += " has changed it since"
            elif last is None:
                where += ", and whether this code was the same is not known"
        day = origin.day or "of which day, nobody wrote down"
        return [*wrap(f"{day}, {where}:"), *command(origin.command)]

    def _taken_out(self, figures: Figures, group: Sequence[StepShare]) -> Iterator[str]:
        key = _place(group[0])
        rows = {
            row.mode: row
            for row in figures.summary.rows
            if _place(row) == key and row.arm is Arm.LULL
        }
        stock = rows.get(STOCK)
        value = f": stock {amount(stock.median, stock.unit)}" if stock else ""
        case = f"{group[0].metric}, {_case(group[0])}{self._mark(group[0])}"
        yield from wrap(f"{case}{value}", "", "  ")
        yield table_line("step", "alone", "all but it", "brings")
        for share in group:
            yield share_line(share, rows)
        yield table_line("all of them", to_stock(rows.get(LULL)), "", "")

    def _wanted(self) -> list[object]:
        """Where a step of the series is looked for: not where only another is."""
        mine = [s.at for s in self.feature.steps if s.at and s.name in self.steps]
        lead = [about(self.feature, headline) for headline in self.feature.headlines]
        return [*lead, *(about(self.feature, place) for place in mine)]

    def _is_of_it(self, row: Row) -> bool:
        """Not where a step that the series has not is shown to have a part in it."""
        if row.feature != self.feature.name or row.arm is not Arm.LULL:
            return False
        if self._left_out(row):
            return False
        steps = self.measured.steps
        return not any(
            share.step not in self.steps
            and _place(share) == _place(row)
            and stats.shown(share.p, share.ratio_ci95)
            for share in (steps.summary.steps if steps else ())
        )

    def _shares(self, step: str) -> list[StepShare]:
        """All that is known of what a step brings."""
        steps = self.measured.steps
        known = steps.summary.steps if steps else ()
        return [one for one in known if one.step == step and not self._left_out(one)]

    def _left_out(self, item: Row | StepShare | Expectation) -> bool:
        return any(self._are(cases, item) for cases in self.not_of)

    def _are(
        self, cases: Cases, item: Row | StepShare | Expectation | CaseSpec
    ) -> bool:
        if item.workload != cases.workload:
            return False
        params = full_params(self.feature, item.workload, item.params)
        return cases.params.items() <= params.items()

    def _mark(self, item: Row | StepShare) -> str:
        return self.marks.mark(self.feature, item, self.notes)

    def _legend(self, metrics: set[str]) -> Iterator[str]:
        """What the metrics are, as feature.toml has it and in its order."""
        for name, metric in self.feature.metrics.items():
            if name in metrics:
                yield from wrap(f"{name}: {metric.text}", "  ", "    ")


def promised(feature: Feature) -> list[Expectation]:
    """What the mode ``lull`` is held to; on a base, what is known to be kept there."""
    return [
        e
        for e in feature.expectations
        if e.mode == LULL and not e.control and not e.unkept
    ]


def promised_to_stock(feature: Feature) -> list[Expectation]:
    """Without what it is held to in other modes: these are there to compare with, and
    who has a series has none of them."""
    return [e for e in promised(feature) if e.absolute or e.to == STOCK]


def evidence(
    feature: Feature,
    notes: Sequence[Note],
    marks: Marks,
    held: Sequence[Expectation] | None = None,
    base: str = DEFAULT_BASE,
) -> str:
    """How to measure a feature, and which figures it is held to; none is new.
    ``held`` are those to quote, if not all are. The feature is as on the base."""
    known = promised(feature)
    held = known if held is None else held
    where = "" if base == DEFAULT_BASE else f" --base {base}"
    said = f"Evidence: lull run {feature.name}{where} --check measures it"
    if not held:
        return f"{said}."
    lines = wrap(f"{said}, and fails where one of these does not hold:")
    for item in held:
        text = f"{_promise(item)}{marks.mark(feature, item, notes)}"
        lines += wrap(text, "  ", "    ")
    if len(held) < len(known):
        said = "It fails by others, too: those to modes, or of cases, that are not"
        lines += wrap(f"{said} quoted here.")
    return "\n".join(lines)


def footnotes(marks: Marks) -> str:
    """The texts of what was marked, as paragraphs of a mail."""
    return "\n".join(line for text in marks.lines() for line in wrap(text)).strip()


def command(text: str) -> list[str]:
    """A command on lines of its own, which a shell takes as they are."""
    # An option stays with its value.
    joined = re.sub(r"(--[\w-]+) (?=[^-])", r"\1\0", text)
    lines = wrap(joined, "  ", "      ", width=_COMMAND)
    lines = [f"{line} \\" for line in lines[:-1]] + lines[-1:]
    return [line.replace("\0", " ") for line in lines]


def _least(shares: Sequence[StepShare]) -> StepShare | None:
    """Where a step brings most, of where a difference is shown."""
    found = [
        (share.ratio, share)
        for share in shares
        if share.ratio is not None and stats.shown(share.p, share.ratio_ci95)
    ]
    return min(found, key=lambda one: one[0])[1] if found else None


def _promise(item: Expectation) -> str:
    """With its workload: two of them may have the same parameters."""
    text = promise_text(item.model_copy(update={"params": {}}))
    params = "".join(f" {name}={value}" for name, value in item.params.items())
    return f"{text}{params} ({item.clock or 'each clock'})"


def _case(item: Row | StepShare) -> str:
    return case_name(item.workload, item.params)


def _place(item: Row | StepShare) -> tuple[str, str, str]:
    return item.feature, _case(item), item.metric


def _beside(name: str, stock: Row, lull: Row) -> str:
    """The ratio; the value itself where stock has nothing to divide by."""
    value = amount(stock.median, stock.unit)
    other = amount(lull.median, lull.unit) if lull.ratio is None else to_stock(lull)
    return f"  {name:<26} {value:>12}  {other}"


#: Of the code, by whether it was changed since; None where nobody knows.
_STATES = {
    False: "",
    True: ", of an earlier state of this code",
    None: ", of a state of this code that is not known",
}
_UNITS = {Clock.INSN: "executed instructions", Clock.WALL: "time"}
_COMMAND = 73  #: columns of a line of a command, before what continues it
_COLUMNS = (
    "alone, all but it, all of them: to stock. brings: all of them to all but it,"
    " below 1 is less with the step."
)
