# SPDX-License-Identifier: GPL-2.0-only
"""Whole runs, with real kernels in virtual machines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lull.host.process import run_alone
from lull.kernels.build import build
from lull.kernels.record import Kernel
from lull.kernels.verify import verify
from lull.model import Arm, Case, Clock, Job
from lull.runs.again import boot_again
from lull.runs.boot import Boot, boot
from tests.busy import busy
from tests.kernel_trees import BASE, OURS, features_of, hooked

pytestmark = [pytest.mark.vm, pytest.mark.proof]

ROOT = Path(__file__).resolve().parents[2]
MODES = ("stock", "exit_state", "lull")


def lull(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lull", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="session")
def lull_kernel(base: str) -> Kernel:
    build(base, Arm.STOCK)
    return build(base, Arm.LULL)


def booted(kernel: Kernel, job: Job, **more: Any) -> Boot:
    """As a run boots: again where the host was too busy for it."""
    return run_alone(boot_again(lambda: boot(kernel, job, **more), print))


def small_boot(kernel: Kernel, folder: Path, seed: int) -> Boot:
    cases = (
        Case(
            feature="freeze", workload="zombies", params={"zombies": 600}, order=MODES
        ),
        Case(
            feature="freeze", workload="sleepers", params={"sleepers": 60}, order=MODES
        ),
        Case(feature="freeze", workload="storm", params={"cycles": 3}, order=MODES),
    )
    return booted(
        kernel,
        Job(seed=seed, cases=cases),
        clock=Clock.INSN,
        accel="tcg",
        folder=folder,
    )


def test_insn_samples_are_the_same_on_a_busy_host(
    lull_kernel: Kernel, tmp_path: Path
) -> None:
    quiet = small_boot(lull_kernel, tmp_path / "quiet", seed=5)
    with busy((os.cpu_count() or 1) + 1):
        loaded = small_boot(lull_kernel, tmp_path / "busy", seed=5)
    assert len(quiet.stream.samples) == 9
    assert quiet.outcome.results == loaded.outcome.results
    other = small_boot(lull_kernel, tmp_path / "other", seed=6)
    assert quiet.outcome.results != other.outcome.results


@pytest.mark.parametrize("clock", list(Clock))
def test_a_cpu_that_is_off_at_first_comes_up(
    base: str, clock: Clock, tmp_path: Path
) -> None:
    """As where a base's kernel cannot wait for it on its own (``insn_words``)."""
    case = Case(feature="freeze", workload="storm", params={"cycles": 1}, order=MODES)
    done = booted(
        build(base, Arm.LULL),
        Job(seed=1, cases=(case,)),
        clock=clock,
        accel="tcg",
        folder=tmp_path,
        append=("maxcpus=1",),
    )
    assert done.stream.hello is not None and done.stream.hello.cpus == 2
    assert len(done.stream.samples) == len(MODES)


def test_the_boot_parameter_chooses_the_mode(
    lull_kernel: Kernel, tmp_path: Path
) -> None:
    for word, initial in (
        ("lull.freeze=lull", "lull"),
        ("lull.freeze=exit_state", "exit_state"),
        ("lull.freeze=typo", "stock"),
    ):
        case = Case(
            feature="freeze",
            workload="switch",
            params={"initial": initial},
            order=("stock",),
        )
        done = booted(
            lull_kernel,
            Job(seed=1, cases=(case,)),
            clock=Clock.WALL,
            accel="tcg",
            folder=tmp_path / initial,
            append=(word,),
        )
        (check,) = done.stream.checks
        assert check.ok, check.text
        assert (b"no mode 'typo'" in done.outcome.console) == ("typo" in word)


