# SPDX-License-Identifier: GPL-2.0-only
"""The `lull` of lull-tools on a made-up machine: what it says, and what it switches."""

from __future__ import annotations

import pytest

from lull.kernels.bases import load_base
from tests.deb.machine import Machine


def test_status_says_modes_counters_and_what_a_switch_would_do(
    machine: Machine,
) -> None:
    machine.put("sys/kernel/debug/lull/freeze/modes", "stock\nlull\n")
    machine.put("sys/kernel/debug/lull/freeze/stats", "visited 12\nwaits 3\n")
    done = machine.lull("status")
    assert done.returncode == 0
    freeze, thaw = done.stdout.split("\n\n")[1:3]
    title, mode, stock, lull, counters = freeze.splitlines()
    assert title == "freeze: freezing processes before a suspend"
    assert mode == "  mode: stock (as every kernel with Lull starts)"
    assert stock.startswith("  * stock  ") and lull.startswith("    lull  ")
    assert counters == "  counters: visited 12, waits 3"
    assert "counters: none" in thaw
    assert "sudo lull set FEATURE MODE   (back: stock)" in done.stdout


def test_counters_that_cannot_be_read_are_told_why(machine: Machine) -> None:
    """debugfs, where it is, is closed to others; where it is not, its place is open."""
    why = "counters: debugfs is not at /sys/kernel/debug (mount"
    assert why in machine.lull("status").stdout
    debugfs = machine.root / "sys/kernel/debug"
    debugfs.mkdir(parents=True)
    assert why in machine.lull("status").stdout
    debugfs.chmod(0)
    done = machine.lull("status", user=True)
    assert "counters: for root alone (sudo lull status)" in done.stdout


def test_status_shows_only_the_modes_that_the_kernel_has(machine: Machine) -> None:
    machine.put("sys/kernel/debug/lull/zfree/modes", "stock\nlull\n")
    done = machine.lull("status", "zfree")
    assert "lull " in done.stdout and "deferred" not in done.stdout
    assert "freeze:" not in done.stdout


def test_what_the_kernel_has_itself_is_no_mode_of_ours(machine: Machine) -> None:
    machine.features(devices="stock")
    own = "in this kernel itself"
    old = machine.lull("status", "devices").stdout
    assert own not in old and "as stock:" not in old
    machine.put("proc/sys/kernel/osrelease", "7.3.4-lull-amd64\n")
    native = load_base("7.3").native["devices"]
    new = machine.lull("status", "devices").stdout
    assert f"\n  {own}: {native}\n" in new
    assert f"\n  * stock       {native}\n" in new
    assert "\n    parents     as stock: this kernel does that by itself\n" in new
    assert machine.lull("set", "devices", "parents").returncode == 0
    machine.put("proc/sys/kernel/osrelease", "7.30.4-lull-amd64\n")
    assert own not in machine.lull("status", "devices").stdout


def test_why_a_feature_is_not_on_the_kernel(machine: Machine) -> None:
    (machine.root / "sys/module/lull/parameters/thaw").unlink()
    machine.put("proc/sys/kernel/osrelease", "6.1.0-42-lull-amd64\n")
    why = load_base("6.1").absent["thaw"]
    done = machine.lull("status", "thaw")
    assert done.returncode == 2 and f"thaw is not on this kernel: {why}" in done.stdout
    machine.settings(thaw="lull")
    done = machine.lull("apply")
    assert f"this kernel has no feature 'thaw': {why}" in done.stdout


def test_a_kernel_without_lull_is_told(machine: Machine) -> None:
    for path in (machine.root / "sys/module/lull/parameters").iterdir():
        path.unlink()
    machine.put("boot/vmlinuz-6.12.9-lull-amd64", "")
    done = machine.lull("status")
    assert done.returncode == 4
    assert "without Lull" in done.stdout
    assert done.stdout.endswith("boot one that is installed: 6.12.9-lull-amd64\n")
    (machine.root / "boot/vmlinuz-6.12.9-lull-amd64").unlink()
    assert machine.lull("status").stdout.endswith("none is in /boot\n")


@pytest.mark.parametrize(
    "words",
    [
        ["status", "nap"],
        ["status", "../thaw"],
        ["set", "nap", "lull"],
        ["set", "freeze", "lul."],
        ["set", "freeze"],
        ["apply", "x"],
        ["no"],
        [],
    ],
)
def test_what_does_not_exist_is_usage(machine: Machine, words: list[str]) -> None:
    assert machine.lull(*words).returncode == 2


