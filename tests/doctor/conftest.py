# SPDX-License-Identifier: GPL-2.0-only
"""The collector, of this machine, and of one that it is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lull.doctor.collect import build_collector
from lull.errors import CannotRun
from lull.host.files import repo_root

#: What runs a program of that machine here.
EMULATOR = "qemu-aarch64"


def of_arm64() -> Path:
    """The collector for arm64; the test is skipped where nobody compiles it."""
    try:
        return build_collector(repo_root(), "aarch64")
    except CannotRun as error:
        pytest.skip(f"{error}: {error.hint}")


@pytest.fixture(scope="module", params=["here", "arm64"])
def any_collector(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Both, one after the other; that of arm64 is run by an emulator."""
    if request.param == "here":
        return build_collector(repo_root())
    program = of_arm64()
    if shutil.which(EMULATOR) is None:
        pytest.skip(f"{EMULATOR} is not in PATH: apt-get install qemu-user")
    run = tmp_path_factory.mktemp("arm64") / "lull-probe"
    run.write_text(f'#!/bin/sh\nexec {EMULATOR} {program} "$@"\n')
    run.chmod(0o755)
    return run
