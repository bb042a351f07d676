# SPDX-License-Identifier: GPL-2.0-only
"""A machine that stands by is resumed as often as one likes."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from lull.errors import GuestPanic, LostVM
from lull.host.files import repo_root
from lull.host.process import run_alone
from lull.model import Clock
from lull.runs.again import boot_again
from lull.vm.command import MachineSpec
from lull.vm.compile import compiled
from lull.vm.machine import run
from lull.vm.rest import stand_by
from lull.vm.standby import Standby, hand_over, recipe


@pytest.fixture(scope="module")
def spec(kernel_image: Path) -> MachineSpec:
    # It finds its CPUs as that arm does.
    return MachineSpec(kernel_image, Clock.WALL, memory_mb=256, packages=True)


@pytest.fixture(scope="module")
def begun() -> float:
    """When it was not yet started."""
    return time.monotonic()


@pytest.fixture(scope="module")
def standby(
    spec: MachineSpec, begun: float, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Standby]:
    program = compiled(repo_root(), recipe()).read_bytes()

    async def start() -> Standby:
        folder = tmp_path_factory.mktemp("standby")
        return await stand_by(spec, program=program, folder=folder)

    # On a busy host it may be late, as any boot may.
    yield run_alone(boot_again(start, print))


@pytest.mark.vm
def test_each_has_its_own_files_memory_and_random_numbers(
    spec: MachineSpec, begun: float, standby: Standby, guest: bytes, tmp_path: Path
) -> None:
    said = []
    before = standby.memory.read_bytes()
    for name in ("one", "two"):
        resumed = partial(
            run,
            spec,
            probe=guest,
            job="state",
            folder=tmp_path / name,
            standby=standby,
        )
        done = run_alone(boot_again(resumed, print))
        # The arm debug has no ACPI: it has said its last, and the lab ends it.
        assert done.reason == "host-qmp-quit"
        # All that it has ever said, and its boot once.
        assert done.console.startswith(standby.console.read_bytes())
        assert done.console.count(b"Linux version") == 1
        (state,) = (
            line for line in map(json.loads, done.results.splitlines()) if "ns" in line
        )
        said.append(state)
    assert standby.boot_s > 0
    assert said[0]["random"] != said[1]["random"]
    # Both went on where the one was saved, a while after its start.
    passed = (time.monotonic() - begun) * 1e9
    assert all(0 < state["ns"] < passed for state in said)
    assert standby.memory.read_bytes() == before


@pytest.mark.vm
@pytest.mark.proof
def test_a_state_that_is_cut_off_is_told(
    spec: MachineSpec, standby: Standby, guest: bytes, tmp_path: Path
) -> None:
    copy = Standby(tmp_path / "copy")
    shutil.copytree(standby.folder, copy.folder)
    copy.state.write_bytes(copy.state.read_bytes()[:5000])
    with pytest.raises(LostVM) as told:
        run_alone(
            run(spec, probe=guest, job="state", folder=tmp_path / "run", standby=copy)
        )
    assert type(told.value) is LostVM
    assert "load of migration failed" in told.value.what


@pytest.mark.vm
@pytest.mark.proof
def test_a_first_program_that_ends_is_told(spec: MachineSpec, tmp_path: Path) -> None:
    with pytest.raises(GuestPanic, match=r"panic.*No working init found"):
        run_alone(stand_by(spec, program=b"none", folder=tmp_path))


def test_what_is_handed_over_has_its_length_before_it(tmp_path: Path) -> None:
    hand_over(tmp_path / "pipe", b"archive")
    data = (tmp_path / "pipe.in").read_bytes()
    assert data[32:] == (7).to_bytes(8, "little") + b"archive"
    hand_over(tmp_path / "other", b"archive")
    assert data[:32] != (tmp_path / "other.in").read_bytes()[:32]
