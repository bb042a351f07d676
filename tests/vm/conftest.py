# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of virtual machines share: a kernel, and a guest for it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.model import Arm
from lull.vm.machine import require_qemu

HERE = Path(__file__).parent
PROBE = HERE.parents[1] / "probe"
FLAGS = ("-O2", "-static", "-no-pie", "-std=gnu11", "-Wall", "-Wextra", "-Werror")


@pytest.fixture(scope="session")
def kernel_image(base: str) -> Path:
    """A bzImage: the one that LULL_TEST_KERNEL names, else that of the arm debug, which
    the trials need anyway. It has no ACPI, and its guests cannot switch off."""
    return bzimage(base, Arm.DEBUG)


@pytest.fixture(scope="session")
def acpi_image(base: str) -> Path:
    """One whose guests can switch off, and suspend."""
    return bzimage(base, Arm.LULL)


def bzimage(base: str, arm: Arm) -> Path:
    """Where no kernel is named, that of an arm; skips where there is no QEMU."""
    try:
        require_qemu()
    except CannotRun as missing:
        pytest.skip(str(missing))
    named = os.environ.get("LULL_TEST_KERNEL")
    if named:
        return Path(named)
    # Only here: the unit tests need no kernel and no builder.
    from lull.kernels.build import build

    return build(base, arm).bzimage


@pytest.fixture(scope="session")
def guest_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The static program of guest.c, which takes the probe's place."""
    program = tmp_path_factory.mktemp("guest") / "guest"
    sources = [HERE / "guest.c", PROBE / "mark.c", PROBE / "port.c"]
    subprocess.run(
        ["gcc", *FLAGS, f"-I{PROBE}", "-o", str(program), *sources], check=True
    )
    return program


@pytest.fixture(scope="session")
def guest(guest_program: Path) -> bytes:
    return guest_program.read_bytes()


@pytest.fixture
def recorded() -> dict[str, bytes]:
    """The console logs in data/, by name without the suffix."""
    return {path.stem: path.read_bytes() for path in (HERE / "data").glob("*.log")}
