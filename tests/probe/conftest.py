# SPDX-License-Identifier: GPL-2.0-only
"""The probe, as the lab builds it, for the tests of this folder."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.vm.probe_build import FLAGS, build_probe

HERE = Path(__file__).parent
#: What trial.c puts in the place of the kernel.
WRAPPED = (
    "path_exists",
    "read_file",
    "write_file",
    "rmdir",
    "trace_each",
    "geteuid",
)

Lines = list[dict[str, object]]


@pytest.fixture(scope="session")
def probe() -> Path:
    return build_probe(repo_root())


@pytest.fixture(scope="session")
def trial_probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The probe with the workloads of trial.c, and no other."""
    program = tmp_path_factory.mktemp("trial") / "probe"
    sources = sorted((repo_root() / "probe").glob("*.c"))
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED]
    command: list[str | Path] = ["gcc", *FLAGS]
    command += [*wraps, "-o", program, *sources, HERE / "trial.c"]
    subprocess.run(command, cwd=repo_root(), check=True)
    return program


@pytest.fixture
def trial(trial_probe: Path, tmp_path: Path) -> Callable[..., Lines]:
    """Runs a workload of trial.c in some modes; its kernel is in tmp_path."""

    def run(workload: str, *order: str, **params: str) -> Lines:
        said = "".join(f"param {name} {value}\n" for name, value in params.items())
        job = f"lull-job 1\ncase 0 {workload}\n{said}order {' '.join(order)}\nend\n"
        done = subprocess.run(
            [trial_probe, "--job", "-"],
            env={**os.environ, "TRIAL": str(tmp_path)},
            input=job,
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run
