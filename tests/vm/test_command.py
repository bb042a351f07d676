# SPDX-License-Identifier: GPL-2.0-only
"""The command line of QEMU says what the two clocks promise."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from lull.model import Clock
from lull.vm.command import (
    MachineSpec,
    StandbyWiring,
    Wiring,
    kernel_words,
    qemu_command,
)

WIRING = Wiring(Path("/t/ir"), Path("/r/console"), Path("/r/results"), Path("/t/qmp"))
INSN = MachineSpec(kernel=Path("/k/bzImage"), clock=Clock.INSN)
WALL = replace(INSN, clock=Clock.WALL)


def option(command: list[str], name: str) -> str:
    assert command.count(name) == 1
    return command[command.index(name) + 1]


def test_insn_counts_instructions_from_a_fixed_date() -> None:
    command = qemu_command(INSN, WIRING)
    assert option(command, "-icount") == "shift=0,sleep=off"
    assert option(command, "-rtc") == "base=2026-01-01T00:00:00,clock=vm"
    assert option(command, "-accel").startswith("tcg,")
    assert option(command, "-cpu") == "qemu64"
    assert option(command, "-smp") == "2"
    assert option(command, "-nic") == "none"


def test_turns_are_taken_on_insn_alone() -> None:
    wiring = replace(WIRING, turns=Path("/t/turns.so"))
    command = qemu_command(INSN, wiring)
    assert command[:3] == ["env", "LD_PRELOAD=/t/turns.so", "qemu-system-x86_64"]
    assert command[3:] == qemu_command(INSN, WIRING)[1:]
    assert option(command, "-name") == "debug-threads=on"
    assert qemu_command(WALL, wiring) == qemu_command(WALL, WIRING)


def test_a_seed_moves_the_date_and_nothing_else() -> None:
    one = qemu_command(INSN, WIRING)
    other = qemu_command(replace(INSN, seed=61), WIRING)
    different = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    assert different == [
        ("base=2026-01-01T00:00:00,clock=vm", "base=2026-01-01T00:01:01,clock=vm")
    ]


def test_wall_does_not_count_instructions() -> None:
    for spec in (WALL, replace(WALL, accel="kvm")):
        command = qemu_command(spec, WIRING)
        assert "-icount" not in command
        assert option(command, "-accel").split(",")[0] == spec.accel
    assert "thread=single" in option(qemu_command(WALL, WIRING), "-accel")
    at_once = qemu_command(replace(WALL, parallel=True), WIRING)
    assert "thread=multi" in option(at_once, "-accel")


@pytest.mark.parametrize("resumed", [False, True])
def test_memory_of_who_stands_by_is_a_file_that_only_its_maker_writes(
    resumed: bool,
) -> None:
    standby = StandbyWiring(Path("/s,/memory"), Path("/t/pipe"), resumed)
    command = qemu_command(WALL, replace(WIRING, standby=standby))
    assert option(command, "-machine") == "pc,memory-backend=ram"
    memory = option(command, "-object").split(",id=")[1]
    share = "off" if resumed else "on"
    assert memory == f"ram,size=1024M,mem-path=/s,,/memory,share={share}"
    assert ("-incoming" in command) is resumed
    devices = [b for a, b in itertools.pairwise(command) if a == "-device"]
    assert [word.partition(",")[0] for word in devices] == [
        "virtio-serial-pci",
        "virtserialport",
        "virtserialport",
    ]
    assert "-object" not in qemu_command(WALL, WIRING)


@pytest.mark.parametrize("spec", [INSN, WALL, replace(WALL, accel="kvm")])
def test_every_machine_can_suspend_and_ends_at_a_panic(spec: MachineSpec) -> None:
    command = qemu_command(spec, WIRING)
    assert {"-nodefaults", "-no-user-config", "-no-reboot"} <= set(command)
    assert option(command, "-machine") == "pc"
    words = option(command, "-append").split()
    assert {"console=ttyS0", "nokaslr", "panic=-1", "preempt=none"} <= set(words)
    assert "quiet" not in words
    assert "virtserialport,chardev=results,name=lull.results" in command


def test_more_words_come_last() -> None:
    spec = replace(INSN, append=("lull.freeze=lull", "loglevel=7"))
    assert kernel_words(spec).endswith(" lull.freeze=lull loglevel=7")


def test_the_timer_is_not_tested_in_the_time_of_the_host() -> None:
    """Which may be busy just then."""
    assert "no_timer_check" in kernel_words(replace(INSN, clock=Clock.WALL)).split()
    assert "no_timer_check" not in kernel_words(INSN).split()


def test_a_comma_in_a_path_does_not_end_it() -> None:
    wiring = replace(WIRING, console=Path("/r,x/console"))
    assert "file,id=console,path=/r,,x/console" in qemu_command(INSN, wiring)


@pytest.mark.parametrize(
    "wrong",
    [
        {"accel": "kvm"},
        {"seed": -1},
        {"seed": 10**12},
        {"cpus": 0},
        {"memory_mb": 1},
        {"append": ("two words",)},
        {"append": ("",)},
    ],
)
def test_a_machine_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"insn|seed|machine|word"):
        MachineSpec(kernel=Path("k"), clock=Clock.INSN, **wrong)  # type: ignore[arg-type]
