# SPDX-License-Identifier: GPL-2.0-only
"""What is measured of a suspend, by the functions that are executed."""

from __future__ import annotations

import sys

import pytest

from lull.ask.catalog import feature
from lull.host.progress import PlainProgress
from lull.runs.profiler import ProfileRequest, profiles

pytestmark = [pytest.mark.vm, pytest.mark.proof]


def test_the_lab_s_own_way_out_is_no_part_of_it(base: str) -> None:
    """How much it takes is QEMU's to say: README.md, "What was measured"."""
    asked = ProfileRequest(
        feature=feature("devices"),
        workload="cycle",
        mode="stock",
        vs=None,
        base=base,
        params={"tree": "empty:n=20"},
    )
    measured, _ = profiles(asked, PlainProgress(sys.stderr))
    assert "tree_call" in measured.functions
    virtio = {name for name in measured.functions if name.startswith("virtcons_")}
    assert not virtio
