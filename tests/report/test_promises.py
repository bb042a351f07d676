# SPDX-License-Identifier: GPL-2.0-only
"""--ktap: the promises of a run, for a CI."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.ask.plan import Request
from lull.cli import app, main
from lull.errors import LabError, UsageError
from lull.host.progress import Progress
from lull.model import Clock, Promise, Summary
from lull.report.ktap import Point, parse, write
from lull.report.promises import points_of
from lull.report.summary import KEPT, summarise
from lull.runs.experiment import RunResult
from tests import synthetic


def made(clock: Clock = Clock.INSN, lull: float = 40.0) -> Summary:
    samples = synthetic.samples(cost={**synthetic.COST, "lull": lull}, noise=0)
    meta = synthetic.meta(clock, control=False)
    return summarise([synthetic.feature()], samples, meta)


TEXT = "total lull <= 0.125 of stock at 30000 zombies"
MACHINE = "6.12.117, tcg, 2 CPUs"


def test_a_feature_is_a_test_and_its_expectations_are_subtests() -> None:
    kept = Point(TEXT, diagnostics=("measured 0.1, aim 0.08",))
    whole = Point("walk (insn)", diagnostics=(MACHINE,), subtests=(kept,))
    assert points_of(made()) == (whole,)
    broken = Point(TEXT, ok=False, diagnostics=("measured 0.5, aim 0.08",))
    (point,) = points_of(made(lull=200.0))
    assert (point.ok, point.subtests) == (False, (broken,))


def test_a_base_has_some_of_a_feature_itself_and_lacks_another() -> None:
    update = {"native": {"walk": "it skips"}, "absent": {"swim": "no water"}}
    here, gone = points_of(made().model_copy(update=update))
    assert here.diagnostics == (MACHINE, "in this kernel: it skips")
    assert gone == Point("swim (insn)", skipped="not on this base: no water")
    assert "ok 2 swim (insn) # SKIP not on this base: no water\n" in write((here, gone))


def test_one_that_is_known_not_to_be_kept_has_failed_as_expected() -> None:
    summary = made(lull=200.0)
    (promise,) = summary.expectations
    known = promise.model_copy(update={"unkept": "it is slow there"})
    (point,) = points_of(summary.model_copy(update={"expectations": (known,)}))
    (inner,) = point.subtests
    assert (point.ok, inner.ok, inner.expected) == (True, True, "it is slow there")
    assert "# XFAIL it is slow there\n" in write((point,))
    # Where it is kept its name is the same, and that is said.
    kept = promise.model_copy(update={"ok": True, "text": promise.text + KEPT})
    (point,) = points_of(summary.model_copy(update={"expectations": (kept,)}))
    assert (point.ok, point.subtests[0].name) == (True, promise.text)
    assert KEPT in point.subtests[0].diagnostics[0]


def test_what_was_not_measured_has_failed_under_its_name() -> None:
    (promise,) = made().expectations
    summary = made().model_copy(
        update={
            "expectations": (
                promise.model_copy(
                    update={
                        "text": f"{promise.text}: not measured",
                        "measured": None,
                        "ok": False,
                        "aim": None,
                    }
                ),
            )
        }
    )
    ((inner,),) = [point.subtests for point in points_of(summary)]
    assert inner == Point(TEXT, ok=False, diagnostics=("not measured",))


def test_a_feature_without_a_promise_on_this_clock_is_skipped() -> None:
    (point,) = points_of(made(Clock.WALL))
    assert (point.name, point.ok, point.subtests) == ("walk (wall)", True, ())
    assert point.skipped


def test_each_promise_is_its_features() -> None:
    both = made().model_copy(
        update={
            "rows": (),
            "expectations": (
                Promise(text="a", ok=True, measured=1, feature="freeze"),
                Promise(text="b", ok=False, measured=1, feature="thaw"),
                Promise(text="c", ok=True, measured=1, feature="freeze"),
            ),
        }
    )
    names = {p.name: [inner.name for inner in p.subtests] for p in points_of(both)}
    assert names == {"freeze (insn)": ["a", "c"], "thaw (insn)": ["b"]}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Clock]:
    """The command runs, and breaks its promise; what clocks it ran on."""
    ran: list[Clock] = []

    def run(request: Request, progress: Progress) -> RunResult:
        ran.append(request.clock)
        return RunResult(made(request.clock, lull=200.0), "the table", tmp_path)

    monkeypatch.setattr("lull.runs.cli.run", run)
    return ran


@pytest.mark.usefixtures("runs")
def test_it_is_written_where_a_promise_is_broken(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "all.ktap"
    words = ["lull", "run", "freeze", "--check", "--ktap", str(file)]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert parse(file.read_text("ascii")) == points_of(made(lull=200.0))
    assert "Linux 6.12.117" in capsys.readouterr().out


def test_two_clocks_are_one_file(tmp_path: Path, runs: list[Clock]) -> None:
    file = tmp_path / "all.ktap"
    done = CliRunner().invoke(app, ["run", "--quick", "--ktap", str(file)])
    assert done.exit_code == 0
    assert runs == [Clock.INSN, Clock.WALL]
    names = [point.name for point in parse(file.read_text("ascii"))]
    assert names == ["walk (insn)", "walk (wall)"]


@pytest.mark.usefixtures("runs")
def test_standard_output_has_nothing_else(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", "--quick", "--ktap", "-"])
    assert len(parse(done.stdout)) == 2
    assert done.stdout.startswith("KTAP version 1\n1..2\n")
    assert "the table" not in done.stdout
    words = ["run", "--json", str(tmp_path / "summary.json"), "--ktap", "-"]
    assert CliRunner().invoke(app, words).stdout.startswith("KTAP")
    assert (tmp_path / "summary.json").read_text().startswith("{")


def test_two_things_are_not_both_standard_output(runs: list[Clock]) -> None:
    done = CliRunner().invoke(app, ["run", "--json", "-", "--ktap", "-"])
    assert isinstance(done.exception, UsageError)
    assert not runs


@pytest.mark.usefixtures("runs")
def test_a_file_that_cannot_be_written_says_where_the_run_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = ["run", "--ktap", str(tmp_path / "file" / "all.ktap")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, LabError)
    assert str(tmp_path / "summary.json") in done.exception.hint
