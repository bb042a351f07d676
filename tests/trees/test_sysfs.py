# SPDX-License-Identifier: GPL-2.0-only
"""Fake sysfs trees: directories, plain files and the links between them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.errors import UsageError
from lull.trees.names import unique
from lull.trees.reader import NAME, read
from lull.trees.sysfs import scan
from lull.trees.writer import write


def device(root: Path, where: str, is_async: bool | None = False) -> None:
    power = root / "devices" / where / "power"
    power.mkdir(parents=True)
    if is_async is not None:
        (power / "async").write_text("enabled\n" if is_async else "disabled\n")


def link(
    root: Path, supplier: str, consumer: str, status: str = "active", only: str = "0"
) -> Path:
    name = f"pci:{supplier.replace('/', '!')}--pci:{consumer.replace('/', '!')}"
    entry = root / "class/devlink" / name
    entry.mkdir(parents=True)
    (entry / "supplier").symlink_to(root / "devices" / supplier)
    (entry / "consumer").symlink_to(root / "devices" / consumer)
    (entry / "status").write_text(status + "\n")
    (entry / "sync_state_only").write_text(only + "\n")
    return entry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    device(tmp_path, "pci0")
    device(tmp_path, "pci0/0000:00:1d.0", is_async=True)
    device(tmp_path, "pci0/0000:00:1d.0/nvme/nvme0")
    device(tmp_path, "platform")
    device(tmp_path, "platform/clk")
    (tmp_path / "class/devlink").mkdir(parents=True)
    return tmp_path


def suppliers(root: Path) -> dict[str, tuple[str, ...]]:
    return {d.name: d.suppliers for d in scan(root).tree.devices if d.suppliers}


def test_a_device_has_a_power_directory_and_the_next_one_above_as_its_parent(
    root: Path,
) -> None:
    tree = scan(root).tree
    assert [(d.name, d.parent, d.is_async) for d in tree.devices] == [
        ("pci0", None, False),
        ("0000:00:1d.0", "pci0", True),
        ("nvme0", "0000:00:1d.0", False),
        ("platform", None, False),
        ("clk", "platform", False),
    ]


def test_a_power_directory_of_sysfs_itself_makes_no_device(root: Path) -> None:
    before = scan(root).tree
    (root / "devices/power").mkdir()
    assert scan(root).tree == before


def test_a_link_is_a_supplier_which_comes_first(root: Path) -> None:
    link(root, "platform/clk", "pci0/0000:00:1d.0")
    found = scan(root).tree
    assert suppliers(root) == {"0000:00:1d.0": ("clk",)}
    names = [device.name for device in found.devices]
    assert names == ["pci0", "platform", "clk", "0000:00:1d.0", "nvme0"]


def test_links_that_suspend_does_not_wait_for_are_left_out_and_counted(
    root: Path,
) -> None:
    link(root, "platform/clk", "pci0", status="dormant")
    link(root, "platform", "pci0", only="1")
    (link(root, "platform/gone", "pci0")).joinpath("status").write_text("active")
    assert suppliers(root) == {}
    text = "\n".join(scan(root).caveats)
    for why in ("1 dormant", "1 sync_state_only", "1 incomplete"):
        assert why in text


def test_a_link_that_closes_a_cycle_is_left_out_and_named(root: Path) -> None:
    link(root, "platform/clk", "pci0")
    link(root, "pci0/0000:00:1d.0", "platform/clk")
    (dropped,) = [text for text in scan(root).caveats if "cycle" in text]
    assert suppliers(root) in ({"pci0": ("clk",)}, {"clk": ("0000:00:1d.0",)})
    assert "clk" in dropped


def test_without_power_async_a_device_is_sync_and_that_is_said(root: Path) -> None:
    assert not any("power/async" in text for text in scan(root).caveats)
    (root / "devices/pci0/0000:00:1d.0/power/async").unlink()
    found = scan(root)
    assert not any(device.is_async for device in found.tree.devices)
    (caveat,) = [text for text in found.caveats if "power/async" in text]
    assert "1 of 5 devices" in caveat
    assert "CONFIG_PM_ADVANCED_DEBUG" in caveat
    for path in root.rglob("power/async"):
        path.unlink()
    assert "for all devices" in scan(root).caveats[0]


def test_times_are_unknown_and_that_is_said(root: Path) -> None:
    found = scan(root)
    assert not any(device.work for device in found.tree.devices)
    assert any("times are not in sysfs" in text for text in found.caveats)


def test_names_become_legal_and_unique(root: Path) -> None:
    device(root, "platform/nvme0")
    device(root, "virtual/a b!c")
    os.makedirs(os.fsencode(root / "devices/virtual") + b"/\xff\n/power")
    names = [device.name for device in scan(root).tree.devices]
    assert {"nvme0", "nvme0:2", "a_b_c", "__"} < set(names)


def test_what_was_scanned_can_be_written_with_its_caveats(root: Path) -> None:
    found = scan(root)
    text = write(found.tree, found.caveats)
    assert read(text.encode(), "f") == found.tree
    assert text.count("\n# ") == len(found.caveats)


def test_without_the_devlink_class_suppliers_are_unknown(root: Path) -> None:
    assert not any("suppliers are unknown" in text for text in scan(root).caveats)
    (root / "class/devlink").rmdir()
    assert any("suppliers are unknown" in text for text in scan(root).caveats)


def test_a_place_that_is_not_sysfs_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="power directory"):
            scan(place)


def test_a_name_that_needs_no_change_keeps_it() -> None:
    assert unique(["a", "a", "a:2", "a", ""]) == ["a", "a:3", "a:2", "a:4", "_"]


@given(st.lists(st.text(max_size=70) | st.sampled_from(["a", "a:2", "b" * 70])))
def test_made_names_are_legal_and_all_different(names: list[str]) -> None:
    found = unique(names)
    assert len(found) == len(names) == len(set(found))
    assert all(NAME.fullmatch(name) for name in found)
