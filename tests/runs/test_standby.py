# SPDX-License-Identifier: GPL-2.0-only
"""One that stands by is made once for a kernel, and again where it is not trusted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lull.errors import GuestPanic, LullError, TimedOut
from lull.kernels.cache import Cache
from lull.kernels.record import Kernel
from lull.model import Arm
from lull.runs import standby as module
from lull.runs.standby import standing_by
from lull.vm.accel import Decision
from lull.vm.standby import Standby


class Maker:
    """Makes files, and counts."""

    def __init__(self) -> None:
        self.made = 0
        self.errors: list[LullError] = []

    async def stand_by(self, spec: object, *, folder: Path, **more: object) -> Standby:
        self.made += 1
        if self.errors:
            raise self.errors.pop(0)
        folder.mkdir()
        standby = Standby(folder, 7.5)
        for path in standby.files:
            path.write_text(f"of {self.made}")
        return standby


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Maker:
    found = Maker()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "stand_by", found.stand_by)
    monkeypatch.setattr(module, "choose", lambda image: Decision("tcg", ""))
    monkeypatch.setattr(module, "host_khz", lambda root: 2_600_000)
    monkeypatch.setattr(module, "_given_up", set())
    return found


def kernel(tmp_path: Path, text: str = "kernel", arm: Arm = Arm.DEBUG) -> Kernel:
    image = tmp_path / f"{text}.bzImage"
    image.write_text(text)
    return cast(Any, SimpleNamespace(bzimage=image, base="6.12", arm=arm))


def state(found: Kernel, said: Callable[[str], None] = lambda text: None) -> str:
    """What is in the state of the one that there is."""
    with standing_by(found, said) as standby:
        assert standby is not None
        assert standby.boot_s == 7.5
        return standby.state.read_text()


def place() -> Path:
    (found,) = (Cache().root / "standby").iterdir()
    return found


def test_it_is_made_once_for_a_kernel(maker: Maker, tmp_path: Path) -> None:
    said: list[str] = []
    assert state(kernel(tmp_path), said.append) == "of 1"
    assert state(kernel(tmp_path), said.append) == "of 1"
    assert said == ["debug: booting a machine that stands by"]
    assert state(kernel(tmp_path, "another")) == "of 2"


def test_under_kvm_there_is_none(
    maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "choose", lambda image: Decision("kvm", ""))
    with standing_by(kernel(tmp_path)) as standby:
        assert standby is None
    assert maker.made == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("emulator", lambda: "another BIOS"),
        ("_MAKERS", ()),
        ("initramfs", lambda program, job: b"another"),
        ("qemu_command", lambda spec, wiring: ["another"]),
    ],
)
def test_whatever_it_is_made_of_is_in_its_name(
    maker: Maker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: object,
) -> None:
    state(kernel(tmp_path))
    monkeypatch.setattr(module, name, value)
    assert state(kernel(tmp_path)) == "of 2"


def cut() -> None:
    (place() / "state").write_text("of")


def other_version() -> None:
    (place() / "about.json").write_text('{"schema_version": 0}')


def gone() -> None:
    (place() / "memory").unlink()


def opened() -> None:
    place().chmod(0o777)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (cut, "cut off"),
        (other_version, "of another version, or cut off"),
        (gone, "of another version, or cut off"),
        (opened, "others may write it"),
    ],
)
def test_one_that_is_not_trusted_is_made_again_and_said(
    maker: Maker, tmp_path: Path, spoil: Callable[[], None], why: str
) -> None:
    said: list[str] = []
    state(kernel(tmp_path))
    spoil()
    assert state(kernel(tmp_path), said.append) == "of 2"
    assert said[0] == f"a machine that stands by is forgotten: {why}"


@pytest.mark.parametrize(
    ("khz", "later", "made"),
    [(2_600_020, 3600, 1), (3_000_000, 0, 2), (2_600_000, 90_000, 2)],
)
def test_it_is_of_this_host_s_clock_and_of_today(
    maker: Maker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    khz: int,
    later: float,
    made: int,
) -> None:
    state(kernel(tmp_path))
    now = time.time() + later
    monkeypatch.setattr(module, "host_khz", lambda root: khz)
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: now))
    state(kernel(tmp_path))
    assert maker.made == made


def test_who_has_it_keeps_it_when_it_is_replaced(maker: Maker, tmp_path: Path) -> None:
    with standing_by(kernel(tmp_path)) as first:
        assert first is not None
        (place() / "about.json").unlink()
        assert state(kernel(tmp_path)) == "of 2"
        assert [path.read_text() for path in first.files] == ["of 1"] * 4
    assert not first.folder.exists()


@pytest.mark.parametrize(
    "error", [GuestPanic("BUG: in the boot\nmore"), TimedOut("BUG: in the boot")]
)
def test_where_it_does_not_boot_others_do_and_nobody_tries_again(
    maker: Maker, tmp_path: Path, error: LullError
) -> None:
    maker.errors = [error]
    said: list[str] = []
    for _ in range(2):
        with standing_by(kernel(tmp_path), said.append) as standby:
            assert standby is None
    assert said[1:] == ["no machine stands by: BUG: in the boot"]
    assert maker.made == 1
    assert state(kernel(tmp_path, "another")) == "of 2"


def test_one_that_is_gone_meanwhile_is_made_again(maker: Maker, tmp_path: Path) -> None:
    state(kernel(tmp_path))
    Cache().discard(place())
    assert state(kernel(tmp_path)) == "of 2"


def test_those_stay_that_were_used_last(
    maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT", 2)
    root = Cache().root / "standby"
    made: list[Path] = []
    for i in range(2):
        state(kernel(tmp_path, f"k{i}"))
        made += [path for path in root.iterdir() if path not in made]
        os.utime(made[i], (i, i))
    state(kernel(tmp_path, "k0"))
    state(kernel(tmp_path, "new"))
    assert [path.exists() for path in made] == [True, False]
    assert len(list(root.iterdir())) == 2
