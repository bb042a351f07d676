# SPDX-License-Identifier: GPL-2.0-only
"""What ``lull run`` asks for and prints; what boots is made up."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from lull.ask.plan import Request
from lull.ask.presence import select_on
from lull.cli import app
from lull.errors import CannotRun, ExpectationMissed, GuestFailed, UsageError
from lull.host.progress import Progress
from lull.kernels.bases import Base
from lull.model import Clock, Feature
from lull.report.compare import Run
from lull.report.summary import summarise
from lull.runs.experiment import RunResult
from tests import synthetic
from tests.ask.test_steps import feature
from tests.page.runs import env, folder
from tests.report.test_ablation import measured


class Lab:
    """Stands for what builds and boots: remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.fails: Clock | None = None
        self.cost = synthetic.COST
        self.under: Path | None = None  #: where runs leave a folder, if they do

    def run(self, request: Request, progress: Progress) -> RunResult:
        self.asked.append(request)
        if request.clock is self.fails:
            raise GuestFailed("no")
        feature = synthetic.feature()
        samples = synthetic.samples(request.seeds, cost=self.cost)
        meta = synthetic.meta(
            request.clock, quick=request.quick, control=False, base=request.base
        )
        made = summarise([feature], samples, meta)
        place = Path(f"runs/{request.clock}")
        if self.under is not None:
            alone = request.base == self.asked[0].base
            second = not alone or sum(r.clock is request.clock for r in self.asked) > 1
            place = self.under / f"{request.clock}{'-2' * second}"
            name = str(place)
            folder(place, Run(name, made, tuple(samples), env(request.clock)))
        return RunResult(made, f"TABLES {request.clock}\n", place)


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    lab = Lab()
    monkeypatch.setattr("lull.runs.cli.run", lab.run)
    monkeypatch.setattr(
        "lull.ask.requests.select_on", lambda base, names, modes: (synthetic.feature(),)
    )
    return lab


def lull(*words: str) -> Done:
    return CliRunner().invoke(app, ["run", *words])


def test_it_prints_the_answer_and_says_where_the_tables_are(lab: Lab) -> None:
    done = lull("walk")
    assert done.exception is None
    assert "walk: 30,000 dead children" in done.stdout
    assert "  runs/insn\n" in done.stdout
    assert "TABLES" not in done.stdout
    assert len(done.stdout.splitlines()) <= 40


