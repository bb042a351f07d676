# SPDX-License-Identifier: GPL-2.0-only
"""A boot is repeated for the one fault that is known to be the emulator's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from lull.boot import Boot
from lull.errors import GuestPanic
from lull.experiment import boot_again

DONE = cast(Boot, object())
INT3 = GuestPanic("the guest's kernel reports a bug (Oops: int3: 0000)")
OTHER = GuestPanic("the guest's kernel reports a bug (WARNING: at fork.c)")


def starter(*faults: GuestPanic) -> tuple[list[int], Callable[[], Awaitable[Boot]]]:
    starts: list[int] = []

    async def start() -> Boot:
        starts.append(len(starts))
        if len(starts) <= len(faults):
            raise faults[len(starts) - 1]
        return DONE

    return starts, start


async def again(
    start: Callable[[], Awaitable[Boot]], begun: bool, said: list[str]
) -> Boot:
    return await boot_again(start, lambda: begun, said.append)


def test_a_breakpoint_without_a_handler_is_tried_again() -> None:
    said: list[str] = []
    starts, start = starter(INT3)
    assert asyncio.run(again(start, False, said)) is DONE
    assert len(starts) == 2
    assert "being patched" in said[0]


@pytest.mark.parametrize(
    ("faults", "begun", "times"),
    [((INT3, INT3), False, 2), ((INT3,), True, 1), ((OTHER,), False, 1)],
)
def test_nothing_else_is(
    faults: tuple[GuestPanic, ...], begun: bool, times: int
) -> None:
    starts, start = starter(*faults)
    with pytest.raises(GuestPanic):
        asyncio.run(again(start, begun, []))
    assert len(starts) == times
