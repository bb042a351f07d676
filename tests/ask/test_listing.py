# SPDX-License-Identifier: GPL-2.0-only
"""What `lull list` says of the project's own features."""

from __future__ import annotations

from lull.ask.catalog import select
from lull.ask.listing import overview
from lull.kernels.bases import load_base


def test_of_one_base_each_is_as_it_is_there() -> None:
    features = select(())
    newer, older = load_base("7.3"), load_base("6.1")
    said = overview(features, [newer])
    assert said.count("in 7.3 itself: ") == len(newer.native)
    assert all(len(line) <= 80 for line in said.splitlines())
    assert f"thaw: not on 6.1: {older.absent['thaw']}"[:70] in overview(
        features, [older]
    )
    assert "itself" not in overview(features, [newer, older])
