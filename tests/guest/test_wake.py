# SPDX-License-Identifier: GPL-2.0-only
"""A guest that nothing wakes is woken by the host."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from qemu.qmp import Message, QMPClient, QMPError
from qemu.qmp.models import ErrorResponse
from qemu.qmp.qmp_client import ExecuteError

from lull.guest import wake
from lull.guest.boot import Start, boot
from lull.guest.image import base_image
from lull.host.progress import open_progress
from lull.kernels.cache import Cache

SLEEP = """\
echo deep >/sys/power/mem_sleep
echo 0 >/sys/class/rtc/rtc0/wakealarm
for n in 1 2; do
    echo mem >/sys/power/state
    echo "awake $n: $(cat /sys/power/suspend_stats/success)"
done
"""


def test_a_qemu_that_never_comes_or_goes_at_once_is_no_matter(tmp_path: Path) -> None:
    async def nobody() -> None:
        async with wake.attended(tmp_path / "qmp"):
            pass

    async def somebody() -> None:
        async with wake.attended(tmp_path / "other"):
            _, writer = await asyncio.open_unix_connection(tmp_path / "other")
            writer.close()
            await asyncio.sleep(0.1)

    asyncio.run(nobody())
    asyncio.run(somebody())
    with pytest.raises((QMPError, OSError)):
        asyncio.run(QMPClient().connect(str(tmp_path / "qmp")))


class Sleeper:
    """A QEMU whose guest falls asleep and does not wake at the first word."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self.words = 0

    async def accept(self) -> None:
        await self.events.put({"event": "SUSPEND"})

    async def get(self) -> dict[str, str]:
        return await self.events.get()

    async def execute(self, command: str) -> None:
        assert command == "system_wakeup"
        self.words += 1
        if self.words == 3:
            await self.events.put({"event": "WAKEUP"})
        elif self.words == 1:
            error = {"error": {"class": "GenericError", "desc": "not now"}}
            said = Message(error)
            raise ExecuteError(ErrorResponse(said), said, said)


def test_who_does_not_wake_is_told_again_until_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(wake, "PATIENCE_S", 0.02)
    guest = Sleeper()

    async def watch() -> None:
        watching = asyncio.create_task(wake._wake(guest, guest))  # type: ignore[arg-type]
        while guest.words < 3 or guest.events.qsize():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        watching.cancel()

    asyncio.run(asyncio.wait_for(watch(), 20))
    assert guest.words == 3


@pytest.mark.default_base
@pytest.mark.vm
@pytest.mark.packages
@pytest.mark.seconds(120)
def test_who_sleeps_without_an_alarm_is_woken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wake, "PATIENCE_S", 5.0)
    with open_progress() as progress:
        image = base_image(Cache(), progress)
    start = Start(image.kernel, image.initrd, image.disk)
    text = boot(start, SLEEP, tmp_path / "run", limit_s=240)
    assert "awake 1: 1" in text and "awake 2: 2" in text
