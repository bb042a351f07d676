# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lull.errors import LabError, UsageError
from lull.host.files import write_file
from lull.model import Arm, Clock
from lull.report.summary import summarise
from lull.runs import rundir
from lull.runs.rundir import Env, KernelFacts, RunDir
from lull.runs.samples import read_results
from tests import synthetic
from tests.repository import git

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ENV = Env(
    created="2026-01-02T03:04:05Z",
    base="6.12",
    clock=Clock.INSN,
    accel="tcg",
    cpus=2,
    seeds=(0, 1),
    features=("walk",),
    kernels={
        "lull": KernelFacts(arm=Arm.LULL, version="6.12.117", digest="ab" * 32),
    },
    qemu="QEMU emulator version 7.2.15",
    commands=(("lull", "run", "walk", "--clock", "insn", "-o", "a b; $(rm x)"),),
    commit="0123abcd",
    host=rundir.host(),
)


def make(tmp_path: Path) -> RunDir:
    return RunDir.create(["walk"], Clock.INSN, tmp_path / "run")


def test_the_default_place_says_when_what_and_by_which_clock(tmp_path: Path) -> None:
    made = [
        RunDir.create(["walk", "thaw"], Clock.WALL, now=NOW, under=tmp_path)
        for _ in range(3)
    ]
    name = "20260102T030405Z-walk-thaw-wall"
    assert [run.path for run in made] == [
        tmp_path / "runs" / name,
        tmp_path / "runs" / f"{name}-2",
        tmp_path / "runs" / f"{name}-3",
    ]


def test_a_name_that_is_taken_is_not_written_to(tmp_path: Path) -> None:
    wanted = tmp_path / "mine"
    wanted.mkdir()
    assert RunDir.create([], Clock.INSN, wanted).path == wanted  # empty: not taken
    (wanted / "notes").write_text("keep")
    with pytest.raises(UsageError, match="it is not empty") as error:
        RunDir.create([], Clock.INSN, wanted)
    assert "-o DIR" in error.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_place_that_cannot_be_says_what_to_name_instead(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as error:
        RunDir.create([], Clock.INSN, tmp_path / "file" / "run")
    assert "-o DIR" in error.value.hint
    with pytest.raises(LabError) as failed:
        RunDir.create([], Clock.INSN, under=tmp_path / "file")
    assert "-o DIR" in failed.value.hint


def test_results_are_there_after_every_boot(tmp_path: Path) -> None:
    run = make(tmp_path)
    first, second = synthetic.samples(range(1)), synthetic.samples(range(1, 2))
    run.append(first)
    assert list(read_results(run.path / "results.jsonl")[0]) == first
    run.append(second)
    run.append([])
    assert list(read_results(run.path / "results.jsonl")[0]) == first + second


def test_a_line_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    run = make(tmp_path)
    samples = synthetic.samples(range(1))
    (run.path / "results.jsonl").write_text('{"arm":"lu')
    run.append(samples)
    read, bad = read_results(run.path / "results.jsonl")
    assert (list(read), bad.count) == (samples, 1)


def test_consoles_are_kept_as_they_are_under_a_header(tmp_path: Path) -> None:
    run = make(tmp_path)
    run.append_console("boot 0", b"Linux \xff\n")
    run.append_console("boot 1", b"cut sho")
    run.append_console("boot 2", b"")
    assert (run.path / "console.log").read_bytes() == (
        b"==== boot 0 ====\nLinux \xff\n==== boot 1 ====\ncut sho\n==== boot 2 ====\n"
    )


def test_a_boots_folder_goes_when_it_went_well_and_stays_when_not(
    tmp_path: Path,
) -> None:
    run = make(tmp_path)
    with run.boot_folder(0, Arm.LULL, 7) as place:
        (place / "console.log").write_text("fine\n")
    assert not place.exists()
    with (
        pytest.raises(ValueError, match="panic"),
        run.boot_folder(1, Arm.STOCK, 8) as place,
    ):
        (place / "console.log").write_text("oops\n")
        raise ValueError("panic")
    assert (place / "console.log").exists()
    assert (run.path / "console.log").read_text() == (
        "==== boot 0, lull kernel, seed 7 ====\nfine\n"
        "==== boot 1, stock kernel, seed 8 ====\noops\n"
    )


def test_the_end_of_a_run_leaves_all_files(tmp_path: Path) -> None:
    run = make(tmp_path)
    samples = synthetic.samples()
    run.append(samples)
    run.append_console("boot 0", b"")
    summary = summarise([synthetic.feature()], samples, synthetic.meta())
    run.finish(summary, "the table\n", "the answer\n", ENV)
    assert sorted(path.name for path in run.path.iterdir()) == [
        "answer.txt",
        "console.log",
        "env.json",
        "repro.sh",
        "results.jsonl",
        "summary.json",
        "table.txt",
    ]
    env = Env.model_validate_json((run.path / "env.json").read_bytes())
    assert env == ENV
    assert (run.path / "table.txt").read_text() == "the table\n"
    assert (run.path / "answer.txt").read_text() == "the answer\n"
    assert (run.path / "summary.json").stat().st_mode & 0o777 == 0o644


def test_the_script_runs_the_commands_as_they_were(tmp_path: Path) -> None:
    run = make(tmp_path)
    run.write_env(ENV)
    script = run.path / "repro.sh"
    assert os.access(script, os.X_OK)
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    fake = bin_ / "lull"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    path = f"{bin_}:{os.environ['PATH']}"
    done = subprocess.run(
        [script], env={"PATH": path}, capture_output=True, text=True, check=True
    )
    assert tuple(done.stdout.splitlines()) == ENV.commands[0][1:]
    text = script.read_text()
    assert "abab" in text and "0123abcd" in text and "7.2.15" in text


def test_nothing_in_a_comment_becomes_a_command() -> None:
    env = ENV.model_copy(update={"qemu": "7.2\nrm -rf x", "commit": ""})
    lines = rundir.repro(env).splitlines()
    assert not any(line.startswith("rm") for line in lines)
    assert not any("commit" in line for line in lines)


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.txt"
    write_file(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_file(path, b"new and longer")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_host_tells_about_itself() -> None:
    host = rundir.host()
    assert host.cpus >= 1
    assert host.memory_mb > 100
    assert host.cpu and host.machine


def test_the_commit_of_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    assert rundir.commit(tmp_path) == ""
    (tmp_path / "file").write_text("1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "x", "--no-verify")
    clean = rundir.commit(tmp_path)
    assert len(clean) == 40
    (tmp_path / "file").write_text("2")
    assert rundir.commit(tmp_path) == f"{clean}-dirty"
