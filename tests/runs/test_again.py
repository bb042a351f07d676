# SPDX-License-Identifier: GPL-2.0-only
"""A boot is repeated for what is known to be the emulator's fault, or the host's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from types import SimpleNamespace
from typing import cast

import pytest

from lull.errors import GuestPanic, Late, LullError, NoMemory
from lull.runs import again
from lull.runs.again import boot_again
from lull.runs.boot import Boot

DONE = cast(Boot, object())
INT3 = GuestPanic("the guest's kernel reports a bug (Oops: int3: 0000)")
OTHER = GuestPanic("the guest's kernel reports a bug (WARNING: at fork.c)")


def starter(*faults: LullError) -> tuple[list[int], Callable[[], Awaitable[Boot]]]:
    starts: list[int] = []

    async def start() -> Boot:
        starts.append(len(starts))
        if len(starts) <= len(faults):
            raise faults[len(starts) - 1]
        return DONE

    return starts, start


def test_a_breakpoint_without_a_handler_is_tried_again() -> None:
    """At the start of a boot or later: its samples are not kept."""
    said: list[str] = []
    starts, start = starter(INT3, INT3)
    assert asyncio.run(boot_again(start, said.append, parallel=True)) is DONE
    assert len(starts) == 3
    assert [text for text in said if "being patched" in text] == said
    assert len(said) == 2


def test_a_guest_whose_devices_were_late_is_tried_again() -> None:
    said: list[str] = []
    starts, start = starter(Late("the guest came up without the port"))
    assert asyncio.run(boot_again(start, said.append, parallel=True)) is DONE
    assert len(starts) == 2
    assert "late" in said[0]


def test_memory_that_somebody_has_for_a_while_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(again, "LOOK_S", 0.0)
    said: list[str] = []
    starts, start = starter(*[NoMemory("9 MiB are available")] * 5)
    assert asyncio.run(boot_again(start, said.append)) is DONE
    assert len(starts) == 6 and "waiting for memory: 9 MiB" in said[0]
    # How long is counted from when it lacked this time.
    clock = SimpleNamespace(monotonic=count(0, 120).__next__)
    monkeypatch.setattr(again, "time", clock)
    few = NoMemory("9 MiB are available")
    starts, start = starter(few, Late("without the port"), few, few)
    assert asyncio.run(boot_again(start, said.append)) is DONE
    assert len(starts) == 5
    monkeypatch.undo()
    monkeypatch.setattr(again, "LOOK_S", 0.0)
    monkeypatch.setattr(again, "MEMORY_S", -1.0)
    _, start = starter(NoMemory("9 MiB are available"))
    with pytest.raises(NoMemory):
        asyncio.run(boot_again(start, said.append))


@pytest.mark.parametrize(("faults", "times"), [((INT3,) * 3, 3), ((OTHER,), 1)])
def test_nothing_else_is(faults: tuple[GuestPanic, ...], times: int) -> None:
    starts, start = starter(*faults)
    with pytest.raises(GuestPanic):
        asyncio.run(boot_again(start, lambda text: None, parallel=True))
    assert len(starts) == times


def test_it_is_a_fault_where_one_thread_runs_all() -> None:
    starts, start = starter(INT3)
    with pytest.raises(GuestPanic):
        asyncio.run(boot_again(start, lambda text: None))
    assert len(starts) == 1
