# SPDX-License-Identifier: GPL-2.0-only
"""Which tests begin first: those that may take longest."""

from __future__ import annotations

import pytest

from lull.proof import durations


@pytest.mark.seconds(100)
def test_who_says_how_long_it_takes_is_not_sooner_done_for_a_warm_cache(
    request: pytest.FixtureRequest,
) -> None:
    item = request.node
    assert durations.expected(item, {}) == 100
    assert durations.expected(item, {item.nodeid: 2.0}) == 100
    assert durations.expected(item, {item.nodeid: 200.0}) == 200


def test_who_says_nothing_takes_what_it_took(request: pytest.FixtureRequest) -> None:
    item = request.node
    assert durations.expected(item, {}) == 0
    assert durations.expected(item, {item.nodeid: 2.0}) == 2
