# SPDX-License-Identifier: GPL-2.0-only
"""What the stamp of the figures leaves out takes no part in a measurement."""

from __future__ import annotations

import pytest

from lull.host.files import repo_root
from lull.proof.key import imports
from tests.runs.test_figures import NO_PART, programs

ROOT = repo_root()
#: What QEMU, or a guest in place of a probe, has on the clock wall alone.
OF_WALL = {"lull/vm/standby.c", "lull/vm/tsc.c"}
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


def test_they_hang_on_all_that_is_compiled_for_the_clock_insn() -> None:
    """A change of what is loaded into QEMU may move each of them."""
    there = {str(path.relative_to(ROOT)) for path in ROOT.glob("lull/vm/*.c")}
    sources = {name for made in programs().values() for name in made.sources}
    assert there - sources == OF_WALL