def test_a_feature_is_set_and_set_back(machine: Machine) -> None:
    done = machine.lull("set", "freeze", "lull")
    assert done.returncode == 0 and machine.mode("freeze") == "lull"
    assert done.stdout.startswith("freeze: lull (it was stock), until the next boot;")
    assert machine.lull("set", "freeze", "stock").returncode == 0
    assert machine.mode("freeze") == "stock" and machine.mode("thaw") == "stock"


def test_what_is_not_set_is_told_why(machine: Machine) -> None:
    done = machine.lull("set", "zfree", "lul")
    assert "zfree has no mode 'lul'; it takes: stock locks deferred lull" in done.stdout
    done = machine.lull("set", "freeze", "lull", full=True)
    assert done.returncode == 1 and "freeze=lull: refused; it takes" in done.stdout
    machine.put("sys/module/lull/parameters/thaw", "stock\n").chmod(0o444)
    done = machine.lull("set", "thaw", "lull", user=True)
    assert done.returncode == 4
    assert done.stdout.endswith("  try: sudo lull set thaw lull\n")
    machine.put("run/.containerenv", "")
    assert machine.lull("set", "zfree", "lull").returncode == 4
    assert machine.mode("zfree") == machine.mode("thaw") == "stock"


def test_the_unit_sets_what_the_file_says(machine: Machine) -> None:
    machine.settings(freeze="lull", thaw='"stock"  # as it is', zfree="")
    assert machine.lull("apply").returncode == 0
    assert machine.mode("freeze") == "lull" and machine.mode("zfree") == "stock"
    status = machine.lull("status", "freeze").stdout
    assert "mode: lull (lull.service, from /etc/default/lull)" in status
    # The way back.
    machine.settings(freeze="stock")
    assert machine.lull("apply").returncode == 0
    assert machine.mode("freeze") == "stock"


def test_as_installed_it_switches_nothing(machine: Machine) -> None:
    assert machine.lull("apply").returncode == 0
    assert {machine.mode(name) for name in ("freeze", "thaw", "zfree")} == {"stock"}


def test_a_boot_parameter_wins_over_the_unit(machine: Machine) -> None:
    machine.boots_with('lull.freeze=stock "lull.thaw=lull" -- lull.zfree=stock')
    machine.features(thaw="lull")
    machine.settings(freeze="lull", thaw="stock", zfree="lull")
    done = machine.lull("apply")
    assert done.returncode == 0 and "left to the boot parameter" in done.stdout
    assert machine.mode("freeze") == "stock" and machine.mode("thaw") == "lull"
    # What is behind -- is not the kernel's.
    assert machine.mode("zfree") == "lull"
    status = machine.lull("status").stdout
    assert "mode: lull (the boot parameter lull.thaw=lull)" in status


def test_a_boot_parameter_of_no_mode_wins_too_and_is_told(machine: Machine) -> None:
    machine.boots_with("lull.freeze=lul")
    machine.settings(freeze="lull")
    assert machine.lull("apply").returncode == 0
    assert machine.mode("freeze") == "stock"
    status = machine.lull("status", "freeze").stdout
    assert "lull.freeze=lul, and there is no such mode" in status


def test_a_boot_parameter_is_no_pattern(machine: Machine) -> None:
    machine.boots_with("lull.freeze=lul.")
    status = machine.lull("status", "freeze").stdout
    assert "lull.freeze=lul., and there is no such mode" in status


def test_the_modes_of_a_feature_that_the_package_lacks_are_not_known(
    machine: Machine,
) -> None:
    """A kernel newer than lull-tools."""
    machine.features(nap="lull")
    machine.settings(nap="deep")
    machine.boots_with("lull.nap=lull")
    assert "(the boot parameter lull.nap=lull)" in machine.lull("status", "nap").stdout
    machine.features(nap="stock")
    status = machine.lull("status", "nap").stdout
    assert "was lull.nap=lull: refused, or written since" in status
    machine.boots_with("")
    status = machine.lull("status", "nap").stdout
    assert "wants deep, which was not applied (sudo lull apply)" in status
    assert "no such mode" not in status
    done = machine.lull("apply", full=True)
    assert done.returncode == 1 and done.stdout.endswith("LULL_NAP=deep: refused\n")
    assert machine.lull("apply").returncode == 0 and machine.mode("nap") == "deep"


