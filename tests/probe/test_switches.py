# SPDX-License-Identifier: GPL-2.0-only
"""A workload of several features: its modes, and what a round of it switches."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ALL = {
    "one": "stock exit_state lull",
    "two": "stock parents links lull",
    "three": "stock wake_all lull",
}
Trial = Callable[..., list[dict[str, object]]]


def kernel(root: Path, features: Mapping[str, str]) -> None:
    """The switches that a kernel with these modes has, at stock."""
    for name, modes in features.items():
        switch = root / "sys/module/lull/parameters" / name
        listed = root / "sys/kernel/debug/lull" / name / "modes"
        for path, text in ((switch, "stock\n"), (listed, modes + "\n")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def modes(line: dict[str, object]) -> object:
    features = line["features"]
    assert isinstance(features, dict)
    return features["trial"]


def test_it_has_the_modes_that_all_of_its_features_have(
    trial: Trial, tmp_path: Path
) -> None:
    kernel(tmp_path, ALL)
    hello = trial("trial look", "stock")[0]
    assert modes(hello) == ["stock", "lull"]


def test_a_round_s_mode_is_set_in_each_feature_and_put_back(
    trial: Trial, tmp_path: Path
) -> None:
    kernel(tmp_path, ALL)
    lines = trial("trial look", "lull", "stock", "lull")
    samples = [line for line in lines if line["t"] == "sample"]
    assert [line["mode"] for line in samples] == ["lull", "stock", "lull"]
    assert all(line["metrics"] == dict.fromkeys(ALL, 1) for line in samples)
    for name in ALL:
        switch = tmp_path / "sys/module/lull/parameters" / name
        assert switch.read_text().strip() == "stock"


@pytest.mark.parametrize("lacks", [["three"], ["one"], ["one", "two", "three"]])
def test_where_the_kernel_lacks_one_of_them_there_is_stock_alone(
    trial: Trial, tmp_path: Path, lacks: list[str]
) -> None:
    kernel(tmp_path, {name: ALL[name] for name in ALL if name not in lacks})
    hello, error, _ = trial("trial look", "stock", "lull")
    assert modes(hello) == ["stock"]
    assert "no mode 'lull' of feature 'trial'" in str(error["what"])
    assert trial("trial look", "stock")[-1]["ok"] is True


def test_the_list_says_what_a_workload_switches(trial_probe: Path) -> None:
    done = subprocess.run(
        [trial_probe, "--list"], capture_output=True, text=True, check=True, timeout=300
    )
    assert "    switches one two three\n" in done.stdout
