# SPDX-License-Identifier: GPL-2.0-only
"""PM9: what several contexts write at once, on a kernel that watches for data races."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from features.devices.tests.test_safety import Guard, storm
from lull.errors import GuestPanic
from lull.model import Check

pytestmark = pytest.mark.vm

#: The feature, and the core that it is part of.
ABOUT = "lull|dpm_|device_|pm_"
#: Stock's own: who waits reads a bit next to those that are written.
KNOWN = (r"data-race in device_(suspend|resume)\w* / dpm_wait",)

Run = Callable[..., tuple[Check, ...]]


def test_pm9_kcsan_finds_no_data_race(run_kcsan: Run) -> None:
    modes = ("stock", "parents", "links", "lull")
    checks = run_kcsan(storm("PM9", *modes, trees=40), about=ABOUT, known=KNOWN)
    assert [check.ok for check in checks] == [True] * 4


def test_pm9_a_data_race_is_noticed(run_kcsan: Run) -> None:
    """A count that all who handle a device keep, without an atomic."""
    with pytest.raises(GuestPanic, match=r"KCSAN: data-race in .*lull"):
        run_kcsan(
            storm("PM9", "parents", trees=40, disable=int(Guard.WORD)),
            about=ABOUT,
            known=KNOWN,
        )