def test_who_writes_later_wins_over_both(machine: Machine) -> None:
    machine.boots_with("lull.thaw=lull")
    machine.features(thaw="lull")
    machine.settings(freeze="lull")
    assert machine.lull("apply").returncode == 0
    machine.features(freeze="stock", thaw="stock", zfree="lull")
    status = machine.lull("status").stdout
    assert "mode: stock (written since: lull.service has set lull)" in status
    assert "written since: the boot parameter was lull.thaw=lull" in status
    assert "mode: lull (written by hand)" in status


def test_a_setting_that_is_refused_is_named_and_the_others_are_set(
    machine: Machine,
) -> None:
    machine.settings(freeze="lull")
    done = machine.lull("apply", full=True)
    assert done.returncode == 1
    assert "LULL_FREEZE=lull: refused; it takes: stock lull" in done.stdout
    assert (machine.root / "run/lull/applied").read_text() == ""


def test_a_switch_that_is_busy_is_no_wrong_setting(machine: Machine) -> None:
    machine.settings(freeze="lull")
    machine.stub("tee", 'echo "tee: $1: Device or resource busy" >&2; exit 1')
    done = machine.lull("apply")
    assert done.returncode == 1
    assert "LULL_FREEZE=lull: busy: a suspend is under way; again later" in done.stdout
    assert "it takes" not in done.stdout


def test_who_is_not_root_is_told_who_may(machine: Machine) -> None:
    machine.settings(freeze="lull")
    for path in (machine.root / "sys/module/lull/parameters").iterdir():
        path.chmod(0o444)
    done = machine.lull("apply", user=True)
    assert done.returncode == 4 and done.stdout.endswith("  try: sudo lull apply\n")
    assert machine.mode("freeze") == "stock"


@pytest.mark.parametrize("name", ["run/systemd/container", ".dockerenv"])
def test_a_container_leaves_the_machines_kernel_alone(
    machine: Machine, name: str
) -> None:
    machine.settings(freeze="lull")
    machine.put(name, "")
    done = machine.lull("apply")
    assert done.returncode == 4 and "this is a container" in done.stdout
    assert machine.mode("freeze") == "stock"
    assert machine.lull("status").returncode == 0


def test_a_name_that_is_misspelt_is_not_without_a_word(machine: Machine) -> None:
    machine.settings(freze="lull", freeze="lull")
    done = machine.lull("apply")
    assert done.returncode == 1
    assert "LULL_FREZE: this kernel has no feature 'freze'" in done.stdout
    assert machine.mode("freeze") == "lull"


@pytest.mark.parametrize(
    "line",
    ["freeze=lull", "LULL_freeze=lull", " LULL_FREEZE=lull", "LULL_FREEZE = lull"],
)
def test_a_line_that_is_no_setting_is_told(machine: Machine, line: str) -> None:
    text = f"# fine\n\n \t# fine, too\nLULL_THAW='lull' # why\n{line}\n"
    machine.put("etc/default/lull", text)
    done = machine.lull("apply")
    assert done.returncode == 1
    where = "lull: /etc/default/lull: line 5: not LULL_FEATURE=MODE: "
    assert done.stdout == f"{where}{line}\n"
    assert machine.mode("thaw") == "lull" and machine.mode("freeze") == "stock"


def test_a_comment_in_any_encoding_is_a_comment(machine: Machine) -> None:
    path = machine.put("etc/default/lull", "")
    path.write_bytes(b"# K\xe4lte\nLULL_FREEZE=lull # \xfc\n")
    done = machine.lull("apply")
    assert (done.returncode, done.stdout) == (0, "")
    assert machine.mode("freeze") == "lull"


def test_status_says_what_the_settings_want_and_do_not_get(machine: Machine) -> None:
    machine.settings(freeze="lul", thaw="lull", zfree="lull")
    machine.boots_with("lull.zfree=stock")
    freeze, thaw, zfree = machine.lull("status").stdout.split("\n\n")[1:4]
    assert "/etc/default/lull wants lul, and there is no such mode" in freeze
    why = "/etc/default/lull wants lull, which was not applied (sudo lull apply)"
    # That the boot parameter wins is no fault.
    assert why in thaw and "wants" not in zfree
    machine.lull("apply")
    assert "wants" not in machine.lull("status", "thaw").stdout
    # Nor is what somebody has written since.
    machine.features(thaw="stock")
    assert "wants" not in machine.lull("status", "thaw").stdout


def test_a_feature_that_the_kernel_lacks_matters_if_it_is_wanted(
    machine: Machine,
) -> None:
    machine.settings(attach="stock")
    assert machine.lull("apply").returncode == 0
    machine.settings(attach="lull")
    assert machine.lull("apply").returncode == 1
