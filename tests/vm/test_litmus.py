# SPDX-License-Identifier: GPL-2.0-only
"""The features' ordering arguments under the memory model of the kernel.

Those that say Sometimes are the faults that the others are free of: a model
that allowed nothing would fail them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.host.files import repo_root
from lull.host.herd import Herd, expected, herd, run
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.source import fetch

# They boot nothing, but download what only those that boot download.
pytestmark = pytest.mark.vm

FILES = sorted((repo_root() / "features").glob("*/tests/litmus/*.litmus"))


@pytest.fixture(scope="module")
def herd7() -> Herd:
    """Debian's sid has it, which is not ours to promise."""
    try:
        return herd()
    except CannotRun as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def model() -> Path:
    return fetch(load_base("6.12"), Cache()).tree / "tools" / "memory-model"


def test_there_are_some_of_both() -> None:
    assert {expected(file.read_text("utf-8")) for file in FILES} == {
        "Never",
        "Sometimes",
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_gives_its_result_and_no_data_race(
    file: Path, herd7: Herd, model: Path
) -> None:
    verdict = run(herd7, model, file)
    assert verdict.name == file.stem
    assert verdict.holds == expected(file.read_text("utf-8")), verdict.text
    assert not verdict.flags, verdict.text
