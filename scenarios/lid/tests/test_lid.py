# SPDX-License-Identifier: GPL-2.0-only
"""Whole cycles in a guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.errors import GuestFailed
from lull.host.files import repo_root
from lull.kernels.bases import load_base
from lull.kernels.build import build
from lull.model import Arm, Case, Sample, Value
from lull.runs.again import boot_cases

LAPTOP = "file:features/devices/trees/laptop.tree"
PHASES = (
    "freeze_processes",
    "suspend",
    "suspend_late",
    "suspend_noirq",
    "resume_noirq",
    "resume_early",
    "resume",
    "thaw_processes",
)


def require_results_after_a_suspend(base: str) -> None:
    """A kernel that no hook has mended may not hear the host any more."""
    hooks = repo_root() / "features/devices/hooks" / base
    if mended := list(hooks.glob("*-hear-a-host-after-a-suspend.patch")):
        pytest.skip(f"the untouched {base} writes no results: {mended[0].name}")


def cycles(
    base: str, arm: Arm, folder: Path, *modes: str, **params: Value
) -> tuple[Sample, ...]:
    """Whole cycles in one boot, in these modes."""
    case = Case(feature="lid", workload="suspend", params=params, order=modes)
    done = boot_cases(build(base, arm), (case,), folder)
    assert [sample.mode for sample in done.stream.samples] == list(modes)
    return done.stream.samples


@pytest.mark.vm
@pytest.mark.proof
def test_any_kernel_goes_through_all_phases(base: str, tmp_path: Path) -> None:
    require_results_after_a_suspend(base)
    mix = "epoll:1,futex:1"
    (one,) = cycles(
        base, Arm.STOCK, tmp_path, "stock", tree="none", sleepers=40, mix=mix
    )
    assert all(one.metrics[phase] > 0 for phase in PHASES)
    phases = sum(one.metrics[phase] for phase in PHASES)
    assert phases == one.metrics["lid"] < one.metrics["total"]


@pytest.mark.vm
@pytest.mark.proof
def test_a_kernel_without_trees_is_not_taken_for_one_with_an_empty_one(
    base: str,
    tmp_path: Path,
) -> None:
    with pytest.raises(GuestFailed, match="no synthetic trees"):
        cycles(base, Arm.STOCK, tmp_path, "stock", tree=LAPTOP, sleepers=4)


@pytest.mark.vm
@pytest.mark.proof
def test_the_laptop_s_devices_and_the_crowd_are_all_in_a_cycle(
    base: str, tmp_path: Path
) -> None:
    """The longest chains of the tree are 298 ms down and 449 ms up."""
    modes = ("stock", "lull")
    stock, lull = cycles(base, Arm.LULL, tmp_path, *modes, tree=LAPTOP, sleepers=40)
    for one in (stock, lull):
        assert all(one.metrics[phase] > 0 for phase in (*PHASES, "freezer_total"))
        assert one.metrics["suspend"] > 298e6
        assert one.metrics["lid"] < one.metrics["total"]
    # A kernel that starts async devices early does not come to the sync ones first.
    if "devices" not in load_base(base).native:
        assert stock.metrics["suspend"] > (123 + 298) * 1e6
