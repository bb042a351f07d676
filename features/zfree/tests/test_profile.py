# SPDX-License-Identifier: GPL-2.0-only
"""What the profile says of munmap(): less work, and not moved work."""

from __future__ import annotations

import dataclasses
import sys

import pytest

from lull.ask.catalog import feature
from lull.ask.on_base import native_modes
from lull.host.progress import PlainProgress
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.report.profile import Profile
from lull.runs.profiler import ProfileRequest, profiles

pytestmark = [pytest.mark.vm, pytest.mark.proof]

REQUEST = ProfileRequest(
    feature=feature("zfree"),
    workload="munmap",
    mode="lull",
    vs="stock",
    base=DEFAULT_BASE,
    params={"mb": 16},
)
#: What README's table is of: with less the fixed part of a call shows.
ROWS = dataclasses.replace(REQUEST, params={"mb": 64})
#: By base: of stock's instructions a page, and of its locked read-modify-writes, of
#: which nothing was measured on 6.1: there are not to be more.
MUST = {"6.1": (0.8, 1.0), "6.12": (0.33, 0.12), "7.3": (0.75, 0.4)}


def each(base: str, request: ProfileRequest) -> tuple[Profile, Profile]:
    request = dataclasses.replace(request, base=base)
    of, vs = profiles(request, PlainProgress(sys.stderr))
    assert vs is not None
    return of, vs


def test_lull_does_less_and_a_second_look_says_the_same(base: str) -> None:
    insns, locked = MUST[base]
    lull, stock = each(base, ROWS)
    assert lull.total.insns / lull.work <= insns * stock.total.insns / stock.work
    assert lull.total.locked / lull.work <= locked * stock.total.locked / stock.work
    native = native_modes(feature("zfree"), load_base(base))
    again, _ = each(base, dataclasses.replace(ROWS, vs="stock" if native else "locks"))
    assert again.total.insns == pytest.approx(lull.total.insns, rel=0.005)
    assert again.total.locked == pytest.approx(lull.total.locked, rel=0.005)


def test_the_worker_s_part_is_in_the_profile_of_the_mode_that_has_one(
    base: str,
) -> None:
    deferred, stock = each(base, dataclasses.replace(REQUEST, mode="deferred"))
    assert deferred.functions["zs_free_bulk"].insns > 0
    assert "zs_free_bulk" not in stock.functions
