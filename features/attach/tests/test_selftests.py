# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests of cgroups pass in each mode where they pass on stock."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.kernels.bases import load_base
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.kernels.source import fetch
from lull.model import Arm, Case
from lull.runs.again import boot_cases
from lull.runs.selftests import losses, read_tries
from lull.vm.compile import Recipe, compiled

pytestmark = [pytest.mark.vm, pytest.mark.proof]

ROOM = "tools/testing/selftests"
#: Those that need no more than this kernel and its init have.
PROGRAMS = ("test_core", "test_freezer", "test_kill", "test_pids", "test_cpuset")
#: The first is what the others are held against.
MODES = ("stock", "threadgroup", "lull")


def program(tree: Path, name: str) -> bytes:
    """One of the tests, from the kernel's own sources."""
    recipe = Recipe(
        name=name,
        room="selftests",
        flags=("-O2", "-static", "-pthread", "-D_GNU_SOURCE=", f"-I{ROOM}"),
        sources=(f"{ROOM}/cgroup/{name}.c", f"{ROOM}/cgroup/cgroup_util.c"),
        headers=(
            f"{ROOM}/cgroup/cgroup_util.h",
            f"{ROOM}/kselftest.h",
            f"{ROOM}/clone3/clone3_selftests.h",
            f"{ROOM}/pidfd/pidfd.h",
        ),
    )
    return compiled(tree, recipe).read_bytes()


def test_what_passes_on_stock_passes_in_each_mode(tmp_path: Path) -> None:
    tree = fetch(load_base("6.12"), Cache()).tree
    cases = tuple(
        Case(
            feature="attach",
            workload="selftests",
            params={"program": name},
            order=MODES,
        )
        for name in PROGRAMS
    )
    extra = {f"selftests/{name}": program(tree, name) for name in PROGRAMS}
    kernel = build("6.12", Arm.LULL)
    done = boot_cases(kernel, cases, tmp_path, extra=extra)
    tries = read_tries(done.stream.notes)
    found = losses(tries, PROGRAMS, MODES)
    said = "\n".join(f"{one.program} {one.mode}:\n{one.text}" for one in tries)
    assert not found, "\n".join((*found, said))
