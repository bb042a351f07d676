# SPDX-License-Identifier: GPL-2.0-only
"""The front page's results: a table and a picture, of a run that is committed.

Below what a system does in a workload of ours stands what real programs have of it
(``felt`` of scenarios/*/guest.toml), from the figures that are kept in their rooms.

``docs/results/CLOCK.json`` is what is left of a run's summary when everything
goes that the front page does not show, with the run that it was beside it
(``lull.page.origin``). The block in README.md and ``docs/results/results.svg``
are made of these, and a test makes them again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lull.ask.catalog import features
from lull.ask.job import STOCK
from lull.errors import LabError
from lull.host.files import repo_root, write_file
from lull.kernels.bases import DEFAULT_BASE
from lull.model import LULL, Arm, Clock, Feature, Summary
from lull.page.build import overview
from lull.page.figures import committed as kept_of
from lull.page.figures import refresh_feature, room
from lull.page.html import style
from lull.page.notes import Marks, Note, notes_of
from lull.page.origin import Figures, figures_of, keep, kept, said
from lull.page.phrases import amount, interval, of_undecided, verdict
from lull.real.catalog import MEASURE, scenarios
from lull.real.catalog import features as real_features
from lull.report.answer import RUN, Answer, OnClock, answer, measured_of
from lull.report.clocks import INSN_ALIKE
from lull.report.compare import read
from lull.report.summary import case_key
from lull.report.table import ratio

RESULTS = Path("docs/results")
PICTURE = RESULTS / "results.svg"
START, END = "<!-- results -->\n", "<!-- end of results -->\n"

NOTHING: Mapping[str, Sequence[Real]] = {}

_REAL = (
    "Rows with a link are of real programs in a Debian 12 on the packages' kernel:"
    " all five features in `lull`, to all five in `stock`. None of the promises above"
    " is of them."
)

_CLOCKS = {
    Clock.INSN: f"**insn**: {INSN_ALIKE}",
    Clock.WALL: "**wall**: time, with the noise of its machine",
}


def refresh(runs: Sequence[Path], root: Path | None = None) -> tuple[Path, ...]:
    """Write block and picture, of ``runs`` if any are named, else of what is
    committed; returns the files that were written. Raises what reading a run
    raises, and LabError for a README without a place for them."""
    base = root or repo_root()
    known = features()
    given = [_figures(path, known) for path in runs]
    written = [
        place for feature in known for place in refresh_feature(feature, given, base)
    ]
    for feature in real_features(base):
        written += refresh_feature(feature, given, base, MEASURE)
    for figures in given:
        summary = figures.summary
        # A run of some features, of their steps or of another base is for their pages.
        part = {f.name for f in known} - {row.feature for row in summary.rows}
        if summary.steps or part or summary.base != DEFAULT_BASE:
            continue
        place = base / RESULTS / f"{summary.clock}.json"
        written += keep(place, replace(figures, summary=reduced(summary, known)))
    there = committed(base)
    readme = base / "README.md"
    text = readme.read_text("utf-8")
    text = with_block(text, there, all_notes(base), felt(base))
    write_file(readme, text.encode())
    written.append(readme)
    if there:
        write_file(base / PICTURE, picture(there, known).encode())
        written.append(base / PICTURE)
    return tuple(written)


def _figures(path: Path, known: Sequence[Feature]) -> Figures:
    file = path / "summary.json" if path.is_dir() else path
    # What makes a comparison doubtful is of no concern here.
    return figures_of(read(file, known, lambda text: None))


def committed(base: Path) -> tuple[Figures, ...]:
    """The figures of docs/results, insn first."""
    return kept(base / RESULTS / f"{clock}.json" for clock in Clock)


def reduced(summary: Summary, known: Iterable[Feature]) -> Summary:
    """Headlines' rows, and the promises: all that the front page has."""
    wanted = {
        (feature.name, case_key(feature, item.workload, item.params), item.metric)
        for feature in known
        for item in feature.headlines
    }
    by_name = {feature.name: feature for feature in known}
    rows = tuple(
        row
        for row in summary.rows
        if row.feature in by_name
        and row.arm is Arm.LULL
        and row.mode in (STOCK, LULL)
        and (
            row.feature,
            case_key(by_name[row.feature], row.workload, row.params),
            row.metric,
        )
        in wanted
    )
    return summary.model_copy(update={"rows": rows, "steps": ()})


def all_notes(base: Path) -> dict[str, tuple[Note, ...]]:
    """What has to stand beside figures, by the feature's name."""
    return {f.name: notes_of(f, room(f, base)) for f in features()}


@dataclass(frozen=True)
class Real:
    """What real programs have of a feature."""

    scenario: str
    text: str
    measured: OnClock
    run: str  #: the command that measured it, or would, and of which commit


def felt(base: Path) -> dict[str, tuple[Real, ...]]:
    """What of the scenarios of real programs is kept, by feature; on insn where that
    was measured."""
    found: dict[str, tuple[Real, ...]] = {}
    for one in scenarios(base):
        there = kept_of(one.feature, base)
        for item in one.guest.felt:
            each = (
                Real(one.name, item.text, measured, _run(one.name, figures))
                for figures in there
                if (measured := measured_of(one.feature, item, figures.summary))
            )
            if real := next(each, None):
                found[item.feature] = (*found.get(item.feature, ()), real)
    return found


