# SPDX-License-Identifier: GPL-2.0-only
"""The rate of the clock that an emulated guest reads, measured where it is ours.

Under TCG on the wall clock a guest's time stamp counter is the host's. A kernel
that boots finds its rate by the PIT, whose ticks come late on a busy host: seen
were 347 instead of 2,600 MHz, with which the guest's clock ran seven times too
fast, and every timeout in it was over too early.
"""

from __future__ import annotations

import platform
import subprocess
from functools import cache
from pathlib import Path

from lull.errors import LullError
from lull.host.files import repo_root
from lull.model import Clock
from lull.vm.command import MachineSpec
from lull.vm.compile import Recipe, compiled

SOURCE = "lull/vm/tsc.c"


def told_rate(spec: MachineSpec) -> tuple[str, ...]:
    """The words that tell a guest its rate; none where it finds it by itself."""
    if spec.clock is not Clock.WALL or spec.accel != "tcg":
        return ()
    khz = host_khz(repo_root())
    return (f"tsc_early_khz={khz}",) if khz else ()


@cache
def host_khz(root: Path) -> int:
    """Thousands of ticks a second, to about 10 in a million; 0 where unknown."""
    if platform.machine() != "x86_64":
        return 0
    recipe = Recipe(name="tsc", room="lull/vm", flags=("-O2",), sources=(SOURCE,))
    try:
        program = compiled(root, recipe)
        done = subprocess.run([program], capture_output=True, text=True, timeout=10)
        return int(done.stdout)
    except (LullError, OSError, ValueError, subprocess.SubprocessError):
        return 0
