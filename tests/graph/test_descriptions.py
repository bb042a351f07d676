# SPDX-License-Identifier: GPL-2.0-only
"""The two laptops in features/devices/trees, and what they promise."""

from __future__ import annotations

import re

import pytest

from lull.host.files import repo_root
from lull.trees.model import Phase, Tree
from lull.trees.reader import read
from lull.trees.schedule import Rules, critical_path, schedule

TREES = repo_root() / "features" / "devices" / "trees"
NAMES = ("laptop.tree", "laptop-display.tree")


def tree(name: str) -> Tree:
    return read((TREES / name).read_bytes(), name)


def ms(which: Tree, phase: Phase, rules: Rules) -> float:
    return schedule(which, phase, rules).makespan_us / 1000


@pytest.mark.parametrize("name", NAMES)
def test_a_laptop_has_about_900_devices_some_of_them_async(name: str) -> None:
    devices = tree(name).devices
    assert 850 <= len(devices) <= 950
    assert 50 <= sum(device.is_async for device in devices) <= 100


def test_stock_suspend_of_the_laptop_is_disk_and_display_one_after_the_other() -> None:
    assert ms(tree("laptop.tree"), Phase.SUSPEND, Rules.STOCK) == pytest.approx(
        427, rel=0.02
    )


@pytest.mark.parametrize("rules", [Rules.PARENTS, Rules.LINKS, Rules.LULL])
def test_other_rules_suspend_the_laptop_in_the_time_of_its_display(
    rules: Rules,
) -> None:
    laptop = tree("laptop.tree")
    assert critical_path(laptop, Phase.SUSPEND).us == 298_000
    assert ms(laptop, Phase.SUSPEND, rules) == pytest.approx(298, rel=0.02)


@pytest.mark.parametrize(
    ("phase", "stock"),
    [
        (Phase.SUSPEND_LATE, 13),
        (Phase.SUSPEND_NOIRQ, 31),
        (Phase.RESUME_NOIRQ, 25),
        (Phase.RESUME_EARLY, 1),
        (Phase.RESUME, 449),
    ],
)
def test_the_other_phases_of_the_laptop_take_what_the_thread_measured(
    phase: Phase, stock: float
) -> None:
    assert ms(tree("laptop.tree"), phase, Rules.STOCK) == pytest.approx(stock, rel=0.02)


@pytest.mark.parametrize("rules", Rules)
def test_no_rules_resume_the_laptop_much_later_than_its_critical_path(
    rules: Rules,
) -> None:
    laptop = tree("laptop.tree")
    path = critical_path(laptop, Phase.RESUME).us / 1000
    assert ms(laptop, Phase.RESUME, rules) <= 1.05 * path


def test_where_one_device_fills_suspend_no_rules_help() -> None:
    display = tree("laptop-display.tree")
    times = [ms(display, Phase.SUSPEND, rules) for rules in Rules]
    assert max(times) <= 1.02 * min(times)
    assert min(times) == pytest.approx(1203, rel=0.02)


@pytest.mark.parametrize("name", NAMES)
def test_no_name_holds_an_address(name: str) -> None:
    address = re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}|[ew][nl]x[0-9a-f]{6}")
    assert not address.search((TREES / name).read_text())