def with_block(
    text: str,
    given: Sequence[Figures],
    notes: Mapping[str, Sequence[Note]],
    real: Mapping[str, Sequence[Real]] = NOTHING,
) -> str:
    """README's text with the block anew. Raises LabError where it has no place."""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise LabError(
            "there is no place for the results",
            where="README.md",
            hint=f"it is between {START.strip()} and {END.strip()}",
        )
    return f"{before}{START}{block(given, features(), notes, real)}{END}{after}"


def block(
    given: Sequence[Figures],
    known: Sequence[Feature],
    notes: Mapping[str, Sequence[Note]],
    real: Mapping[str, Sequence[Real]] = NOTHING,
) -> str:
    """The table in Markdown, with the picture above; empty without figures."""
    if not given:
        return ""
    found = _answer(given, known)
    marks = Marks()
    lines = [
        f"![Lull to stock, by system]({PICTURE.as_posix()})",
        "",
        "A dot is the ratio of Lull's median to stock's, the line through it its 95%"
        " interval; left of stock is less.",
        "",
        *_table(found, known, notes, marks, real),
        "",
        *marks.lines(),
        *_foot(found, given, known),
        *_real_foot(real),
    ]
    return "\n".join(lines) + "\n"


def _answer(given: Sequence[Figures], known: Iterable[Feature]) -> Answer:
    return answer([figures.summary for figures in given], known)


def _table(
    found: Answer,
    known: Sequence[Feature],
    notes: Mapping[str, Sequence[Note]],
    marks: Marks,
    real: Mapping[str, Sequence[Real]],
) -> Iterable[str]:
    by_name = {feature.name: feature for feature in known}
    yield (
        "| system | what is measured | clock | stock | Lull"
        " | ratio, its 95% interval | with Lull |"
    )
    yield "|---|---|---|---:|---:|---|---|"
    for entry_block in found.blocks:
        feature = by_name[entry_block.feature]
        beside = notes.get(feature.name, ())
        for entry in entry_block.entries:
            mark = marks.mark(feature, entry.headline, beside)
            for m in entry.measured:
                name = f"`{entry_block.feature}`"
                yield _line(name, entry.headline.text, m, mark)
        for one in real.get(feature.name, ()):
            link = f"[{one.scenario}](scenarios/{one.scenario}/README.md)"
            yield _line("", f"{one.text} ({link})", one.measured)


def _line(name: str, text: str, m: OnClock, mark: str = "") -> str:
    cells = (
        name,
        text,
        str(m.clock),
        amount(m.stock, m.unit),
        amount(m.lull, m.unit),
        f"{ratio(m.ratio)}, {interval(m.ratio_ci95) or '-'}",
        f"{' '.join(filter(None, verdict(m)))}{mark}",
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _foot(
    found: Answer, given: Sequence[Figures], known: Sequence[Feature]
) -> Iterable[str]:
    checked = sum(v.checked for b in found.blocks for v in b.verdicts)
    bad = sum(len(v.broken + v.unkept) for b in found.blocks for v in b.verdicts)
    undecided = sum(v.undecided for b in found.blocks for v in b.verdicts)
    clocks = " and ".join(figures.summary.clock for figures in given)
    for machine in found.machines[:1]:
        yield (
            f"Linux {machine.kernel} on {machine.cpus} CPUs under QEMU, medians;"
            f" {checked - bad} of {checked} promises on {clocks} hold"
            f"{of_undecided(undecided)}."
        )
    for figures in given:
        summary = figures.summary
        command = said(figures.origin, _command(summary, known))
        yield f"{_CLOCKS[summary.clock]}; {_boots(summary)}, {command}."


def _real_foot(real: Mapping[str, Sequence[Real]]) -> Iterable[str]:
    """What the rows of real programs are of."""
    runs = dict.fromkeys(one.run for rows in real.values() for one in rows)
    if runs:
        yield ""
        yield f"{_REAL} Measured on {'; on '.join(runs)}."


def _run(scenario: str, figures: Figures) -> str:
    """Who measured a scenario: its clock, how often, and by which command."""
    summary = figures.summary
    command = f"lull {MEASURE} {scenario} --clock {summary.clock}"
    command += f" --seeds {summary.seeds}" if summary.seeds else ""
    return f"{summary.clock}, {_boots(summary)}, {said(figures.origin, command)}"


def _boots(summary: Summary) -> str:
    return f"{summary.seeds} seeds" if summary.seeds else f"{summary.accel}"


def _command(summary: Summary, known: Sequence[Feature]) -> str:
    measured = {row.feature for row in summary.rows}
    names = [feature.name for feature in known if feature.name in measured]
    words = ["lull", RUN, *(names if len(names) < len(known) else ())]
    words += ["--base", summary.base] if summary.base != DEFAULT_BASE else []
    words += ["--clock", summary.clock]
    words += ["--seeds", str(summary.seeds)] if summary.seeds else []
    return shlex.join(words)


def picture(given: Sequence[Figures], known: Iterable[Feature]) -> str:
    """The overview of the page as a file that stands alone, light and dark."""
    found = overview(_answer(given, known))
    if found is None:
        return ""
    colours = re.search(r":root \{.*?\n\}\n@media.*?\n\}\n", style(), re.DOTALL)
    if colours is None:
        raise LabError("the style of the page has no colours", where="style.css")
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" width="680"'
        ' font-family="sans-serif" '
    )
    inside = f"<title>{found.about}</title><style>\n{colours[0]}</style>"
    return found.svg.replace("<svg ", head, 1).replace(">", f">{inside}", 1) + "\n"
