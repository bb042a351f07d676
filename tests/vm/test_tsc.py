# SPDX-License-Identifier: GPL-2.0-only
"""The rate of the time stamp counter, as the lab finds it and tells it."""

from __future__ import annotations

import platform
import re
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.model import Clock
from lull.vm.command import MachineSpec
from lull.vm.tsc import host_khz, told_rate

X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="a counter of x86")


@X86
def test_it_is_the_same_each_time() -> None:
    first = host_khz.__wrapped__(repo_root())
    again = host_khz.__wrapped__(repo_root())
    assert first == pytest.approx(again, rel=1e-3)
    assert 500_000 < first < 10_000_000


@X86
def test_only_a_guest_that_reads_it_is_told() -> None:
    kernel = Path("k")
    (word,) = told_rate(MachineSpec(kernel, Clock.WALL))
    assert re.fullmatch(r"tsc_early_khz=\d+", word)
    assert told_rate(MachineSpec(kernel, Clock.INSN)) == ()
    assert told_rate(MachineSpec(kernel, Clock.WALL, accel="kvm")) == ()


def test_without_a_compiler_the_guest_finds_it_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert host_khz.__wrapped__(repo_root()) == 0
