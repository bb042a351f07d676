# SPDX-License-Identifier: GPL-2.0-only
"""The table of a profile, from what the plugin writes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lull.errors import LabError, UsageError
from lull.host.progress import open_progress
from lull.kernels.record import Kernel
from lull.model import Arm, Job
from lull.report.profile import Count, Profile, parse, render
from lull.report.table import WIDTH
from lull.runs import profiler
from lull.runs.profiler import ProfileRequest, profile
from tests import synthetic

TEXT = "windows 2\n400 8 walk\n100 0 [user]\n20 4 walk\nend\n"


def test_static_functions_of_one_name_are_added() -> None:
    windows, functions = parse(TEXT, "f")
    assert windows == 2
    assert functions == {"walk": Count(420, 12), "[user]": Count(100, 0)}


@pytest.mark.parametrize(
    "text", ["", "windows 2\n", TEXT[:-4], "windows x\nend\n", "windows 1\n1 a\nend"]
)
def test_a_file_that_is_cut_short_is_refused(text: str) -> None:
    with pytest.raises(LabError, match="not complete"):
        parse(text, "f")


OURS = Profile("lull", "6.12.117", 2, 4, {"walk": Count(40, 4), "rest": Count(8, 0)})
THEIRS = Profile(
    "stock", "6.12.117", 2, 4, {"walk": Count(420, 12), "odd_name" * 5: Count(4, 0)}
)


def test_one_mode() -> None:
    text = render(OURS, None, "title", "unit of pages", 1)
    assert text.splitlines()[3:] == [
        "                                        lull",
        "function                      insns   locked",
        "total                          12.0     1.00",
        "walk                           10.0     1.00",
        "1 more                          2.0     0.00",
    ]


def test_two_modes_are_ranked_by_their_difference() -> None:
    text = render(OURS, THEIRS, "title", "unit of pages", 2)
    lines = text.splitlines()
    assert lines[5].split() == ["total", "12.0", "1.00", "106.0", "3.00", "-94.0"]
    assert lines[6].split() == ["ratio", "0.113", "0.333"]
    assert lines[7].split() == ["walk", "10.0", "1.00", "105.0", "3.00", "-95.0"]
    assert lines[8].split() == ["rest", "2.0", "0.00", "0.0", "0.00", "+2.0"]
    assert lines[9].split() == ["1", "more", "0.0", "0.00", "1.0", "0.00", "-1.0"]


def test_functions_without_a_difference_are_left_to_the_last_line() -> None:
    functions = {"walk": Count(40, 4), "same": Count(400, 0)}
    other = {"walk": Count(80, 4), "same": Count(400, 0)}
    text = render(
        Profile("a", "6.12.117", 1, 4, functions),
        Profile("b", "6.12.117", 1, 4, other),
        "t",
        "round",
        9,
    )
    assert [line.split()[0] for line in text.splitlines()[5:]] == [
        "total",
        "ratio",
        "walk",
        "1",
    ]


def test_no_line_is_too_wide() -> None:
    large = Profile(
        "lull", "6.12.117", 1, 1, {"x" * 80: Count(123_456_789_012, 99_999_999)}
    )
    text = render(large, THEIRS, "t" * 75, "round", 9)
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("workload", "mode", "vs"),
    [("walkers", "lull", None), ("zombies", "fast", None), ("zombies", "lull", "x")],
)
def test_unknown_names_are_refused(workload: str, mode: str, vs: str | None) -> None:
    request = ProfileRequest(synthetic.feature(), workload, mode, vs, "6.12", {})
    with open_progress() as progress, pytest.raises(UsageError, match="unknown"):
        profile(request, progress)


class Machine:
    """Stands for building and booting; notes what was asked for.

    A boot writes what the plugin would: the instructions of one function,
    by which the two kernels differ.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.built: list[Arm] = []
        self.orders: dict[Arm, tuple[str, ...]] = {}
        self.plugins: dict[Arm, str] = {}

    def build(self, base: str, arm: Arm, update: object) -> Kernel:
        self.built.append(arm)
        words = ("package_version", "key", "digest", "compiler", "built")
        return Kernel(
            base=base,
            arm=arm,
            version="6.12.117",
            seconds=0,
            directory=self.folder / arm,
            **dict.fromkeys(words, ""),
        )

    async def boot(self, kernel: Kernel, job: Job, **more: Any) -> SimpleNamespace:
        self.orders[kernel.arm] = job.cases[0].order
        self.plugins[kernel.arm] = more["plugin"]
        out = more["plugin"].partition("out=")[2]
        insns = 100 if kernel.arm is Arm.STOCK else 110
        Path(out).write_text(f"windows 2\n{insns} 0 walk\nend\n")
        return SimpleNamespace(stream=SimpleNamespace(samples=()))

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(profiler, "build", self.build)
        monkeypatch.setattr(profiler, "boot", self.boot)
        monkeypatch.setattr("lull.vm.machine.require_qemu", lambda: None)
        monkeypatch.setattr(profiler, "build_probe", lambda root: root / "probe")
        monkeypatch.setattr(profiler, "mark_addresses", lambda probe: (1, 2))
        monkeypatch.setattr(profiler, "qemu_version", lambda: "10")
        monkeypatch.setattr(profiler, "build_plugin", lambda root, version: "plugin")


@pytest.mark.parametrize("mode", ["lull", "stock"])
def test_a_mode_beside_the_untouched_kernel(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path)
    machine.use(monkeypatch)
    request = ProfileRequest(
        synthetic.feature(), "zombies", mode, "untouched", "6.12", {}
    )
    with open_progress() as progress:
        text = profile(request, progress)
    assert machine.built == [Arm.STOCK, Arm.LULL]
    # It knows that mode alone.
    assert machine.orders == {Arm.LULL: (mode,) * 2, Arm.STOCK: ("stock",) * 2}
    for arm, plugin in machine.plugins.items():
        assert f"symbols={tmp_path / arm / 'System.map'}," in plugin
    lines = text.splitlines()
    assert lines[3].split() == [mode, "untouched"]
    assert lines[5].split() == ["total", "55.0", "0.00", "50.0", "0.00", "+5.0"]


@pytest.mark.parametrize(
    ("mode", "instead"), [("lull", "stock"), ("stock", "untouched")]
)
def test_a_mode_beside_itself_is_refused_before_anything_is_built(
    mode: str, instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path)
    machine.use(monkeypatch)
    request = ProfileRequest(synthetic.feature(), "zombies", mode, mode, "6.12", {})
    with open_progress() as progress, pytest.raises(UsageError) as refused:
        profile(request, progress)
    assert refused.value.hint == f"--vs {instead}" and machine.built == []


def test_modes_of_one_kernel_need_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path)
    machine.use(monkeypatch)
    request = ProfileRequest(synthetic.feature(), "zombies", "lull", "stock", "1", {})
    with open_progress() as progress:
        profile(request, progress)
    assert machine.built == [Arm.LULL]
