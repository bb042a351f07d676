# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lull.errors import LabError, UsageError
from lull.model import Arm, Clock
from lull.report import compare, stats
from lull.report.summary import summarise, to_json
from lull.runs.rundir import Env, Host, KernelFacts, RunDir
from lull.runs.samples import format_results
from tests import synthetic

HOST = Host(
    machine="x86_64", system="Linux", cpu="A", cpus=2, memory_mb=1, load=(0, 0, 0)
)


@pytest.fixture(autouse=True)
def catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "features", lambda: (synthetic.feature(),))


@pytest.fixture
def warnings() -> list[str]:
    return []


def make(
    path: Path,
    cost: Mapping[str, float] = synthetic.COST,
    clock: Clock = Clock.INSN,
    digest: str = "d" * 64,
    seeds: range = range(8),
    host: Host = HOST,
    **more: object,
) -> Path:
    samples = synthetic.samples(seeds, cost=cost)
    meta = synthetic.meta(clock, **more)
    folder = RunDir.create(["walk"], clock, path)
    folder.append(samples)
    kernel = KernelFacts(arm=Arm.LULL, version=meta.kernel, digest=digest)
    env = Env(
        created="2026-01-01T00:00:00Z",
        base=meta.base,
        clock=clock,
        accel=meta.accel,
        cpus=meta.cpus,
        seeds=tuple(seeds),
        features=("walk",),
        kernels={"lull": kernel},
        qemu="7.2",
        host=host,
    )
    made = summarise([synthetic.feature()], samples, meta)
    folder.finish(made, "table\n", "answer\n", env)
    return folder.path


def line(text: str, mode: str) -> list[str]:
    """The words of the first line of a mode: that of total of 30000 zombies."""
    return next(x.split() for x in text.splitlines() if x.split()[1:2] == [mode])


def test_a_change_is_shown_and_no_change_is_not(
    tmp_path: Path, warnings: list[str]
) -> None:
    old = make(tmp_path / "old")
    new = make(tmp_path / "new", {**synthetic.COST, "lull": 20.0}, seeds=range(20, 28))
    text = compare.compare_runs(old, new, warnings.append)
    metric, mode, before, after, ratio, side, p = line(text, "lull")
    assert (metric, mode, before, after) == ("total", "lull", "1.20ms", "601us")
    assert float(ratio) == pytest.approx(0.5, rel=0.02)
    assert side.startswith("+-") and 0 < float(side[2:].rstrip("%")) <= 2
    assert p == "0.000"
    assert line(text, "stock")[-1] == "~"
    assert warnings == []
    assert all(len(x) <= 75 and x.isascii() for x in text.splitlines())


def test_a_run_against_itself_differs_nowhere(
    tmp_path: Path, warnings: list[str]
) -> None:
    run = make(tmp_path / "run")
    text = compare.compare_runs(run, run, warnings.append)
    for mode in ("stock", "quick", "lull"):
        assert line(text, mode)[-1] == "~"
        assert line(text, mode)[4] == "1.00"


def test_of_two_bases_it_says_which_differences_are_the_kernels(
    tmp_path: Path, warnings: list[str]
) -> None:
    old = make(tmp_path / "old")
    cost = {"stock": 200.0, "quick": 100.0, "lull": 40.0}
    new = make(tmp_path / "new", cost, seeds=range(20, 28), base="7.3")
    text = compare.compare_runs(old, new, warnings.append)
    assert "The bases differ." in text and "whose" in text
    assert line(text, "stock")[-1] == line(text, "quick")[-1] == "kernel"
    assert line(text, "lull")[-1] == "~"
    assert max(map(len, text.splitlines())) <= 75
    mine = make(tmp_path / "mine", {**cost, "lull": 10.0}, base="7.3")
    text = compare.compare_runs(old, mine, warnings.append)
    assert line(text, "lull")[-1] == "both"
    alone = {**synthetic.COST, "lull": 10.0}
    less = make(tmp_path / "less", alone, seeds=range(20, 28), base="7.3")
    text = compare.compare_runs(old, less, warnings.append)
    assert line(text, "stock")[-1] == "~" and line(text, "lull")[-1] == "Lull"


