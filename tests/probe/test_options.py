# SPDX-License-Identifier: GPL-2.0-only
"""What the probe does with its options, without touching the machine."""

import subprocess
from pathlib import Path

import pytest


def run(probe: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(probe), *args], capture_output=True, text=True, timeout=300
    )


def test_help_names_every_option_and_exit_status(probe: Path) -> None:
    done = run(probe, "--help")
    assert done.returncode == 0
    for word in ("--job", "--output", "--list", "--i-know-this-suspends", "125"):
        assert word in done.stdout


def test_list_has_the_workloads_with_defaults(probe: Path) -> None:
    done = run(probe, "--list")
    assert done.returncode == 0
    assert "freeze zombies zombies=30000\n" in done.stdout
    assert "freeze sleepers sleepers=1000 mix=epoll:1,poll:1" in done.stdout
    assert "freeze storm forks=1 threads=1 execs=1" in done.stdout
    assert "freeze thread-table step=3000 rounds=10\n" in done.stdout


@pytest.mark.parametrize("args", [(), ("--unknown",), ("word",), ("--job",)])
def test_bad_options_are_usage_errors(probe: Path, args: tuple[str, ...]) -> None:
    done = run(probe, *args)
    assert done.returncode == 2
    assert "--help" in done.stderr


def test_output_that_cannot_be_written(probe: Path, tmp_path: Path) -> None:
    done = run(probe, "--job", "/dev/null", "--output", str(tmp_path / "no" / "file"))
    assert done.returncode == 2
    assert "cannot write" in done.stderr
