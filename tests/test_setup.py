# SPDX-License-Identifier: GPL-2.0-only
"""``scripts/setup`` with the programs that install made up."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.host.files import repo_root

STUBS = {
    "dpkg-query": 'case "$*" in *chromium*) ;; *) echo installed ;; esac',
    "apt-cache": "echo known",
    "id": "echo 0",
    "apt-get": 'echo "apt-get $*" >>"$LOG"',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = repo_root()
    for name in ("scripts/setup", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    base = tmp_path / "kernel/bases/6.12.toml"
    base.parent.mkdir(parents=True)
    base.write_text('package = "linux-source-6.12"\n')
    for name, text in {**STUBS, "../.venv/bin/python": 'echo "$*" >>"$LOG"'}.items():
        stub = tmp_path / "bin" / name
        (tmp_path / "bin").mkdir(exist_ok=True)
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(f"#!/bin/sh\n{text}\n")
        stub.chmod(0o755)
    return tmp_path


def started(checkout: Path, *words: str) -> subprocess.Popen[str]:
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    return subprocess.Popen(
        [checkout / "scripts/setup", *words],
        env={**os.environ, "PATH": path, "LOG": str(checkout / "log")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def setup(checkout: Path, *words: str) -> str:
    """What it has installed."""
    log = checkout / "log"
    log.write_text("")
    process = started(checkout, *words)
    _, said = process.communicate()
    assert process.returncode == 0, said
    return log.read_text()


def test_only_tests_need_a_browser(checkout: Path) -> None:
    assert "chromium" not in (done := setup(checkout))
    assert ".[test]" in done
    done = setup(checkout, "--tests")
    assert "apt-get install" in done and "chromium" in done
    assert ".[test,browser]" in done


def test_what_is_there_is_not_installed_again(checkout: Path) -> None:
    assert setup(checkout)
    assert setup(checkout) == ""
    setup(checkout, "--tests")
    # Who has been set up for tests has all that others need.
    assert setup(checkout) == ""
    (checkout / "pyproject.toml").write_text("changed")
    assert ".[test]" in setup(checkout)


def test_of_two_at_once_the_second_finds_what_the_first_has_made(
    checkout: Path,
) -> None:
    with (checkout / ".setup.lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = started(checkout)
        assert second.stderr is not None
        assert "waiting for another set-up" in second.stderr.readline()
        assert second.poll() is None
    second.communicate()
    assert second.returncode == 0
