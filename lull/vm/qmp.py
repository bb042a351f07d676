# SPDX-License-Identifier: GPL-2.0-only
"""What the lab says to QEMU, and how it takes leave of one."""

from __future__ import annotations

import asyncio
import logging
import shlex
from contextlib import suppress
from pathlib import Path

from qemu.qmp import QMPClient, QMPError, Runstate

from lull.errors import LabError

_POLL_S = 0.05

#: The guest's memory is a file of ours: it is not part of what is saved.
_MEMORY_STAYS = {"capabilities": [{"capability": "x-ignore-shared", "state": True}]}

# Its complaints about a QEMU that goes away are what the callers handle.
logging.getLogger("qemu.qmp").addHandler(logging.NullHandler())


async def accept(qmp: QMPClient) -> bool:
    """Until QEMU has come to the socket; a QEMU that dies first never does, or is
    gone when this says False."""
    with suppress(QMPError, EOFError, OSError):
        await qmp.accept()
        return True
    return False


async def gone(qmp: QMPClient) -> None:
    """Until the other side has hung up."""
    while qmp.runstate is Runstate.RUNNING:
        await qmp.runstate_changed()


async def quit_qemu(
    qmp: QMPClient, process: asyncio.subprocess.Process, limit_s: float
) -> None:
    """Ask QEMU to end; one that does not in ``limit_s`` is killed by the caller."""
    with suppress(QMPError, OSError, asyncio.TimeoutError):
        async with asyncio.timeout(limit_s):
            await qmp.execute("quit")
            await process.wait()


async def hang_up(qmp: QMPClient) -> None:
    """Take leave of a QEMU that may be gone."""
    with suppress(QMPError, EOFError, OSError):
        await qmp.disconnect()


async def save(qmp: QMPClient, state: Path) -> None:
    """Stop the guest and write all of it but its memory to ``state``.

    Raises QMPError, and LabError where QEMU could not.
    """
    await qmp.execute("migrate-set-capabilities", _MEMORY_STAYS)
    await qmp.execute("migrate", {"uri": f"exec:cat >{shlex.quote(str(state))}"})
    while True:
        said = await qmp.execute("query-migrate")
        status = said.get("status") if isinstance(said, dict) else None
        if status == "completed":
            return
        if status in ("failed", "cancelled"):
            raise LabError(f"QEMU could not save the guest: {said}", where=str(state))
        await asyncio.sleep(_POLL_S)


async def resume(qmp: QMPClient, state: Path) -> None:
    """Let a QEMU that waits for a guest go on with the one in ``state``.

    Raises QMPError. Of a state that QEMU does not take it dies.
    """
    await qmp.execute("migrate-set-capabilities", _MEMORY_STAYS)
    await qmp.execute(
        "migrate-incoming", {"uri": f"exec:cat {shlex.quote(str(state))}"}
    )
