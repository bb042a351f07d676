# SPDX-License-Identifier: GPL-2.0-only
"""``lull run --ktap FILE`` where not all runs come back; what boots is made up."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.ask.plan import Request
from lull.cli import main
from lull.errors import CannotRun, GuestPanic, UsageError
from lull.host.progress import Progress
from lull.model import Clock, Feature
from lull.report.ktap import Point, parse
from lull.report.promises import points_of, unjudged
from lull.report.summary import summarise
from lull.runs.experiment import RunResult
from tests import synthetic

PANIC = GuestPanic("a panic\nof two lines", where="boot 3", hint="look")
SAID = "boot 3: a panic"  #: its first line


class Lab:
    """Runs of a made-up feature; some raise."""

    def __init__(self) -> None:
        self.features: tuple[Feature, ...] = (synthetic.feature(),)
        self.raises: dict[Clock, BaseException] = {}

    def run(self, request: Request, progress: Progress) -> RunResult:
        if request.clock in self.raises:
            raise self.raises[request.clock]
        samples = synthetic.samples(request.seeds, noise=0)
        meta = synthetic.meta(request.clock, control=False)
        made = summarise(self.features, samples, meta)
        return RunResult(made, "", Path(f"runs/{request.clock}"))


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lab:
    """What the command asks; it is called where nothing is."""
    lab = Lab()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lull.runs.cli.run", lab.run)
    monkeypatch.setattr("lull.ask.requests.absent_from", lambda base: {})
    monkeypatch.setattr(
        "lull.ask.requests.select_on", lambda base, names, modes: lab.features
    )
    return lab


def ended(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """The status that ``lull run --check --quick`` exits with."""
    monkeypatch.setattr("sys.argv", ["lull", "run", "--check", "--quick", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def written() -> tuple[Point, ...]:
    return parse(Path("all.ktap").read_text("ascii"))


def failed(name: str, *said: str) -> Point:
    return Point(name, ok=False, diagnostics=said)


def test_what_came_back_is_judged_and_what_did_not_has_failed(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.raises[Clock.WALL] = PANIC
    assert ended(monkeypatch, "--ktap", "all.ktap") == 255
    judged, lost = written()
    assert judged.name == "walk (insn)"
    assert judged.ok and judged.subtests
    assert lost == failed("walk (wall)", SAID)


def test_what_had_not_begun_has_failed_too(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those who have nothing on a clock."""
    walk = synthetic.feature()
    cases = tuple(c.model_copy(update={"clock": Clock.INSN}) for c in walk.cases)
    swim = walk.model_copy(update={"name": "swim", "cases": cases})
    lab.features = (walk, swim)
    lab.raises[Clock.INSN] = PANIC
    assert ended(monkeypatch, "--ktap", "all.ktap") == 255
    assert written() == (
        failed("walk (insn)", SAID),
        failed("swim (insn)", SAID),
        failed("walk (wall)", "not begun, after:", SAID),
    )


def test_a_feature_that_is_not_on_the_base_is_skipped_there_too() -> None:
    samples, meta = synthetic.samples(), synthetic.meta(absent={"swim": "no water"})
    names = [p.name for p in points_of(summarise([synthetic.feature()], samples, meta))]
    lost = unjudged(["walk"], Clock.INSN, {"swim": "no water"}, ["it hung"])
    assert lost == (
        failed("walk (insn)", "it hung"),
        Point("swim (insn)", skipped="not on this base: no water"),
    )
    assert [point.name for point in lost] == names


def test_the_error_is_told_as_without_a_file(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.raises[Clock.INSN] = PANIC
    said = []
    for words in ((), ("--ktap", "all.ktap"), ("--ktap", "-")):
        assert ended(monkeypatch, *words) == 255
        said.append(capsys.readouterr())
    assert {each.err for each in said} == {f"lull: {PANIC}\n"}
    assert [each.out for each in said] == ["", "", Path("all.ktap").read_text("ascii")]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (SystemExit(143), "SystemExit: 143"),
        (ValueError("\n odd\nmore"), "ValueError: odd"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_whatever_ended_it_is_said(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, error: BaseException, why: str
) -> None:
    lab.raises[Clock.INSN] = error
    assert ended(monkeypatch, "--clock", "insn", "--ktap", "all.ktap") in (125, 143)
    assert written() == (failed("walk (insn)", why),)


def test_what_could_not_begin_leaves_the_last_file(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("all.ktap").write_text("of the last run")
    lab.raises[Clock.INSN] = UsageError("no such thing")
    assert ended(monkeypatch, "--ktap", "all.ktap") == 2
    lab.raises[Clock.INSN] = CannotRun("there is no QEMU")
    walk = synthetic.feature()
    lab.features = (walk.model_copy(update={"cases": ()}),)
    assert ended(monkeypatch, "--ktap", "all.ktap") == 2
    assert Path("all.ktap").read_text() == "of the last run"
    # Where something is missing on this machine the run was to be.
    lab.features = (walk,)
    assert ended(monkeypatch, "--clock", "insn", "--ktap", "all.ktap") == 4
    assert written() == (failed("walk (insn)", "there is no QEMU"),)


def test_a_file_that_cannot_be_written_hides_no_failure(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    lab.raises[Clock.INSN] = PANIC
    assert ended(monkeypatch, "--ktap", "file/all.ktap") == 255
    assert capsys.readouterr().err == (
        f"warning: file/all.ktap cannot be written: Not a directory\nlull: {PANIC}\n"
    )