def test_what_a_base_does_by_itself_is_run_where_it_is_named(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lull.ask.requests.select_on", select_on)
    lull("devices", "--base", "7.3")
    lull("devices", "--base", "7.3", "--mode", "links")
    lull("devices", "--base", "6.12")
    modes = [request.features[0].mode_names for request in lab.asked]
    assert modes == [
        ("stock", "lull"),
        ("stock", "links", "lull"),
        ("stock", "parents", "links", "lull"),
    ]


def test_ablate_prints_what_each_step_brings_before_the_answer(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(request: Request, progress: Progress) -> RunResult:
        assert request.ablate
        return RunResult(measured(), "TABLES", Path("runs/insn"))

    stepped = feature()
    monkeypatch.setattr("lull.runs.cli.run", run)
    monkeypatch.setattr(
        "lull.ask.requests.select_on", lambda base, names, modes: (stepped,)
    )
    done = lull("walk", "--ablate")
    assert done.exception is None
    table, _, answer = done.stdout.partition("shown.\n")
    assert table.startswith("walk: what each step of lull brings to total")
    assert "walk: 30,000 dead children" in answer


def test_it_ends_by_saying_where_the_page_is(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of both clocks in the folder that was named, of one in its own."""
    monkeypatch.setattr("lull.page.command.features", lambda: (synthetic.feature(),))
    lab.under = tmp_path
    done = lull("walk", "--quick", "-o", str(tmp_path))
    assert done.exception is None
    assert done.stdout.splitlines()[-1] == f"  {tmp_path / 'report.html'}"
    assert len(done.stdout.splitlines()) <= 40
    page = (tmp_path / "report.html").read_text("utf-8")
    assert 'class="factor better"' in page and ">wall<" in page
    done = lull("walk", "-o", str(tmp_path / "other"))
    assert done.stdout.splitlines()[-1] == f"  {tmp_path / 'insn-2' / 'report.html'}"


def test_a_page_that_cannot_be_made_costs_no_answer(lab: Lab) -> None:
    done = lull("walk")
    assert done.exception is None
    assert "walk: 30,000 dead children" in done.stdout
    assert "no page was made" in done.stderr
    assert "browser" not in done.stdout


def test_a_machine_that_cannot_draw_can_measure(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr("lull.page.command.features", lambda: (synthetic.feature(),))
    lab.under = tmp_path
    done = lull("walk")
    assert done.exception is None
    assert "vl-convert-python is missing" in done.stderr


def test_the_tables_are_printed_where_they_are_asked_for(lab: Lab) -> None:
    done = lull("walk", "--table")
    assert done.stdout.startswith("TABLES insn\n")
    assert "walk: 30,000 dead children" in done.stdout


def test_a_quick_run_of_two_clocks_has_one_answer(lab: Lab) -> None:
    done = lull("walk", "--quick")
    assert [r.clock for r in lab.asked] == [Clock.INSN, Clock.WALL]
    assert done.stdout.count("walk: 30,000 dead children") == 1
    lines = [line for line in done.stdout.splitlines() if "0.100 [" in line]
    assert [line.split()[0] for line in lines] == ["insn", "wall"]
    assert "  runs/insn\n  runs/wall\n" in done.stdout


def test_what_was_measured_before_a_failure_is_printed(lab: Lab) -> None:
    lab.fails = Clock.WALL
    done = lull("walk", "--quick")
    assert isinstance(done.exception, GuestFailed)
    assert "walk: 30,000 dead children" in done.stdout
    lab.fails = Clock.INSN
    assert lull("walk", "--quick").stdout == ""


def test_json_on_stdout_is_alone_there(lab: Lab) -> None:
    done = lull("walk", "--table", "--json", "-")
    assert json.loads(done.stdout)["schema"] == 1


def test_a_broken_promise_is_an_error_where_it_is_checked(lab: Lab) -> None:
    lab.cost = {**lab.cost, "lull": 400.0}
    done = lull("walk")
    assert done.exception is None
    assert "promise BROKEN" in done.stdout
    done = lull("walk", "--check")
    assert isinstance(done.exception, ExpectationMissed)
    assert "promise BROKEN" in done.stdout


@pytest.mark.parametrize(
    ("words", "control"),
    [
        ((), True),
        (("--no-control",), False),
        (("--quick", "--clock", "insn"), False),
        (("--quick", "--clock", "insn", "--control"), True),
    ],
)
def test_a_quick_run_boots_one_kernel(
    lab: Lab, words: Sequence[str], control: bool
) -> None:
    assert lull("walk", *words).exception is None
    (request,) = lab.asked
    assert request.control is control


def test_a_clock_that_measures_nothing_is_left_out(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what nobody named: who asks for it is told."""
    feature = synthetic.feature()
    cases = tuple(c.model_copy(update={"clock": Clock.INSN}) for c in feature.cases)
    only = feature.model_copy(update={"cases": cases})
    monkeypatch.setattr(
        "lull.ask.requests.select_on", lambda base, names, modes: (only,)
    )
    assert lull("walk", "--quick").exception is None
    assert [r.clock for r in lab.asked] == [Clock.INSN]
    done = lull("walk", "--quick", "--clock", "wall")
    assert len(lab.asked) == 1 and isinstance(done.exception, UsageError)
    assert "nothing is measured of walk on wall in a quick run" in str(done.exception)


def test_the_folders_of_two_clocks_are_in_the_one_named(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lull("walk", "--quick", "-o", "out")
    assert [r.output for r in lab.asked] == [Path("out/insn"), Path("out/wall")]


def test_a_folder_that_has_something_in_it_is_no_run_s(
    lab: Lab, tmp_path: Path
) -> None:
    """Nor are two clocks' below it, and nothing is made there."""
    taken = tmp_path / "wall"
    taken.mkdir()
    (taken / "summary.json").write_text("{}")
    done = lull("walk", "--quick", "-o", str(tmp_path))
    assert isinstance(done.exception, UsageError) and not lab.asked
    assert f"{tmp_path}: it is not empty" in str(done.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["wall"]
    done = lull("walk", "-o", str(taken / "summary.json"))
    assert isinstance(done.exception, UsageError) and not lab.asked


def test_check_that_has_nothing_to_check_is_no_success(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(request: Request, progress: Progress) -> RunResult:
        done = lab.run(request, progress)
        return replace(
            done, summary=done.summary.model_copy(update={"expectations": ()})
        )

    assert lull("walk", "--check").exception is None
    monkeypatch.setattr("lull.runs.cli.run", run)
    assert lull("walk").exception is None
    done = lull("walk", "--check")
    assert isinstance(done.exception, CannotRun)
    assert "nothing is promised of what was measured" in str(done.exception)


def test_a_seed_that_is_no_date_is_refused_before_anything_is_built(lab: Lab) -> None:
    last = 10 * 365 * 24 * 3600
    assert lull("walk", "--seed", str(last), "--seeds", "1").exception is None
    for words in (["--seed", str(last + 1), "--seeds", "1"], ["--seed", str(last)]):
        done = lull("walk", *words)
        assert isinstance(done.exception, UsageError)
        assert f"a seed is 0 to {last}" in str(done.exception)
    assert len(lab.asked) == 1


def test_a_file_that_is_asked_for_twice_is_refused(lab: Lab, tmp_path: Path) -> None:
    file = str(tmp_path / "x")
    done = lull("walk", "--json", file, "--ktap", file)
    assert isinstance(done.exception, UsageError) and not lab.asked


def several(lab: Lab, place: Path, *words: str) -> Done:
    """On two bases, whose folders are read again."""
    lab.under = place
    return lull("walk", "--base", "6.12", "--base", "7.3", *words)


def test_bases_go_side_by_side_each_in_its_folder(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (synthetic.feature(),)
    monkeypatch.setattr("lull.ask.presence.select", lambda names: one)
    done = several(lab, tmp_path, "-o", str(tmp_path / "out"))
    assert done.exception is None, done.output
    assert [request.base for request in lab.asked] == ["6.12", "7.3"]
    assert [request.output for request in lab.asked] == [
        tmp_path / "out" / "6.12",
        tmp_path / "out" / "7.3",
    ]
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    # A folder may have a long name.
    assert all(len(line) <= 80 for line in lines if str(tmp_path) not in line)
    (title,) = [n for n, line in enumerate(lines) if line.startswith("walk: 30,000")]
    rows = [line.split() for line in lines[title + 1 : title + 5]]
    assert [row[:2] for row in rows] == [
        *(["6.12", "stock"], ["6.12", "lull"]),
        *(["7.3", "stock"], ["7.3", "lull"]),
    ]
    assert len(rows[0]) == 3 and rows[1][3] == rows[3][3] == "0.100"
    assert rows[2][3] == "1.00" and rows[2][-1] == "~"
    assert f"lull compare {tmp_path}/insn {tmp_path}/insn-2" in done.stdout


def test_what_bases_say_is_kept_with_a_page_of_each(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (synthetic.feature(),)
    monkeypatch.setattr("lull.ask.presence.select", lambda names: one)
    monkeypatch.setattr("lull.page.command.features", lambda: one)
    done = several(lab, tmp_path)
    assert done.exception is None, done.output
    assert (tmp_path / "insn" / "beside.txt").read_text() == done.stdout
    for name in ("insn", "insn-2"):
        assert "<html" in (tmp_path / name / "report.html").read_text("utf-8")


def test_the_first_base_may_lack_a_feature(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was asked for the names of those that there are."""
    walk = synthetic.feature()
    other = walk.model_copy(update={"name": "other"})

    def chosen(base: Base, names: object, modes: object) -> tuple[Feature, ...]:
        return (other,) if base.name == "6.1" else (walk, other)

    asked: list[tuple[str, ...]] = []

    def tell(
        results: object, bases: object, found: tuple[Feature, ...], *_: object
    ) -> str:
        asked.append(tuple(feature.name for feature in found))
        return ""

    monkeypatch.setattr("lull.ask.requests.select_on", chosen)
    monkeypatch.setattr("lull.runs.cli.tell", tell)
    done = lull("--base", "6.1", "--base", "7.3")
    assert done.exception is None, done.output
    assert asked == [("walk", "other")]


def test_of_two_clocks_runs_of_one_are_compared(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (synthetic.feature(),)
    monkeypatch.setattr("lull.ask.presence.select", lambda names: one)
    done = several(lab, tmp_path, "--quick")
    assert done.exception is None, done.output
    pairs = [
        line.split()[-2:] for line in done.stdout.splitlines() if "compare" in line
    ]
    assert pairs == [
        [f"{tmp_path}/{clock}", f"{tmp_path}/{clock}-2"] for clock in ("insn", "wall")
    ]


def test_what_cannot_be_put_side_by_side_hides_no_failure(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (synthetic.feature(),)
    monkeypatch.setattr("lull.ask.presence.select", lambda names: one)
    lab.fails = Clock.WALL
    done = lull("walk", "--base", "6.12", "--base", "7.3", "--quick")
    assert isinstance(done.exception, GuestFailed)
    assert "they cannot be put side by side" in done.stderr


def test_json_and_ablate_are_of_one_base(lab: Lab, tmp_path: Path) -> None:
    for words in (("--json", "-"), ("--ablate",), ("--ktap", "-")):
        done = several(lab, tmp_path, *words)
        assert isinstance(done.exception, UsageError)
    assert not lab.asked
