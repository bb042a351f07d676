# SPDX-License-Identifier: GPL-2.0-only
"""What the stamp of the figures leaves out takes no part in a measurement."""

from __future__ import annotations

import pytest

from lull.host.files import repo_root
from lull.proof.key import imports
from tests.runs.test_figures import NO_PART

ROOT = repo_root()
#: What measures, and what finds out whether a promise was kept.
MEASURES = (
    "lull/ask/plan.py",
    "lull/report/answer.py",
    "lull/runs/experiment.py",
    "lull/runs/asked_files.py",
)


@pytest.mark.parametrize("module", MEASURES)
def test_nothing_that_measures_is_left_out(module: str) -> None:
    left_out = [p for p in imports(ROOT, module) if set(NO_PART) & set(p.parents)]
    assert left_out == []


def test_each_room_is_there() -> None:
    assert [room for room in NO_PART if not room.is_dir()] == []
