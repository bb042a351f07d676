# SPDX-License-Identifier: GPL-2.0-only
"""PM10: devices that are started early and have to wait leave workers for those
that they wait for."""

from __future__ import annotations

from pathlib import Path

import pytest

from features.boots import assert_held, boot_cases
from lull.errors import GuestPanic
from lull.kernels.record import Kernel
from lull.model import Case
from lull.vm.process import run_alone

pytestmark = pytest.mark.vm

OURS = ("parents", "links", "lull")
#: LULL_DEVICES_ROOM of enum lull_devices_safeguard, as a bit.
ROOM = 1 << 7

#: Seconds until a worker that nobody will wake is reported.
HUNG = ("sysctl.kernel.hung_task_timeout_secs=30",)


def case(*modes: str, disable: int = 0) -> Case:
    return Case(
        feature="devices",
        workload="blocked",
        params={"disable": disable},
        order=modes,
    )


def test_whom_they_wait_for_gets_a_worker(debug_kernel: Kernel, tmp_path: Path) -> None:
    work = boot_cases(debug_kernel, (case("stock", *OURS),), tmp_path, append=HUNG)
    assert_held(run_alone(work).stream.checks, *("PM10",) * 4)


def test_without_a_limit_they_wait_for_good(
    debug_kernel: Kernel, tmp_path: Path
) -> None:
    work = boot_cases(
        debug_kernel, (case("links", disable=ROOM),), tmp_path, append=HUNG
    )
    with pytest.raises(GuestPanic, match="blocked for more than"):
        run_alone(work)
