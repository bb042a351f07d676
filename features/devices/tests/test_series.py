# SPDX-License-Identifier: GPL-2.0-only
"""What the series for upstream has to bring along, which nothing would miss."""

from __future__ import annotations

import re

import pytest

from lull.host.files import repo_root
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.cache import Cache
from lull.kernels.source import fetch
from lull.series.assemble import Reader, order, planner
from lull.series.pristine import Pristine
from lull.series.stages import final


@pytest.mark.vm
def test_who_removes_a_device_holds_it_for_the_walk() -> None:
    source, root = fetch(load_base(DEFAULT_BASE), Cache()), repo_root()
    pristine = Pristine(source.tree, source.version)
    plan = planner(order(("devices",), DEFAULT_BASE, Reader.UPSTREAM, root), root)
    data = final(plan(pristine.read))["drivers/base/power/main.c"].data
    text = (data or b"").decode()
    removal = re.search(r"^void device_pm_remove\(.*?^}", text, re.M | re.S)
    assert removal and "dpm_at_is_held = true" in removal[0]
    assert text.count("dpm_at_is_held = false") == 1
