# SPDX-License-Identifier: GPL-2.0-only
"""What the waits cost while nobody freezes, against a kernel without Lull."""

from __future__ import annotations

import sys

import pytest

from lull.ask.catalog import feature
from lull.host.progress import PlainProgress
from lull.runs.profiler import ProfileRequest, profiles

pytestmark = [pytest.mark.vm, pytest.mark.proof]

#: Instructions for a turn, of the untouched kernel's.
MUST = 1.005


@pytest.mark.parametrize("wait", ["epoll", "poll", "pipe", "dgram", "udp", "stream"])
def test_a_wait_costs_what_it_costs_untouched(base: str, wait: str) -> None:
    request = ProfileRequest(
        feature=feature("thaw"),
        workload="pingpong",
        mode="lull",
        vs="untouched",
        base=base,
        params={"wait": wait},
    )
    lull, untouched = profiles(request, PlainProgress(sys.stderr))
    assert untouched is not None
    ours, theirs = (p.total.insns / p.work for p in (lull, untouched))
    assert ours <= MUST * theirs, f"{ours:.1f} instructions a turn, {theirs:.1f}"
