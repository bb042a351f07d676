# SPDX-License-Identifier: GPL-2.0-only
"""What the plugin counts, against a program whose instructions are known."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.host.files import repo_root
from lull.host.process import run_alone
from lull.kernels.bases import base_words
from lull.model import Clock
from lull.report.profile import Count, parse
from lull.runs.profiler import mark_addresses
from lull.vm.accel import qemu_version
from lull.vm.command import MachineSpec
from lull.vm.machine import run
from lull.vm.plugin_build import build_plugin, plugin_api
from lull.vm.timeouts import TimeoutPolicy


@pytest.mark.parametrize(
    ("said", "api"),
    [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)", 1),
        ("QEMU emulator version 8.2.4", 1),
        ("QEMU emulator version 9.0.0", 2),
        ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)", 3),
    ],
)
def test_the_interface_follows_the_version(said: str, api: int) -> None:
    assert plugin_api(said) == api


@pytest.mark.parametrize("said", ["", "QEMU emulator version 3.1.0"])
def test_a_qemu_without_plugins_is_refused(said: str) -> None:
    with pytest.raises(CannotRun, match="QEMU"):
        plugin_api(said)


@pytest.mark.parametrize("said", ["version 7.2", "version 9.0", "version 10.0"])
def test_it_compiles_for_every_interface(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert build_plugin(repo_root(), said).is_file()


@pytest.mark.parametrize("said", ["version 9.0", "version 10.0"])
def test_newer_interfaces_count_by_calls(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A QEMU that lacks a symbol does not load the plugin: the inline counters
    of version 1 are gone since 9.0. Those that replace them, on scoreboards,
    break a guest with two CPUs under the insn clock from 10.0 on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    plugin = build_plugin(repo_root(), said)
    needs = subprocess.run(
        ["nm", "-D", "-P", "--undefined-only", str(plugin)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "qemu_plugin_register_vcpu_insn_exec_cb" in needs
    assert "inline" not in needs
    assert "scoreboard" not in needs


def count(base: str, kernel: Path, guest: Path, folder: Path) -> dict[str, Count]:
    out = folder.with_suffix(".txt")
    begin, end = mark_addresses(guest)
    words = f"symbols={kernel.parent / 'System.map'},out={out}"
    plugin = build_plugin(repo_root(), qemu_version())
    spec = MachineSpec(
        kernel,
        Clock.INSN,
        memory_mb=256,
        append=base_words(base, Clock.INSN),
        plugin=f"{plugin},{words},begin={begin:#x},end={end:#x}",
    )
    work = run(
        spec,
        probe=guest.read_bytes(),
        job="count",
        folder=folder,
        policy=TimeoutPolicy(scale=4),
    )
    run_alone(work)
    windows, functions = parse(out.read_text(), str(out))
    assert windows == 1
    return functions


@pytest.mark.vm
@pytest.mark.proof
def test_a_known_program_is_counted_exactly(
    base: str, kernel_image: Path, guest_program: Path, tmp_path: Path
) -> None:
    """guest.c: 1,000 rounds of three instructions, one of them locked."""
    one = count(base, kernel_image, guest_program, tmp_path / "one")
    assert one["[user]"].locked == 1001
    # Besides: mov, xchg, the first mark's return and the call of the second.
    assert one["[user]"].insns == 3004
    assert count(base, kernel_image, guest_program, tmp_path / "two") == one
