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
    starred = {ln[2:].split(":")[0] for ln in said.splitlines() if ln[:2] == "* "}
    assert starred == set(newer.native)
    assert "(*: 7.3 has a part of it itself)" in said
    assert all(len(line) <= 80 for line in said.splitlines())
    assert f"thaw: not on 6.1: {older.absent['thaw']}"[:70] in overview(
        features, [older]
    )
    assert "*" not in overview(features, [newer, older])