def test_where_stock_is_too_noisy_to_tell_it_is_open() -> None:
    """No difference shown is not none: an interval that has the mode's ratio in it."""
    runs = []
    for noise, shift in ((0.5, 1.0), (0.5, 0.93)):
        samples = []
        for mode, spread in (("stock", noise), ("lull", 0.001)):
            cost = {name: 100.0 * shift for name in synthetic.COST}
            made = synthetic.samples(range(8), cost=cost, noise=spread)
            samples += [sample for sample in made if sample.mode == mode]
        summary = summarise([synthetic.feature()], samples, synthetic.meta())
        runs.append(compare.Run("", summary, tuple(samples)))
    both, _, _ = compare.changes(*runs, [synthetic.feature()])
    said = {
        change.row.mode: (change.found is not None and change.found.significant, cause)
        for change, cause in zip(both, compare.whose(both), strict=True)
        if (change.row.workload, change.row.metric) == ("zombies", "total")
    }
    assert said == {"stock": (False, ""), "lull": (True, "open")}


def test_a_feature_that_a_base_lacks_is_one_line_with_the_reason(
    tmp_path: Path, warnings: list[str]
) -> None:
    old = make(tmp_path / "old")
    whole = compare.read(old, [synthetic.feature()], warnings.append)
    less = whole.summary.model_copy(
        update={"rows": (), "base": "6.1", "absent": {"walk": "it has no legs"}}
    )
    new = compare.Run("new", less)
    for sides in ((whole, new), (new, whole)):
        text = compare.render(*sides, *compare.changes(*sides, [synthetic.feature()]))
        (said,) = [line for line in text.splitlines() if line.startswith("only in")]
        assert said.endswith(": walk: not on 6.1: it has no legs")


def test_of_two_bases_other_kernels_are_no_doubt(
    tmp_path: Path, warnings: list[str]
) -> None:
    old = make(tmp_path / "a")
    new = make(tmp_path / "b", base="7.3", kernel="7.3.4", digest="e" * 64)
    compare.compare_runs(old, new, warnings.append)
    assert warnings == ["NOT THE SAME base: 6.12 and 7.3"]


def test_the_untouched_kernel_is_not_taken_for_stock() -> None:
    runs = []
    for stock in (400.0, 200.0):
        samples = [
            *synthetic.samples(cost={**synthetic.COST, "stock": stock}),
            *synthetic.samples(arm=Arm.STOCK),
        ]
        made = summarise([synthetic.feature()], samples, synthetic.meta())
        runs.append(compare.Run("", made, tuple(samples)))
    both, _, _ = compare.changes(*runs, [synthetic.feature()])
    said = {
        (change.row.mode, change.row.arm): cause
        for change, cause in zip(both, compare.whose(both), strict=True)
        if (change.row.workload, change.row.metric) == ("zombies", "total")
    }
    assert said["stock", Arm.LULL] == "kernel" and not said["stock", Arm.STOCK]


def test_other_clocks_are_refused(tmp_path: Path, warnings: list[str]) -> None:
    old, new = make(tmp_path / "a"), make(tmp_path / "b", clock=Clock.WALL)
    with pytest.raises(UsageError, match="insn and wall"):
        compare.compare_runs(old, new, warnings.append)


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"base": "7.3"}, "base: 6.12 and 7.3"),
        ({"kernel": "6.12.118"}, "kernel: 6.12.117 and 6.12.118"),
        ({"accel": "kvm"}, "accel: tcg and kvm"),
        ({"cpus": 4}, "cpus: 2 and 4"),
        ({"digest": "e" * 64}, "lull kernel image: dddddddddddd and eeeeeeeeeeee"),
    ],
)
def test_what_makes_it_doubtful_is_said(
    tmp_path: Path, warnings: list[str], more: dict[str, str], what: str
) -> None:
    old = make(tmp_path / "a")
    new = make(tmp_path / "b", **more)  # type: ignore[arg-type]
    compare.compare_runs(old, new, warnings.append)
    assert len(warnings) == 1
    assert f"NOT THE SAME {what}" in warnings[0]


def test_another_host_matters_to_wall_only(tmp_path: Path) -> None:
    other = HOST.model_copy(update={"cpu": "B"})
    for clock, count in ((Clock.INSN, 0), (Clock.WALL, 1)):
        said: list[str] = []
        old = make(tmp_path / clock / "a", clock=clock)
        new = make(tmp_path / clock / "b", clock=clock, host=other)
        compare.compare_runs(old, new, said.append)
        assert len(said) == count, said


