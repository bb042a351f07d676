# SPDX-License-Identifier: GPL-2.0-only
"""The probe, compiled once for the tests of this folder."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-O2", "-static", "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-Iprobe"]


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The probe's program; warnings are errors, as in the lab's own build."""
    out = tmp_path_factory.mktemp("probe") / "lull-probe"
    sources = sorted(ROOT.glob("probe/*.c")) + sorted(
        ROOT.glob("features/*/workload*.c")
    )
    command = [
        "gcc",
        *FLAGS,
        *(str(s.relative_to(ROOT)) for s in sources),
        "-o",
        str(out),
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return out
