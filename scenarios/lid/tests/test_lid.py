# SPDX-License-Identifier: GPL-2.0-only
"""The scenario as the lab and the probe know it, and whole cycles in a guest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lull.ask import catalog
from lull.errors import GuestFailed
from lull.host.files import repo_root
from lull.kernels.build import build
from lull.model import Arm, Case, Sample, Value
from lull.runs.again import boot_cases
from lull.vm.probe_build import build_probe

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


def test_the_probe_s_workloads_are_those_of_feature_toml() -> None:
    lid = catalog.feature("lid")
    done = subprocess.run(
        [build_probe(repo_root()), "--list"], capture_output=True, text=True, check=True
    )
    for name, workload in lid.workloads.items():
        params = "".join(f" {key}={value}" for key, value in workload.params.items())
        listed = f"lid {name}{params}\n    {workload.text}\n"
        assert f"{listed}    switches {' '.join(lid.switches)}\n" in done.stdout
    assert done.stdout.count("\nlid ") == len(lid.workloads)


def test_each_of_its_features_has_all_of_its_modes() -> None:
    lid = catalog.feature("lid")
    for name in lid.switches:
        assert set(lid.mode_names) <= set(catalog.feature(name).mode_names)


def cycles(arm: Arm, folder: Path, *modes: str, **params: Value) -> tuple[Sample, ...]:
    """Whole cycles in one boot, in these modes."""
    case = Case(feature="lid", workload="suspend", params=params, order=modes)
    done = boot_cases(build("6.12", arm), (case,), folder)
    assert [sample.mode for sample in done.stream.samples] == list(modes)
    return done.stream.samples


@pytest.mark.vm
@pytest.mark.proof
def test_any_kernel_goes_through_all_phases(tmp_path: Path) -> None:
    mix = "epoll:1,futex:1"
    (one,) = cycles(Arm.STOCK, tmp_path, "stock", tree="none", sleepers=40, mix=mix)
    assert all(one.metrics[phase] > 0 for phase in PHASES)
    phases = sum(one.metrics[phase] for phase in PHASES)
    assert phases == one.metrics["lid"] < one.metrics["total"]


@pytest.mark.vm
@pytest.mark.proof
def test_a_kernel_without_trees_is_not_taken_for_one_with_an_empty_one(
    tmp_path: Path,
) -> None:
    with pytest.raises(GuestFailed, match="no synthetic trees"):
        cycles(Arm.STOCK, tmp_path, "stock", tree=LAPTOP, sleepers=4)


@pytest.mark.vm
@pytest.mark.proof
def test_the_laptop_s_devices_and_the_crowd_are_all_in_a_cycle(tmp_path: Path) -> None:
    """The longest chains of the tree are 298 ms down and 449 ms up."""
    modes = ("stock", "lull")
    stock, lull = cycles(Arm.LULL, tmp_path, *modes, tree=LAPTOP, sleepers=40)
    for one in (stock, lull):
        assert all(one.metrics[phase] > 0 for phase in (*PHASES, "freezer_total"))
        assert one.metrics["suspend"] > 298e6
        assert one.metrics["lid"] < one.metrics["total"]
    assert stock.metrics["suspend"] > (123 + 298) * 1e6