def test_rows_of_one_run_are_named(tmp_path: Path, warnings: list[str]) -> None:
    run = make(tmp_path / "run")
    whole = compare.read(run, [synthetic.feature()], warnings.append)
    rows = tuple(row for row in whole.summary.rows if row.mode != "quick")
    less = compare.Run(
        "less", whole.summary.model_copy(update={"rows": rows}), whole.samples
    )
    both, gone, added = compare.changes(whole, less, [synthetic.feature()])
    assert len(both) == len(rows)
    assert "walk zombies zombies=30000 total quick (lull kernel)" in gone
    assert added == []
    text = compare.render(whole, less, both, gone, added)
    assert "only in old: walk zombies zombies=30000 total quick" in text


def test_a_summary_alone_has_ratios_and_no_test(
    tmp_path: Path, warnings: list[str]
) -> None:
    file = make(tmp_path / "run") / "summary.json"
    lull = line(compare.compare_runs(file, file, warnings.append), "lull")
    assert lull[4:] == ["1.00", "?"]


def test_a_run_that_was_cut_short_is_read_from_its_samples(
    tmp_path: Path, warnings: list[str]
) -> None:
    whole, cut = make(tmp_path / "a"), make(tmp_path / "b")
    (cut / "summary.json").unlink()
    data = (cut / "results.jsonl").read_bytes()
    (cut / "results.jsonl").write_bytes(data[: len(data) * 3 // 4 - 30])
    text = compare.compare_runs(whole, cut / "results.jsonl", warnings.append)
    assert line(text, "lull")[4] == "1.00" or line(text, "lull")[-1] == "~"
    assert any("1 bad line" in text for text in warnings)
    assert any("cut short" in text for text in warnings)


def test_a_run_that_was_cut_short_is_held_to_what_its_base_promises(
    tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lull.ask.on_base.repo_root", lambda: tmp_path)
    there = tmp_path / "features/walk/bases/7.3.toml"
    there.parent.mkdir(parents=True)
    there.write_text(synthetic.UNKEPT)
    cost = {**synthetic.COST, "lull": 60.0}

    def broken(base: str) -> list[bool]:
        folder = make(tmp_path / base, cost, base=base)
        (folder / "summary.json").unlink()
        run = compare.read(folder, [synthetic.feature()], warnings.append)
        return [promise.broken for promise in run.summary.expectations]

    assert broken("6.12")[0]
    assert not broken("7.3")[0]


def test_what_is_no_run_is_a_usage_error(tmp_path: Path, warnings: list[str]) -> None:
    run = make(tmp_path / "run")
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "gone", tmp_path / "empty", run / "table.txt"):
        with pytest.raises(UsageError):
            compare.compare_runs(path, run, warnings.append)
    with pytest.raises(UsageError) as refused:
        compare.compare_runs(tmp_path / "empty", run, warnings.append)
    assert refused.value.hint == "name a run's folder below runs/"
    (run / "summary.json").write_text("{")
    with pytest.raises(LabError, match="not a summary"):
        compare.compare_runs(run, run, warnings.append)


def test_a_broken_env_is_said_and_passed_over(
    tmp_path: Path, warnings: list[str]
) -> None:
    run = make(tmp_path / "run")
    (run / "env.json").write_text("{}")
    compare.compare_runs(run, run, warnings.append)
    assert "env.json: cannot be read" in warnings[0]


def test_cases_that_differ_in_a_parameter_are_kept_apart(tmp_path: Path) -> None:
    """A row of the default mix must not take in the samples of another."""
    mixed = [
        s.model_copy(
            update={
                "params": {**s.params, "mix": "a:9"},
                "metrics": {k: v * 9 for k, v in s.metrics.items()},
            }
        )
        for s in synthetic.samples(range(8))
        if s.workload == "zombies"
    ]
    samples = [*synthetic.samples(range(8)), *mixed]
    made = summarise([synthetic.feature()], samples, synthetic.meta())
    (tmp_path / "results.jsonl").write_text(format_results(samples))
    (tmp_path / "summary.json").write_text(to_json(made))
    text = compare.compare_runs(tmp_path, tmp_path, lambda text: None)
    assert line(text, "lull")[2:5] == ["1.20ms", "1.20ms", "1.00"]
    run = compare.read(tmp_path, [synthetic.feature()], lambda text: None)
    both, _, _ = compare.changes(run, run, [synthetic.feature()])
    assert len({c.row.params.get("mix") for c in both}) == 2
    values = compare.values_of_row(run, both[0].row, synthetic.feature())
    assert len(values) == 8
    assert stats.median(values) == both[0].old
