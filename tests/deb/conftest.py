# SPDX-License-Identifier: GPL-2.0-only
"""The package lull-tools, made once, and a made-up machine that it is on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lull.deb.tools import build_tools
from tests.deb.machine import Machine


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tools(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="session")
def unpacked(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "-R", package, place], check=True)
    return place


@pytest.fixture
def machine(tmp_path: Path, unpacked: Path) -> Machine:
    made = Machine(tmp_path, unpacked)
    made.features(freeze="stock", thaw="stock", zfree="stock")
    return made