@pytest.mark.parametrize("word", ["", "lull.freeze=exit_state lull.thaw=wake_all"])
def test_users_kernels_lack_what_is_only_compared_with(
    base: str, word: str, tmp_path: Path
) -> None:
    """The arm `kcsan` is built without, as theirs are."""
    case = Case(
        feature="freeze",
        workload="switch",
        params={"modes": 2, "refused": "exit_state"},
        order=("stock", "lull"),
    )
    done = booted(
        build(base, Arm.KCSAN),
        Job(seed=1, cases=(case,)),
        clock=Clock.WALL,
        accel="tcg",
        folder=tmp_path / "boot",
        append=tuple(word.split()),
        # Of another base nobody has said which races are the kernel's own.
        allow=() if base == BASE else ("KCSAN: ",),
    )
    assert done.stream.hello is not None
    assert [check.ok for check in done.stream.checks] == [True, True]
    for name, compared in (("freeze", "exit_state"), ("thaw", "wake_all")):
        there = name in features_of(base)
        # A kernel without the feature does what stock does.
        assert done.stream.hello.features.get(name) == (
            ("stock", "lull") if there else ("stock",)
        )
        said = f"no mode '{compared}'".encode() in done.outcome.console
        assert said == (there and bool(word))


def test_the_quick_run_keeps_its_promises(
    base: str, lull_kernel: Kernel, tmp_path: Path
) -> None:
    """The benchmark in its quick form, and all that it leaves behind."""
    run = tmp_path / "run"
    words = ("--quick", "--clock", "insn", "--control", "--check", "--table")
    done = lull("run", "freeze", "--base", base, *words, "-o", run)
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)

    summary = json.loads((run / "summary.json").read_text("utf-8"))
    schema = json.loads((ROOT / "lull/schema/summary.json").read_text("utf-8"))
    jsonschema.validate(summary, schema)
    assert summary["ok"] is True
    assert len(summary["expectations"]) == 5

    table = (run / "table.txt").read_text("ascii")
    assert table in done.stdout
    answer = (run / "answer.txt").read_text("ascii")
    assert "30,000 zombies" in answer
    assert answer in done.stdout
    assert max(map(len, table.splitlines())) <= 75
    assert "A/A control" in table

    env = json.loads((run / "env.json").read_text("utf-8"))
    assert env["kernels"]["lull"]["digest"] == lull_kernel.digest
    assert set(env["kernels"]) == {"stock", "lull"}
    assert os.access(run / "repro.sh", os.X_OK)
    assert (run / "console.log").stat().st_size > 1000
    assert len((run / "results.jsonl").read_text("utf-8").splitlines()) > 100

    compared = lull("compare", run, run)
    assert compared.returncode == 0, compared.stderr


def test_a_wall_run_prints_its_answer(
    base: str, lull_kernel: Kernel, tmp_path: Path
) -> None:
    words = ("--quick", "--clock", "wall", "--seeds", "1", "--workload", "zombies")
    done = lull("run", "freeze", "--base", base, *words, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "30,000 zombies" in done.stdout
    assert "clock wall" in (tmp_path / "run" / "table.txt").read_text("ascii")
    assert "wall clock under" in done.stderr


def test_a_profile_says_where_the_instructions_went(
    base: str, lull_kernel: Kernel
) -> None:
    words = ("profile", "freeze", "zombies", "--param", "zombies=500", "--vs", "stock")
    done = lull(*words, "--base", base, "--rounds", "1", "--top", "12")
    assert done.returncode == 0, done.stderr
    (line,) = [row for row in done.stdout.splitlines() if row.startswith("freeze_task")]
    ours, _, stock, _, difference = (
        float(cell.replace(",", "")) for cell in line.split()[1:]
    )
    # Stock calls it for each zombie in each of its walks.
    assert stock > 500 * 3 * 10
    assert ours < stock / 10
    assert difference == pytest.approx(ours - stock, abs=0.2)


def test_two_clean_builds_are_equal(base: str) -> None:
    """All of it is linked elsewhere, what is ours compiled without ccache.

    ``lull kernel build --verify --arm lull`` compiles all.
    """
    kernel = build(base, Arm.LULL)
    assert verify(base, Arm.LULL, only=(OURS, *hooked(base))).digest == kernel.digest
