# SPDX-License-Identifier: GPL-2.0-only
"""Two runs against each other: what changed, and whether it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from lull.ask.catalog import features, full_params
from lull.ask.job import STOCK
from lull.ask.presence import as_on
from lull.errors import LabError, UsageError
from lull.model import Arm, Clock, Feature, Row, Sample, Summary, Value
from lull.real.catalog import features as real_features
from lull.report import stats
from lull.report.summary import RunMeta, case_name, summarise
from lull.report.table import plain, quantity, ratio, spread, wrap
from lull.runs.rundir import ENV, RESULTS, SUMMARY, Env
from lull.runs.samples import read_results

_FILES = (".json", ".jsonl")

_CAUSES = (
    "The bases differ. kernel: so does stock, by that ratio; Lull: stock does not, or"
    " not so much; both: stock does, by another ratio; open: of stock no difference is"
    " shown, and one like this is not excluded"
)

_MACHINE = ("base", "kernel", "accel", "cpus")

#: What makes a row the same row in both runs.
Key = tuple[str, str, tuple[tuple[str, Value], ...], str, str, Arm]


@dataclass(frozen=True)
class Run:
    """One side: what could be read of it. Without samples there is no test."""

    name: str
    summary: Summary
    samples: tuple[Sample, ...] = ()
    env: Env | None = None


@dataclass(frozen=True)
class Change:
    """One row in both runs; ``found`` is None without samples."""

    row: Row
    old: float
    new: float
    found: stats.Comparison | None

    @property
    def ratio(self) -> float | None:
        """New to old."""
        if self.found is not None:
            return self.found.ratio
        return self.new / self.old if self.old else None


def compare_runs(old: Path, new: Path, warn: Callable[[str], None]) -> str:
    """The table of two runs: folders, summary.json or results.jsonl files.

    ``warn`` hears of whatever makes the comparison doubtful. Raises
    UsageError for what is no run, or for runs with different clocks, and
    LabError for a summary that is broken.
    """
    known = (*features(), *real_features())
    a, b = read(old, known, warn), read(new, known, warn)
    for text in doubts(a, b):
        warn(text)
    return render(a, b, *changes(a, b, known))


def read(path: Path, known: Sequence[Feature], warn: Callable[[str], None]) -> Run:
    """A run by its folder, or by one of the files in it.

    Who names summary.json gets the figures in it and nothing else. A run that
    was cut short has no summary: one is made of the samples that it left.
    """
    folder = path if path.is_dir() else path.parent
    if not path.exists() or (path.is_file() and path.suffix not in _FILES):
        raise UsageError(f"no run: {path}", hint="name a folder below runs/")
    samples: tuple[Sample, ...] = ()
    results = path if path.suffix == ".jsonl" else folder / RESULTS
    if path.suffix != ".json" and results.is_file():
        samples, bad = read_results(results)
        if bad.count:
            warn(f"{results}: left out {bad}")
    env = _env(folder / ENV, warn)
    file = path if path.suffix == ".json" else folder / SUMMARY
    if file.is_file():
        return Run(str(path), _summary(file), samples, env)
    if env is None or not samples:
        raise UsageError(
            f"no {SUMMARY} in {folder}", hint="name a run's folder below runs/"
        )
    warn(f"{folder}: cut short; {len(samples)} samples are there")
    lull = env.kernels.get(Arm.LULL)
    meta = RunMeta(
        base=env.base,
        kernel=lull.version if lull else "unknown",
        clock=env.clock,
        accel=env.accel,
        cpus=env.cpus,
        quick=env.quick,
    )
    ran = {sample.mode for sample in samples}
    there = [as_on(feature, env.base, modes=ran) for feature in known]
    return Run(str(path), summarise(there, samples, meta), samples, env)


def doubts(old: Run, new: Run) -> list[str]:
    """Differences that speak against comparing, in words.

    Raises UsageError where the clocks differ: instructions are not time.
    """
    a, b = old.summary, new.summary
    if a.clock is not b.clock:
        raise UsageError(
            f"the runs have different clocks: {a.clock} and {b.clock}",
            hint="compare runs of one clock",
        )
    found = []
    # Another base has other kernels: each difference says whose it may be.
    other_base = a.base != b.base
    for what in ("base", "accel", "cpus") if other_base else _MACHINE:
        one, other = getattr(a, what), getattr(b, what)
        if one != other:
            found.append(f"NOT THE SAME {what}: {one} and {other}")
    if old.env is None or new.env is None:
        return found
    both = set(old.env.kernels) & set(new.env.kernels)
    for arm in () if other_base else sorted(both):
        one, other = old.env.kernels[arm].digest, new.env.kernels[arm].digest
        if one != other:
            found.append(
                f"NOT THE SAME {arm} kernel image: {one[:12]} and {other[:12]};"
                " expected if the code under test was changed"
            )
    if old.env.qemu != new.env.qemu:
        found.append(f"NOT THE SAME QEMU: {old.env.qemu} and {new.env.qemu}")
    if a.clock is Clock.WALL and _cpu(old.env) != _cpu(new.env):
        found.append(f"NOT THE SAME host: {_cpu(old.env)} and {_cpu(new.env)}")
    return found


def changes(
    old: Run, new: Run, known: Sequence[Feature]
) -> tuple[list[Change], list[str], list[str]]:
    """Rows in both runs, in the new one's order; names of rows in one only.

    Runs share no block, so the groups are independent, also on insn with the
    same seeds: another kernel runs another course from the same seed.
    """
    olds = {_key(row): row for row in old.summary.rows}
    news = {_key(row): row for row in new.summary.rows}
    defaults = {feature.name: feature for feature in known}
    both = []
    for key, row in news.items():
        if key in olds:
            feature = defaults.get(row.feature)
            sides = [values_of_row(run, row, feature) for run in (new, old)]
            found = stats.compare_groups(*sides) if all(sides) else None
            both.append(Change(row, olds[key].median, row.median, found))
    gone = _alone((row for key, row in olds.items() if key not in news), new)
    added = _alone((row for key, row in news.items() if key not in olds), old)
    return both, gone, added


def _alone(rows: Iterable[Row], other: Run) -> list[str]:
    """Rows that the other run has not; one line of a feature that its base lacks."""
    found = dict.fromkeys(
        f"{row.feature}: not on {other.summary.base}: {why}"
        if (why := other.summary.absent.get(row.feature))
        else _name(row)
        for row in rows
    )
    return list(found)


def render(
    old: Run,
    new: Run,
    both: Sequence[Change],
    gone: Sequence[str],
    added: Sequence[str],
) -> str:
    """Plain ASCII of at most 75 columns."""
    lines = [*wrap(f"old: {_about(old)}"), *wrap(f"new: {_about(new)}")]
    lines += ["new/old below 1 is less; ~: no difference shown", ""]
    causes = ("",) * len(both)
    if old.summary.base != new.summary.base:
        lines[-1:] = [*wrap(_CAUSES), ""]
        causes = whose(both)
    case = ""
    for change, cause in zip(both, causes, strict=True):
        row = change.row
        name = f"{row.feature} {case_name(row.workload, row.params)}"
        if name != case:
            case = name
            lines += wrap(name, "", "  ")
            head = f"  {'metric':18} {'mode':12} {'old':>8} {'new':>8}"
            last = "whose" if any(causes) else "    p"
            lines.append(f"{head} {'new/old':>8}    {last}")
        lines.append(_line(change, cause))
    if not both:
        lines.append("no row is in both runs")
    for title, names in (("only in old", gone), ("only in new", added)):
        for item in names:
            lines += wrap(f"{title}: {item}", "", "  ")
    return plain("\n".join(lines))


def whose(both: Sequence[Change]) -> tuple[str, ...]:
    """Of each change that is shown: the kernel's, Lull's, or both's; else empty.

    What stock does otherwise on the other base is the kernel's, and so is a mode's
    change where its interval and that of stock have a ratio in common. It is open
    where they have, and stock's difference is not shown: that is not to say that
    there is none.
    """
    stock = {
        _key(change.row)[:4]: change
        for change in both
        if change.row.mode == STOCK and change.row.arm is Arm.LULL
    }
    return tuple(_whose(change, stock.get(_key(change.row)[:4])) for change in both)


def _whose(change: Change, stock: Change | None) -> str:
    if stock is None or change.found is None or not change.found.significant:
        return ""
    if stock.found is None or stock.found.ci95 is None:
        return "open"
    if not stock.found.significant:
        return "open" if _meet(change, stock) else "Lull"
    return "kernel" if stock is change or _meet(change, stock) else "both"


def _meet(one: Change, other: Change) -> bool:
    """Whether two ratios may be the same: by their intervals."""
    sides = [c.found.ci95 for c in (one, other) if c.found and c.found.ci95]
    if len(sides) < 2:
        return one.ratio == other.ratio
    return max(low for low, _ in sides) <= min(high for _, high in sides)


def _line(change: Change, cause: str = "") -> str:
    row, found = change.row, change.found
    mode = row.mode if row.arm is Arm.LULL else f"({row.arm})"
    side = (
        "" if found is None or found.ratio is None else spread(found.ratio, found.ci95)
    )
    text = (
        f"  {row.metric[:18]:18} {mode:12} {quantity(change.old, row.unit):>8}"
        f" {quantity(change.new, row.unit):>8} {ratio(change.ratio):>8} {side:7}"
    )
    if found is None or found.p is None:
        return f"{text} ?"
    return f"{text} {cause or f'{found.p:.3f}'}" if found.significant else f"{text} ~"


def values_of_row(run: Run, row: Row, feature: Feature | None) -> list[float]:
    """The independent values that a row is the median of; none without samples."""

    # A row names the parameters that were chosen, a sample all of them.
    def full(params: Mapping[str, Value]) -> Mapping[str, Value]:
        return full_params(feature, row.workload, params) if feature else params

    wanted = full(row.params)
    of_case = [
        sample
        for sample in run.samples
        if sample.feature == row.feature
        and sample.workload == row.workload
        and sample.arm is row.arm
        and full(sample.params) == wanted
    ]
    modes = len({sample.mode for sample in of_case})
    of_mode = (sample for sample in of_case if sample.mode == row.mode)
    values = stats.replicates(of_mode, row.metric, run.summary.clock, modes)
    return list(values.values())


def _summary(path: Path) -> Summary:
    try:
        return Summary.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise LabError(f"not a summary: {first}", where=str(path)) from error


def _env(path: Path, warn: Callable[[str], None]) -> Env | None:
    if not path.is_file():
        return None
    try:
        return Env.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        warn(f"{path}: cannot be read; kernels and hosts are not compared")
        return None


def _key(row: Row) -> Key:
    params = tuple(sorted(row.params.items()))
    return row.feature, row.workload, params, row.metric, row.mode, row.arm


def _name(row: Row) -> str:
    case = case_name(row.workload, row.params)
    return f"{row.feature} {case} {row.metric} {row.mode} ({row.arm} kernel)"


def _cpu(env: Env) -> str:
    return f"{env.host.cpu} x {env.host.cpus}" if env.host else "unknown"


def _about(run: Run) -> str:
    s = run.summary
    parts: Mapping[str, object] = {"clock": s.clock, "accel": s.accel, "cpus": s.cpus}
    rest = ", ".join(f"{name} {value}" for name, value in parts.items())
    return f"{run.name}: {s.kernel} (base {s.base}), {rest}"
