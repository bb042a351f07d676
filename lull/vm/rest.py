# SPDX-License-Identifier: GPL-2.0-only
"""Boots a machine until it stands by for a job, and saves it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from qemu.qmp import QMPClient

from lull.errors import LabError
from lull.vm.command import (
    OVERHEAD_MB,
    MachineSpec,
    StandbyWiring,
)
from lull.vm.console import scan
from lull.vm.cpio import initramfs
from lull.vm.machine import (
    DEFAULT_POLICY,
    Life,
    Listener,
    command_here,
    require_cpus,
    require_memory,
    require_qemu,
    scratch_room,
    wiring_in,
)
from lull.vm.outcome import failure, message
from lull.vm.qmp import save
from lull.vm.standby import READY, Standby, wait_at
from lull.vm.timeouts import TimeoutPolicy, watchdog_here

_POLL_S = 0.1
_WRITTEN_TRIES = 100


async def stand_by(
    spec: MachineSpec,
    *,
    program: bytes,
    folder: Path,
    policy: TimeoutPolicy = DEFAULT_POLICY,
) -> Standby:
    """Boot ``spec`` with ``program``, that of ``standby.recipe()``, until it waits for
    a job, and leave it in ``folder``.

    Raises as ``run`` does, Late where CPUs did not come up, and LabError where QEMU
    cannot save it.
    """
    require_qemu()
    require_memory(spec.memory_mb + OVERHEAD_MB)
    folder.mkdir(parents=True, exist_ok=True)
    watchdog = watchdog_here(policy)
    standby = Standby(folder)
    for path in standby.files:
        # QEMU would take the memory of an earlier try as it is.
        path.unlink(missing_ok=True)
    standby.initramfs.write_bytes(initramfs(program, ""))
    ready: asyncio.Future[Mapping[str, object]] = asyncio.Future()
    saved = False

    def result(line: bytes) -> None:
        kind, members = message(line)
        if kind == READY and not ready.done():
            ready.set_result(members)

    async def rest(qmp: QMPClient) -> None:
        nonlocal saved
        await ready
        await save(qmp, standby.state)
        saved = True
        await qmp.execute("quit")

    with scratch_room() as scratch:
        pipe = scratch / "handover"
        wait_at(pipe)
        wiring = replace(
            wiring_in(folder, scratch, spec.clock),
            initramfs=standby.initramfs,
            console=standby.console,
            standby=StandbyWiring(standby.memory, pipe, resumed=False),
        )
        command = command_here(spec, wiring)
        wanted = Listener(result=result)
        boot = Life(command, wiring, folder, watchdog, wanted, (), None, rest)
        ending = await boot.run()
    findings = scan(ending.console)
    error = failure(ending, findings, folder) if findings or not saved else None
    if error is not None:
        raise error
    require_cpus(ready.result().get("cpus"), spec, folder)
    await _written(standby.state)
    for path in standby.files:
        with path.open("rb") as file:
            os.fsync(file.fileno())
    return replace(standby, boot_s=watchdog.first_line or 0.0)


async def _written(state: Path) -> None:
    """Until all of it is there: QEMU may be done before who writes it has ended.
    It ends with a description of itself, in JSON."""
    for _ in range(_WRITTEN_TRIES):
        if state.read_bytes().endswith(b"}"):
            return
        await asyncio.sleep(_POLL_S)
    raise LabError("QEMU has not saved all of the guest", where=str(state))
