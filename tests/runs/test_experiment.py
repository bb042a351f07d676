# SPDX-License-Identifier: GPL-2.0-only
"""What a run keeps when one of its boots fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lull.errors import GuestPanic
from lull.model import Clock
from lull.runs import experiment
from lull.runs.boot import Boot


class Folder:
    path = Path("run")

    def __init__(self) -> None:
        self.kept: list[int] = []

    def append(self, samples: list[int]) -> None:
        self.kept += samples

    def add_recordings(self, number: int, recordings: list[str]) -> None:
        assert number == self.kept[-1]


def boot(number: int) -> Boot:
    stream = SimpleNamespace(samples=[number], recordings=[])
    return Boot(cast(Any, None), cast(Any, stream))


def test_what_others_have_measured_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boot 1 fails when 0 and 2 have ended; 3 is under way."""
    ended = asyncio.Event()

    async def one(item: object, *more: Any) -> Boot:
        number = more[4]
        if number == 1:
            await ended.wait()
            raise GuestPanic("bug")
        if number == 3:
            await asyncio.sleep(1000)
        if number == 2:
            ended.set()
        return boot(number)

    monkeypatch.setattr(experiment, "_one", one)
    monkeypatch.setattr(experiment, "_judge", lambda *words: None)
    monkeypatch.setattr(experiment, "side_by_side", lambda clock: 4)
    folder = Folder()
    planned = [SimpleNamespace(title=f"{n}") for n in range(4)]
    request = SimpleNamespace(clock=Clock.INSN)
    progress = SimpleNamespace(step=lambda text: None)
    with pytest.raises(GuestPanic):
        asyncio.run(
            experiment._boots(
                cast(Any, planned),
                {},
                cast(Any, request),
                "tcg",
                cast(Any, folder),
                cast(Any, progress),
            )
        )
    assert folder.kept == [0, 2]
