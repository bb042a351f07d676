# SPDX-License-Identifier: GPL-2.0-only
"""FZ8's storm on a kernel that watches for data races."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lull.model import Case, Check

pytestmark = pytest.mark.vm

#: The feature, and the core that it is part of.
ABOUT = "lull|freez|frozen|refrigerator|thaw|visit"


def test_kcsan_finds_no_data_race(run_kcsan: Callable[..., tuple[Check, ...]]) -> None:
    storm = Case(
        feature="thaw",
        workload="wakeups",
        params={"wakeups": 20000},
        order=("stock", "lull"),
    )
    checks = run_kcsan(storm, about=ABOUT)
    assert checks
    assert all(check.ok for check in checks)
