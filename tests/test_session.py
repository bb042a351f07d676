# SPDX-License-Identifier: GPL-2.0-only
"""What conftest.py does to a session of tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

ENDED = """
import os, signal, pytest
from lull.vm.process import run_alone

async def boot():
    os.kill(os.getpid(), signal.SIGTERM)

@pytest.fixture
def booted():
    run_alone(boot())

def test_first({}):
    {}

def test_second():
    pass
"""

ORDER = """
import pytest

@pytest.fixture
def run_boots():
    pass

@pytest.fixture
def outcomes(run_boots):
    pass

def test_first(outcomes):
    pass

def test_second():
    pass
"""


def session(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    module = folder / "test_it.py"
    module.write_text(text)
    words = ["-v", "-c", ROOT / "pyproject.toml", "--confcutdir", ROOT, module]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("fixture", "body"),
    [
        ("booted", "pass"),
        ("", "run_alone(boot())"),
        ("", "os.kill(os.getpid(), signal.SIGTERM)"),
    ],
)
def test_sigterm_ends_the_session(tmp_path: Path, fixture: str, body: str) -> None:
    """Not one test after the other: whoever sends it does not wait that long."""
    done = session(tmp_path, ENDED.format(fixture, body))
    assert done.returncode == 143, done.stdout + done.stderr
    assert "ended by SIGTERM" in done.stdout
    assert "test_second PASSED" not in done.stdout


def test_what_keeps_all_cpus_busy_comes_last(tmp_path: Path) -> None:
    done = session(tmp_path, ORDER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.index("test_second PASSED") < done.stdout.index("test_first")
