# SPDX-License-Identifier: GPL-2.0-only
"""A run of real programs from its first boot to its folder; what boots is made up."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lull.errors import GuestFailed, LabError, LullError, TimedOut
from lull.guest.boot import Start
from lull.guest.image import Image
from lull.host.progress import open_progress
from lull.model import Clock
from lull.real import run as real
from lull.real.catalog import Scenario
from lull.real.plan import YEARS, Request
from lull.real.programs import files_of
from lull.real.run import measure
from lull.real.said import Failure, ScenarioFailed, failed
from lull.runs.samples import read_results
from lull.vm.accel import Decision
from lull.vm.machine import RESULTS
from tests.real.rooms import room
from tests.real.test_plan import LISTED

ERROR = {
    "t": "error",
    "where": "case 0, round 1, mode lull",
    "what": "it has died\nthe journal's last lines:\none",
}


@dataclass
class Guest:
    """Stands for the machine: what it is started with, and what it says."""

    fails: str = ""  #: the scenario whose every boot fails
    error: LullError | None = None  #: with this, or with the guest's own words
    drift: int = 0  #: added to each boot's figures
    boots: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    def boot(
        self,
        start: Start,
        job: str,
        folder: Path,
        files: Mapping[str, Path],
        limit_s: float,
    ) -> str:
        name = "walk"
        self.limits.append(files["limit"].read_text())
        lines: list[dict[str, object]] = [
            {"t": "hello", "kernel": "6.12.117-lull-cloud-amd64", "cpus": 2}
        ]
        case = 0
        for line in files["plan"].read_text().splitlines():
            word, *rest = line.split()
            if word == "case":
                case, name = int(rest[0]), rest[1]
                lines.append(
                    {"t": "case", "case": case, "feature": name, "workload": rest[2]}
                )
                params: dict[str, object] = {}
                lines[-1]["params"] = params
            elif word == "param":
                params[rest[0]] = int(rest[1]) if rest[1].isdigit() else rest[1]
            elif word == "order":
                for i, mode in enumerate(rest):
                    cost = {"stock": 1000, "quick": 900, "lull": 100}[mode]
                    cost += start.seed - YEARS + i + self.drift * len(self.boots)
                    lines.append({"t": "sample", "case": case, "i": i, "mode": mode})
                    lines[-1]["metrics"] = {"total": cost}
        self.boots.append(f"{name} {start.seed - YEARS}")
        fails = name == self.fails
        if fails:
            lines = [*lines[:3], ERROR]
        lines.append({"t": "done", "status": int(fails)})
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULTS).write_text("".join(json.dumps(x) + "\n" for x in lines))
        (folder / "console.log").write_text(f"console of {name}\n")
        if fails:
            raise self.error or GuestFailed("the probe failed", where=str(folder))
        return ""


@pytest.fixture
def guest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Guest:
    made = Guest()
    image = Image(tmp_path / "image", "key")
    image.directory.mkdir()
    for path in (image.disk, image.kernel, image.initrd):
        path.write_bytes(b"x")
    image.packages.write_text(LISTED)
    monkeypatch.setattr(real, "boot", made.boot)
    monkeypatch.setattr(real, "image_of", lambda request, progress: image)
    monkeypatch.setattr(real, "require_qemu", lambda: None)
    monkeypatch.setattr(real, "qemu_version", lambda: "QEMU 0")
    monkeypatch.setattr(real, "choose", lambda kernel: Decision("tcg", "told so"))
    monkeypatch.setattr(real, "guest_command", lambda *words: ["qemu"])
    monkeypatch.chdir(tmp_path)
    return made


def ask(tmp_path: Path, clock: Clock = Clock.WALL, seeds: int = 2) -> Request:
    return Request(
        scenarios=(room(tmp_path, "amble"), room(tmp_path)),
        base="6.12",
        clock=clock,
        quick=False,
        seeds=tuple(range(1, seeds + 1)),
    )


def test_a_run_leaves_the_folder_of_any_run(guest: Guest, tmp_path: Path) -> None:
    with open_progress() as progress:
        result = measure(ask(tmp_path), progress)
    assert guest.boots == ["amble 1", "walk 1", "amble 2", "walk 2"]
    names = {path.name for path in result.folder.iterdir()}
    assert names == {
        *("results.jsonl", "summary.json", "table.txt", "answer.txt", "env.json"),
        *("console.log", "repro.sh", "packages.txt"),
    }
    rows = {
        (r.feature, r.workload, r.mode): r
        for r in result.summary.rows
        if r.metric == "total"
    }
    row = rows["walk", "zombies", "lull"]
    assert row.ratio is not None and row.ratio < 0.2
    samples, bad = read_results(result.folder / "results.jsonl")
    assert not bad.count and {s.boot for s in samples} == {0, 1, 2, 3}
    env = json.loads((result.folder / "env.json").read_text())
    assert env["kernels"]["lull"]["version"] == "6.12.117-lull-cloud-amd64"
    assert "lull guest measure amble walk" in (result.folder / "repro.sh").read_text()
    answer = (result.folder / "answer.txt").read_text()
    assert "walk: 30,000 dead children" in answer
    assert "lull guest measure" in answer and "--check" not in answer
    assert (result.folder / "packages.txt").read_text() == LISTED


def test_what_fails_is_named_and_the_others_go_on(guest: Guest, tmp_path: Path) -> None:
    guest.fails = "amble"
    with open_progress() as progress:
        result = measure(ask(tmp_path), progress)
    assert guest.boots == ["amble 1", "walk 1", "walk 2"]
    assert {row.feature for row in result.summary.rows} == {"walk"}
    (failure,) = result.failures
    text = str(failure.error)
    assert text.startswith("amble, case 0, round 1, mode lull: it has died\n")
    assert "    the journal's last lines:\n    one" in text
    # Nothing that such a boot has measured counts, and it is there to be looked at.
    assert "boot-000-lull" in text and (result.folder / "boot-000-lull").is_dir()
    assert "console of amble" in (result.folder / "console.log").read_text()
    assert "it has died" in (result.folder / "table.txt").read_text()


def test_a_program_that_does_not_compile_is_of_its_own_scenario(
    guest: Guest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(one: Scenario) -> Mapping[str, Path]:
        if one.name == "amble":
            raise LabError("dog.c does not compile")
        return files_of(one)

    monkeypatch.setattr(real, "files_of", files)
    with open_progress() as progress:
        result = measure(ask(tmp_path), progress)
    assert guest.boots == ["walk 1", "walk 2"]
    assert [str(failure.error) for failure in result.failures] == [
        "dog.c does not compile"
    ]


def test_a_guest_knows_how_long_it_has(
    guest: Guest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real, "host_factor", lambda: 2.0)
    limit = room(tmp_path / "more").guest.limit_s
    with open_progress() as progress:
        for clock, want in ((Clock.WALL, limit * 1.6), (Clock.INSN, limit * 0.8)):
            measure(ask(tmp_path / clock, clock, 1), progress)
            assert {float(text) for text in guest.limits} == {want}
            guest.limits.clear()


def test_where_nothing_was_measured_the_run_fails(guest: Guest, tmp_path: Path) -> None:
    guest.fails = "walk"
    guest.error = TimedOut("it hung")
    both = ask(tmp_path)
    request = dataclasses.replace(both, scenarios=both.scenarios[1:])
    with open_progress() as progress, pytest.raises(ScenarioFailed) as caught:
        measure(request, progress)
    assert caught.value.exit_code == 124 and "it hung" in str(caught.value)


def test_the_status_is_the_failures_own_where_they_agree() -> None:
    hung, died = Failure("a", TimedOut("x")), Failure("b", GuestFailed("y"))
    assert failed([hung], ["c"]).exit_code == 124
    assert failed([hung, hung], []).exit_code == 124
    assert failed([hung, died], []).exit_code == 125
    assert "measured to the end: c" in str(failed([hung], ["c"]))


def test_on_insn_the_first_boot_is_made_twice(
    guest: Guest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_progress() as progress:
        result = measure(ask(tmp_path, Clock.INSN), progress)
    assert guest.boots == [
        *("amble 1", "amble 1", "walk 1", "walk 1", "amble 2", "walk 2")
    ]
    assert capsys.readouterr().err.count("booted twice") == 2
    table = (result.folder / "table.txt").read_text()
    assert "walk, seed 1, booted twice: every sample is the same" in table
    assert len(read_results(result.folder / "results.jsonl")[0]) == 4 * 2 * 3


def test_it_says_what_is_not_the_same(guest: Guest, tmp_path: Path) -> None:
    guest.drift = 1
    with open_progress() as progress:
        result = measure(ask(tmp_path, Clock.INSN), progress)
    table = (result.folder / "table.txt").read_text()
    assert "walk, seed 1, booted twice: not the same in total" in table
