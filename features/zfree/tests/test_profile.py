# SPDX-License-Identifier: GPL-2.0-only
"""What the profile says of munmap(): less work, and not moved work."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from lull.ask.catalog import feature
from lull.host.progress import PlainProgress
from lull.report.profile import Profile
from lull.runs.profiler import ProfileRequest, profiles

pytestmark = [pytest.mark.vm, pytest.mark.proof]

REQUEST = ProfileRequest(
    feature=feature("zfree"),
    workload="munmap",
    mode="lull",
    vs="stock",
    base="6.12",
    params={"mb": 16},
)
#: What README's table is of: with less the fixed part of a call shows.
ROWS = dataclasses.replace(REQUEST, params={"mb": 64})


def each(request: ProfileRequest) -> tuple[Profile, Profile]:
    of, vs = profiles(request, PlainProgress(sys.stderr))
    assert vs is not None
    return of, vs


def test_lull_does_less_and_a_second_look_says_the_same() -> None:
    lull, stock = each(ROWS)
    assert lull.total.insns / lull.work <= 0.33 * stock.total.insns / stock.work
    assert lull.total.locked / lull.work <= 0.12 * stock.total.locked / stock.work
    again, _ = each(dataclasses.replace(ROWS, vs="locks"))
    assert again.total.insns == pytest.approx(lull.total.insns, rel=0.005)
    assert again.total.locked == pytest.approx(lull.total.locked, rel=0.005)


def test_the_worker_s_part_is_in_the_profile_of_the_mode_that_has_one() -> None:
    deferred, stock = each(dataclasses.replace(REQUEST, mode="deferred"))
    assert deferred.functions["zs_free_bulk"].insns > 0
    assert "zs_free_bulk" not in stock.functions
