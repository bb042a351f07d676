# SPDX-License-Identifier: GPL-2.0-only
"""What the analyser says of a recording that the probe made, and what the model
of the modes says beforehand."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.graph.analysis import Analysis, analyse
from lull.graph.ftrace import read
from lull.graph.recording import Recording
from lull.graph.whatif import rules_of
from lull.kernels.build import build
from lull.model import Arm, Case, Clock
from lull.runs.again import boot_cases
from lull.runs.boot import Boot
from lull.trees.model import Phase, Tree
from lull.trees.schedule import Rules, critical_path, schedule
from lull.trees.shapes import load, make

pytestmark = [pytest.mark.vm, pytest.mark.proof]

LAPTOP = "file:features/devices/trees/laptop.tree"
#: With sync devices among them, and without.
MIXED = "random:n=100,seed=7,sync=30"
ASYNC = "random:n=100,seed=7,sync=0"
MODES = tuple(rules.value for rules in Rules)
LONG = (Phase.SUSPEND, Phase.RESUME)


def case(workload: str, tree: str) -> Case:
    return Case(
        feature="devices",
        workload=workload,
        params={"tree": tree},
        order=MODES,
    )


@pytest.fixture(scope="module")
def booted(base: str, tmp_path_factory: pytest.TempPathFactory) -> Boot:
    """Recordings of one tree, then cycles of three, in each mode.

    On the insn clock, where a host that is slow or busy adds nothing.
    """
    cases = (
        case("record", MIXED),
        *(case("cycle", tree) for tree in (LAPTOP, MIXED, ASYNC)),
    )
    folder = tmp_path_factory.mktemp("graph")
    kernel = build(base, Arm.LULL)
    return boot_cases(kernel, cases, folder, clock=Clock.INSN)


def recording(booted: Boot, mode: str) -> Recording:
    return read(booted.stream.recordings[mode].encode(), mode)


def analysis(booted: Boot, mode: str) -> Analysis:
    return analyse(recording(booted, mode))


def tree_of(name: str) -> Tree:
    if name.startswith("file:"):
        root = Path(__file__).resolve().parents[3]
        return load(root / name.removeprefix("file:"))
    return make(name)


@pytest.mark.parametrize("mode", MODES)
def test_a_recording_is_whole_and_knows_its_links(booted: Boot, mode: str) -> None:
    """The machine's own devices are in it, too, and are no part of the tree."""
    found = analysis(booted, mode)
    said = [caveat.text for caveat in found.caveats]
    assert said == ["a device is not in the description"]
    assert found.graph.links
    assert found.recording.header.rules == mode
    assert len(found.graph.tree.devices) == len(make(MIXED).devices)
    assert set(found.cycle.spans) == set(Phase)


@pytest.mark.parametrize("mode", MODES)
def test_the_model_says_what_a_recording_took(booted: Boot, mode: str) -> None:
    """Of what its callbacks took, under its rules; 2%, in the long phases."""
    found = {replay.phase: replay for replay in analysis(booted, mode).replays()}
    for phase in LONG:
        replay = found[phase]
        assert replay.predicted_us == pytest.approx(replay.measured_us, rel=0.02)


@pytest.mark.parametrize("tree", [LAPTOP, MIXED, ASYNC])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_predicted_comes_true(booted: Boot, mode: str, tree: str) -> None:
    """Of the description alone, under the rules of the kernel in that mode; 2%."""
    kernel = rules_of(recording(booted, mode).header)
    (sample,) = (
        sample
        for sample in booted.stream.samples
        if (sample.workload, sample.mode, sample.params["tree"])
        == ("cycle", mode, tree)
    )
    for phase in LONG:
        plan = schedule(tree_of(tree), phase, kernel.rules, upfront=kernel.upfront)
        predicted = plan.makespan_us
        measured = sample.metrics[phase.value] / 1e3
        assert measured == pytest.approx(predicted, rel=0.02)
        assert measured >= critical_path(tree_of(tree), phase).us
