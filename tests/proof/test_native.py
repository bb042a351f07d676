# SPDX-License-Identifier: GPL-2.0-only
"""What is tried of a kernel's own way where a mode is that."""

from __future__ import annotations

from lull.kernels.bases import Base
from lull.proof.native import tried_on
from lull.proof.trial import Size, parse

TEXT = """
[[trial]]
name = "W1"
text = "nobody is lost"
cases = [{ run = "zombies", modes = "stock quick lull", times = 2, zombies = 3 }]
checks = { W1 = 6 }
"""


def base(**native: str) -> Base:
    return Base(name="7.3", package="linux", tarball="t", top="t", native=native)


def test_a_mode_that_is_the_kernels_own_is_tried_in_stock() -> None:
    (trial,) = parse(TEXT, "walk", where="here")
    there = tried_on(trial, base(**{"walk.quick": "it skips"}))
    (case,) = there.job(Size.TEST, 1).cases
    assert case.order == ("stock", "stock", "lull") * 2
    assert case.params == {"zombies": 3}
    assert there.checks == trial.checks and there.id == trial.id


def test_elsewhere_it_is_what_it_was() -> None:
    (trial,) = parse(TEXT, "walk", where="here")
    assert tried_on(trial, base()) is trial
    assert tried_on(trial, base(walk="it walks", **{"nap.quick": "no"})) is trial
