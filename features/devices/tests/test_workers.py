# SPDX-License-Identifier: GPL-2.0-only
"""PM10: devices that are started early and have to wait leave workers for those
that they wait for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lull.model import Case, Check

pytestmark = pytest.mark.vm


def test_whom_they_wait_for_gets_a_worker(
    run_debug: Callable[..., tuple[Check, ...]],
) -> None:
    """With the limit switched off (disable = 128) the suspend never ends, and
    nothing but the lab's watchdog says so after eight minutes: the kernel looks
    for no hung task in a suspend. So this one is not tried each time."""
    case = Case(
        feature="devices",
        workload="blocked",
        order=("stock", "parents", "links", "lull"),
    )
    assert [check.name for check in run_debug(case)] == ["PM10"] * 4
