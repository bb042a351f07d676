# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from lull.graph.fit import fit
from lull.trees.model import Device, Phase, Tree, Work


def tree(us: int | None, *more: Device) -> Tree:
    work = {} if us is None else {Phase.SUSPEND: Work(us)}
    return Tree((Device("bus"), Device("disk", "bus", is_async=True, work=work), *more))


def disk(*trees: Tree) -> Device:
    return next(d for d in fit(trees).devices if d.name == "disk")


def test_a_time_is_the_median() -> None:
    found = disk(tree(100), tree(900), tree(300))
    assert found == Device(
        "disk", "bus", is_async=True, work={Phase.SUSPEND: Work(300)}
    )


def test_a_callback_that_half_of_them_have_is_none() -> None:
    assert disk(tree(100), tree(None)).work == {}
    assert disk(tree(100), tree(None), tree(100)).work != {}


def test_a_short_time_is_none() -> None:
    assert disk(tree(19)).work == {Phase.SUSPEND: Work(0)}
    assert disk(tree(20)).work == {Phase.SUSPEND: Work(20)}


def test_a_device_that_half_of_them_have_is_left_out() -> None:
    extra = Device("stick", "bus")
    found = fit([tree(1, extra), tree(1)])
    assert [device.name for device in found.devices] == ["bus", "disk"]
    found = fit([tree(1, extra), tree(1), tree(1, extra)])
    assert [device.name for device in found.devices] == ["bus", "disk", "stick"]


def test_names_that_hold_an_address_lose_it() -> None:
    parent = Device("enx00e04c123456", "bus")
    child = Device("00:e0:4c:12:34:56", "enx00e04c123456")
    found = fit([tree(1, parent, child)])
    assert [(d.name, d.parent) for d in found.devices[2:]] == [
        ("enx0", "bus"),
        ("addr0", "enx0"),
    ]
