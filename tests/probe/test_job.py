# SPDX-License-Identifier: GPL-2.0-only
"""The job's grammar: what is wrong is said with its line, and nothing is run."""

import json
import os
import subprocess
from pathlib import Path

import pytest

HEAD = "lull-job 1\nseed 7\n"
CASE = "case 0 freeze zombies\n"
GOOD = HEAD + CASE + "param zombies 10\norder stock\nend\n"


def run(probe: Path, job: str, *args: str) -> tuple[int, list[dict[str, object]]]:
    command = [str(probe), "--job", "-", *args]
    done = subprocess.run(
        command, input=job, capture_output=True, text=True, timeout=300
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


BAD = {
    "empty": ("", 0, "has to start with 'lull-job 1'"),
    "no version": ("seed 7\n", 1, "has to start with 'lull-job 1'"),
    "other version": ("lull-job 2\n", 1, "version '2'"),
    "two versions": ("lull-job 1\nlull-job 1\n", 2, "second"),
    "comment counts as a line": ("# one\n\nlull-job 2\n", 3, "version '2'"),
    "statement": (HEAD + "bogus 1\n", 3, "unknown statement 'bogus'"),
    "double space": ("lull-job  1\n", 1, "single spaces"),
    "seed": ("lull-job 1\nseed -3\n", 2, "'-3' is not a number"),
    "seed overflow": ("lull-job 1\nseed 18446744073709551616\n", 2, "not a number"),
    "late seed": (GOOD + "seed 1\n", 7, "before the first case"),
    "words missing": (HEAD + "case 0 freeze\n", 3, "takes 3 words, not 2"),
    "words too many": (HEAD + "case 0 freeze zombies 1\n", 3, "takes 3 words, not 4"),
    "feature": (HEAD + "case 0 boil zombies\n", 3, "unknown feature 'boil'"),
    "workload": (HEAD + "case 0 freeze ghosts\n", 3, "no workload 'ghosts'"),
    "param": (HEAD + CASE + "param ghosts 1\n", 4, "no param 'ghosts'"),
    "param value": (HEAD + CASE + "param zombies many\n", 4, "takes a number"),
    "param twice": (HEAD + CASE + "param zombies 1\nparam zombies 2\n", 5, "twice"),
    "param outside": (HEAD + "param zombies 1\n", 3, "outside a case"),
    "warmup": (HEAD + CASE + "warmup x\n", 4, "'x' is not a number"),
    "case in case": (HEAD + CASE + "case 1 freeze zombies\n", 4, "inside case 0"),
    "case twice": (GOOD + CASE, 7, "case 0 is there twice"),
    "order empty": (HEAD + CASE + "order\n", 4, "takes 1 word or more, not 0"),
    "order twice": (HEAD + CASE + "order stock\norder stock\n", 5, "second 'order'"),
    "long mode": (HEAD + CASE + "order " + "m" * 64 + "\n", 4, "longer than"),
    "no order": (HEAD + CASE + "end\n", 4, "no 'order'"),
    "no end": (HEAD + CASE + "order stock\n", 4, "no 'end'"),
    "no case": (HEAD, 2, "no case"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_job(probe: Path, name: str) -> None:
    job, line, text = BAD[name]
    status, lines = run(probe, job)
    assert status == 2
    assert [x["t"] for x in lines] == ["error", "done"]
    what = str(lines[0]["what"])
    assert what.startswith(f"line {line}: ") and text in what
    assert str(lines[0]["where"]).endswith(f":{line}")
    assert lines[1]["ok"] is False and lines[1]["samples"] == 0


def test_missing_job(probe: Path, tmp_path: Path) -> None:
    command = [str(probe), "--job", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "cannot read the job" in done.stderr


def drop_root() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def as_nobody(probe: Path, job: str) -> tuple[int, list[dict[str, object]]]:
    """Run without root's rights, a program that only root may reach by its path."""
    with open(probe, "rb") as program:
        done = subprocess.run(
            ["lull-probe", "--job", "-"],
            executable=f"/proc/self/fd/{program.fileno()}",
            pass_fds=[program.fileno()],
            preexec_fn=drop_root,
            input=job,
            capture_output=True,
            text=True,
            timeout=300,
        )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    "job", [GOOD, GOOD.replace("\n", "  # a comment\n"), "\n" + GOOD]
)
def test_good_job_needs_root(probe: Path, job: str) -> None:
    status, lines = as_nobody(probe, job)
    assert status == 4
    assert "root" in str(lines[0]["what"])


@pytest.mark.skipif(os.geteuid() != 0, reason="as root only")
def test_no_suspend_without_the_flag(probe: Path) -> None:
    status, lines = run(probe, GOOD)
    assert status == 2
    error = next(x for x in lines if x["t"] == "error")
    assert error["where"] == "/sys/power/state"
    assert "--i-know-this-suspends" in str(error["hint"])


@pytest.mark.skipif(os.geteuid() != 0, reason="as root only")
def test_unknown_mode_is_found_before_anything_runs(probe: Path) -> None:
    status, lines = run(probe, GOOD.replace("order stock", "order stock warp"))
    assert status == 2
    assert [x["t"] for x in lines] == ["hello", "error", "done"]
    assert "line 5" in str(lines[1]["what"]) and "'warp'" in str(lines[1]["what"])
