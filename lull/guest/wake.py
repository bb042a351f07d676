# SPDX-License-Identifier: GPL-2.0-only
"""A guest that sleeps and is not woken by what it has set for that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from qemu.qmp import EventListener, QMPClient, QMPError
from qemu.qmp.qmp_client import ExecuteError

#: Longer than what any job sets its clock ahead.
PATIENCE_S = 20.0


@asynccontextmanager
async def attended(path: Path) -> AsyncIterator[None]:
    """Be there for the QEMU that comes to the socket ``path``.

    It wants somebody to listen. A guest that has slept for PATIENCE_S is woken, and
    again until it is: with other work on the host some were seen to sleep past their
    alarm for good, and why is not known.
    """
    qmp = QMPClient()
    told = EventListener(names={"SUSPEND", "WAKEUP"})
    qmp.register_listener(told)
    await qmp.start_server(str(path))
    waking = asyncio.create_task(_wake(qmp, told))
    try:
        yield
    finally:
        waking.cancel()
        await asyncio.gather(waking, return_exceptions=True)
        with suppress(QMPError, EOFError, OSError):
            await qmp.disconnect()


async def _wake(qmp: QMPClient, told: EventListener) -> None:
    await qmp.accept()
    asleep = False
    while True:
        try:
            limit = PATIENCE_S if asleep else None
            event = await asyncio.wait_for(told.get(), limit)
        except TimeoutError:
            # It may have woken by itself just now, and then that is said next.
            with suppress(ExecuteError):
                await qmp.execute("system_wakeup")
        else:
            asleep = event["event"] == "SUSPEND"
