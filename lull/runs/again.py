# SPDX-License-Identifier: GPL-2.0-only
"""The one way in which a boot is tried again: where it was not the kernel's fault."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lull.errors import GuestPanic, Late, NoMemory
from lull.host.process import run_alone
from lull.kernels.record import Kernel
from lull.model import Case, Clock, Job
from lull.runs.boot import Boot, boot
from lull.vm.accel import choose
from lull.vm.standby import Standby

T = TypeVar("T")

#: In so many boots in a row it was not the emulator.
TRIES = 3

#: For how long somebody else may have the memory, and how often to look.
MEMORY_S = 300.0
LOOK_S = 10.0


async def boot_again(
    start: Callable[[], Awaitable[T]],
    say: Callable[[str], None],
    *,
    parallel: bool = False,
) -> T:
    """``start``, and once or twice more where the emulator or the host failed.

    The kernel patches a static key by way of a breakpoint. With a thread for each
    vCPU (``parallel``), QEMU 7.2 can run into it after the kernel has taken its
    handler back. Seen at the key of the kernel's own clock, 0.9 s after the start,
    and at that of cpusets, which is turned off while the next case runs. Never
    where one thread runs both vCPUs: there it is a fault like any other. Nothing
    that such a boot has measured counts. And a host that is busy just then can
    have the guest's devices ready too late, or lack memory for a while.
    """
    failed = 0
    until: float | None = None
    while True:
        try:
            return await start()
        except GuestPanic as error:
            failed, until = failed + 1, None
            if not parallel or failed == TRIES or "Oops: int3" not in error.what:
                raise
            why = "QEMU ran into an instruction that was being patched"
        except Late:
            failed, until = failed + 1, None
            if failed == TRIES:
                raise
            why = "the guest's devices, or QEMU, were late"
        except NoMemory as error:
            until = until or time.monotonic() + MEMORY_S
            if time.monotonic() > until:
                raise
            say(f"waiting for memory: {error.what}")
            await asyncio.sleep(LOOK_S)
            continue
        say(f"{why}: the same boot again")


async def booted(
    kernel: Kernel,
    cases: tuple[Case, ...],
    folder: Path,
    *,
    seed: int = 1,
    clock: Clock = Clock.WALL,
    allow: Sequence[str] = (),
    seen: re.Pattern[str] | None = None,
    extra: Mapping[str, bytes] | None = None,
    rooms: Sequence[str] | None = None,
    standby: Standby | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Boot:
    """One boot with these cases to its end; raises as ``lull.runs.boot.boot``.

    ``allow``, ``seen``, ``extra``, ``rooms`` and ``standby`` are as there.
    """
    accel = "tcg" if clock is Clock.INSN else choose(kernel.bzimage).accel

    async def start() -> Boot:
        return await boot(
            kernel,
            Job(seed=seed, cases=cases),
            clock=clock,
            accel=accel,
            folder=folder,
            allow=allow,
            seen=seen,
            extra=extra,
            rooms=rooms,
            standby=standby,
        )

    return await boot_again(start, say)


def boot_cases(
    kernel: Kernel, cases: tuple[Case, ...], folder: Path, **more: Any
) -> Boot:
    """``booted``, for whoever has no event loop."""
    return run_alone(booted(kernel, cases, folder, **more))
