# SPDX-License-Identifier: GPL-2.0-only
"""What the measuring workloads say is what they mean, on the insn clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.kernels.build import build
from lull.model import Arm, Case, Clock, Sample
from lull.runs.again import boot_cases

pytestmark = [pytest.mark.vm, pytest.mark.proof]

MODES = ("stock", "wake_all", "lull")
SLEEPERS = 200


def case(workload: str) -> Case:
    params = {"sleepers": SLEEPERS, "mix": "desktop"}
    return Case(feature="thaw", workload=workload, params=params, order=MODES)


def by_wait(sample: Sample) -> float:
    """The sleepers woken, by the waits they were in."""
    return sum(
        value
        for name, value in sample.metrics.items()
        if name.startswith("woken_") and name != "woken_all"
    )


def test_the_woken_are_counted_once_and_by_both_counts(
    base: str, tmp_path: Path
) -> None:
    """wake_all wakes all, lull nobody, stock who was signalled."""
    cases = (case("sleepers"), case("thread-recipe"))
    kernel = build(base, Arm.LULL)
    done = boot_cases(kernel, cases, tmp_path, clock=Clock.INSN)

    said = "\n".join(check.text for check in done.stream.checks)
    assert [check.name for check in done.stream.checks] == ["FZ10"] * 3, said
    assert all(check.ok for check in done.stream.checks), said

    stock, wake_all, lull, *recipes = done.stream.samples
    for sample in (stock, wake_all, lull):
        assert sample.metrics["woken"] == by_wait(sample)
    assert 0 < stock.metrics["woken"] < wake_all.metrics["woken"] == SLEEPERS
    # Not one of the others either, kswapd among them.
    assert stock.metrics["woken_all"] > stock.metrics["woken"]
    assert lull.metrics["woken_all"] == lull.metrics["woken"] == 0
    assert stock.metrics["eintr"] > 0
    assert lull.metrics["eintr"] == 0
    for sample, same in zip(recipes, (stock, wake_all, lull), strict=True):
        assert sample.metrics["recipe_woken"] == same.metrics["woken"]
        assert sample.metrics["event_woken"] == same.metrics["woken"]
