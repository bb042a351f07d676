# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios that run in the lab's own guest, as the lab and the probe know them."""

from __future__ import annotations

import subprocess

import pytest

from lull.ask import catalog
from lull.host.files import repo_root
from lull.vm.probe_build import build_probe

NAMES = [one.name for one in catalog.features() if one.switches]


def test_there_are_some() -> None:
    assert "lid" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_probe_s_workloads_are_those_of_feature_toml(name: str) -> None:
    scenario = catalog.feature(name)
    done = subprocess.run(
        [build_probe(repo_root()), "--list"], capture_output=True, text=True, check=True
    )
    for workload_name, workload in scenario.workloads.items():
        params = "".join(f" {key}={value}" for key, value in workload.params.items())
        listed = f"{name} {workload_name}{params}\n    {workload.text}\n"
        assert f"{listed}    switches {' '.join(scenario.switches)}\n" in done.stdout
    assert done.stdout.count(f"\n{name} ") == len(scenario.workloads)


def test_the_probe_takes_what_feature_toml_plans() -> None:
    """Its defaults are in each plan, and the probe refuses a job with a parameter that
    the workload has not. Trials name theirs alone."""
    done = subprocess.run(
        [build_probe(repo_root()), "--list"], capture_output=True, text=True, check=True
    )
    taken = {
        (words[0], words[1]): {word.partition("=")[0] for word in words[2:]}
        for line in done.stdout.splitlines()
        if line and not line.startswith(" ") and len(words := line.split()) > 1
    }
    for feature in catalog.features():
        for name, workload in feature.workloads.items():
            assert workload.params.keys() <= taken[feature.name, name], name


@pytest.mark.parametrize("name", NAMES)
def test_each_of_its_features_has_all_of_its_modes(name: str) -> None:
    scenario = catalog.feature(name)
    for feature in scenario.switches:
        assert set(scenario.mode_names) <= set(catalog.feature(feature).mode_names)
