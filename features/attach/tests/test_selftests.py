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
#: Which of them a base's sources have not.
LACKING = {"6.1": ("test_pids", "test_cpuset")}
#: What they share: below cgroup/ in one kernel, below cgroup/lib/ in another.
SHARED = ("cgroup_util.c", "cgroup_util.h")
#: The first is what the others are held against.
MODES = ("stock", "threadgroup", "lull")


def programs(base: str) -> dict[str, bytes]:
    """The tests, from the kernel's own sources, compiled."""
    tree = fetch(load_base(base), Cache()).tree
    room = tree / ROOM / "cgroup"
    found = {name: next(room.rglob(name)).relative_to(tree) for name in SHARED}
    source, header = (str(found[name]) for name in SHARED)
    flags = ("-O2", "-static", "-pthread", "-D_GNU_SOURCE=", f"-I{ROOM}")
    return {
        name: compiled(
            tree,
            Recipe(
                name=name,
                room="selftests",
                flags=(*flags, f"-I{Path(header).parent}"),
                sources=(f"{ROOM}/cgroup/{name}.c", source),
                headers=(
                    header,
                    f"{ROOM}/kselftest.h",
                    f"{ROOM}/clone3/clone3_selftests.h",
                    f"{ROOM}/pidfd/pidfd.h",
                ),
            ),
        ).read_bytes()
        for name in PROGRAMS
        if name not in LACKING.get(base, ())
    }


def test_what_passes_on_stock_passes_in_each_mode(base: str, tmp_path: Path) -> None:
    tests = programs(base)
    cases = tuple(
        Case(
            feature="attach",
            workload="selftests",
            params={"program": name},
            order=MODES,
        )
        for name in tests
    )
    extra = {f"selftests/{name}": text for name, text in tests.items()}
    kernel = build(base, Arm.LULL)
    done = boot_cases(kernel, cases, tmp_path, extra=extra)
    tries = read_tries(done.stream.notes)
    found = losses(tries, tuple(tests), MODES)
    said = "\n".join(f"{one.program} {one.mode}:\n{one.text}" for one in tries)
    assert not found, "\n".join((*found, said))
