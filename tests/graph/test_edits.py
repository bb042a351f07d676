# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest

from lull.errors import BadTree, UsageError
from lull.graph.edits import Edit, apply, parse
from lull.trees.model import Device, Phase, Tree, Work

TREE = Tree(
    (
        Device("platform"),
        Device(
            "0000:00:1d.0",
            is_async=True,
            work={Phase.SUSPEND: Work(1000, busy=True), Phase.RESUME: Work(2000)},
        ),
        Device("disk", "0000:00:1d.0", work={Phase.SUSPEND: Work(3000)}),
    )
)


def changed(text: str) -> dict[str, Device]:
    return {device.name: device for device in apply(TREE, parse(text)).devices}


def test_words_are_split_at_commas_and_the_last_equals() -> None:
    assert parse("a=1ms, b:suspend=x2,") == (Edit("a", "1ms"), Edit("b:suspend", "x2"))
    assert parse("") == ()


def test_a_time_for_a_device_is_that_of_all_its_callbacks_and_no_new_one() -> None:
    found = changed("0000:00:1d.0=0.5ms")["0000:00:1d.0"]
    assert found.work == {
        Phase.SUSPEND: Work(500, busy=True),
        Phase.RESUME: Work(500),
    }


def test_a_time_for_a_phase_is_that_of_one_callback_which_may_be_new() -> None:
    found = changed("0000:00:1d.0:suspend_late=12ms")["0000:00:1d.0"]
    assert found.work[Phase.SUSPEND_LATE] == Work(12_000)
    assert found.work[Phase.SUSPEND] == Work(1000, busy=True)


@pytest.mark.parametrize(("time", "us"), [("7us", 7), ("1.5ms", 1500), ("2s", 2000000)])
def test_times_have_units(time: str, us: int) -> None:
    assert changed(f"disk={time}")["disk"].work[Phase.SUSPEND].us == us


def test_a_phase_is_scaled() -> None:
    found = changed("suspend=x0.5")
    assert found["0000:00:1d.0"].work[Phase.SUSPEND] == Work(500, busy=True)
    assert found["0000:00:1d.0"].work[Phase.RESUME] == Work(2000)
    assert found["disk"].work[Phase.SUSPEND] == Work(1500)


def test_async_is_for_all_or_for_one() -> None:
    assert all(device.is_async for device in changed("async=all").values())
    assert not any(device.is_async for device in changed("async=none").values())
    found = changed("disk=async,0000:00:1d.0=sync")
    assert (found["disk"].is_async, found["0000:00:1d.0"].is_async) == (True, False)


def test_a_device_is_put_in_after_another_and_linked() -> None:
    found = changed("vcc=after:platform,disk=supplier:vcc")
    assert list(found) == ["platform", "vcc", "0000:00:1d.0", "disk"]
    assert found["disk"].suppliers == ("vcc",)
    assert not found["vcc"].is_async


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("disk", "DEVICE=0ms"),
        ("dsk=0ms", "like it are disk"),
        ("DISK:suspend=0ms", ""),
        ("disk=12", "12ms"),
        ("disk=-1ms", "12ms"),
        ("async=some", "async=all"),
        ("disk=after:platform", "rename"),
        ("a/b=after:disk", "A-Z"),
        ("disk=supplier:vcc", ""),
    ],
)
def test_what_does_not_exist_is_an_error_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        changed(text)
    assert hint in caught.value.hint


def test_a_supplier_that_comes_later_is_an_error() -> None:
    with pytest.raises(BadTree, match="declared later"):
        changed("platform=supplier:disk")
