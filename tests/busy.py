# SPDX-License-Identifier: GPL-2.0-only
"""A host that is busy with something else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lull.host.process import die_with_parent


@contextmanager
def busy(count: int) -> Iterator[list[int]]:
    """The PIDs of as many processes that only spin, on the CPUs of who starts them. A
    worker that is killed takes them with it."""
    spin = [sys.executable, "-c", "while True: pass"]
    loops = []
    try:
        for _ in range(count):
            loops.append(subprocess.Popen(spin, preexec_fn=die_with_parent()))
        yield [loop.pid for loop in loops]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
