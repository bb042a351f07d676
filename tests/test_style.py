# SPDX-License-Identifier: GPL-2.0-only
"""The lab's own code as ruff and mypy want it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.seconds(10)
@pytest.mark.parametrize(
    "words", [("ruff", "check", "."), ("mypy", "--strict")], ids=lambda words: words[0]
)
def test_it_finds_nothing(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
