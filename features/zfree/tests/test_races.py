# SPDX-License-Identifier: GPL-2.0-only
"""The workload of the safety statements on a kernel that watches for data races."""

from __future__ import annotations

from pathlib import Path

import pytest

from features.boots import boot_cases
from lull.kernels.build import build
from lull.model import Arm, Case
from lull.vm.process import run_alone

pytestmark = pytest.mark.vm


#: The kernel's own. A zspage's class and fullness share a word, and who maps an
#: object reads the one while the other changes under the class's lock. The tick
#: writes jiffies_64 at any time, and memcg reads it without a mark.
KNOWN = (
    "data-race in fix_fullness_group / zs_(un)?map_object",
    "data-race in mem_cgroup_flush_stats_ratelimited / tick_do_update_jiffies64",
)


def test_kcsan_finds_no_data_race(tmp_path: Path) -> None:
    """A report is a line of the log that fails the boot."""
    kernel = build("6.12", Arm.KCSAN)
    churn = Case(
        feature="zfree",
        workload="churn",
        params={"checks": 30},
        order=("locks", "deferred", "lull"),
    )
    done = run_alone(boot_cases(kernel, (churn,), tmp_path, allow=KNOWN))
    assert done.stream.ok
    assert "kcsan: enabled" in (tmp_path / "console.log").read_text("utf-8")
