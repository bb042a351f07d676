# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from pathlib import Path

from lull.graph.analysis import analyse
from lull.graph.load import load
from lull.trees.model import Phase
from tests.graph import captures


@captures.need
@captures.each
def test_all_of_a_cycle_is_accounted_for(path: Path) -> None:
    one = analyse(load(path))
    found = one.account()
    assert found is not None
    assert found.whole.write and found.whole.returned
    parts = {part.name: part.us for part in found.parts}
    assert sum(parts.values()) + found.tail_us + found.unclaimed_us == found.total_us
    for phase in Phase:
        # Where noirq suspend fails, its last microsecond is after the resume.
        assert abs(parts[phase] - one.cycle.spans[phase].ms * 1e3) <= 1.5
    assert {"sync", "freeze", "prepare", "complete", "thaw"} <= parts.keys()
    # Nobody claims some hundred milliseconds at most, of two seconds.
    assert found.unclaimed_us < 0.15 * found.total_us
