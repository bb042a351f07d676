# SPDX-License-Identifier: GPL-2.0-only
"""The workload of the safety statements on a kernel that watches for data races."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lull.model import Case, Check

pytestmark = pytest.mark.vm


#: Where this feature and the path that it shortens are.
ABOUT = "lull|zs_|zspage|fullness|zram|zswap|swap|zap|unmap|class"
#: The kernel's own. A zspage's class and fullness share a word, and who maps an
#: object reads the one while the other changes under the class's lock.
KNOWN = (
    r"data-race in (fix_fullness_group|(insert|remove|putback|isolate)\w*_zspage|"
    r"zs_compact|zs_malloc) / zs_(un)?map_object",
)


def test_kcsan_finds_no_data_race(run_kcsan: Callable[..., tuple[Check, ...]]) -> None:
    churn = Case(
        feature="zfree",
        workload="churn",
        params={"checks": 30},
        order=("locks", "deferred", "lull"),
    )
    assert all(check.ok for check in run_kcsan(churn, about=ABOUT, known=KNOWN))
