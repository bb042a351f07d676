# SPDX-License-Identifier: GPL-2.0-only
"""What a boot's results have to show before they count."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from lull.errors import GuestFailed, LabError, Late, LullError
from lull.host.process import run_alone
from lull.kernels.record import Kernel
from lull.model import Arm, Clock, Job
from lull.runs import boot as boot_module
from lull.runs.boot import Boot, boot
from lull.vm.command import MachineSpec

DONE = '{"t":"done","samples":%d,"ok":true}\n'
BAD = '{"t":"check","case":0,"name":"FZ5","ok":false,"text":"3 escapes"}\n'
HELLO = '{"t":"hello","probe":1,"kernel":"6.12.117","cpus":%d,"features":{}}\n'


def booted(
    results: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: LullError | None = None,
    *,
    base: str = "6.12",
    clock: Clock = Clock.WALL,
    specs: dict[tuple[str, Clock], MachineSpec] | None = None,
) -> Boot:
    async def run(spec: MachineSpec, **more: object) -> SimpleNamespace:
        if specs is not None:
            specs[base, clock] = spec
        (folder / boot_module.machine.RESULTS).write_text(results)
        if ends:
            raise ends
        return SimpleNamespace(results=results.encode())

    monkeypatch.setattr(boot_module.machine, "run", run)
    words = ("package_version", "key", "digest", "compiler", "built")
    kernel = Kernel(
        base=base,
        arm=Arm.DEBUG,
        version="6.12.117",
        seconds=0,
        directory=folder,
        **dict.fromkeys(words, ""),
    )
    job = Job(seed=1, cases=())
    return run_alone(boot(kernel, job, clock=clock, accel="tcg", folder=folder))


def test_a_cpu_that_came_too_late_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing races on one."""
    with pytest.raises(Late, match="1 of its 2 CPUs"):
        booted(HELLO % 1 + DONE % 0, tmp_path, monkeypatch)
    assert booted(HELLO % 2 + DONE % 0, tmp_path, monkeypatch).stream.done
    # Nor can the probe bring it up again, and says so.
    with pytest.raises(Late, match="1 of its 2 CPUs"):
        booted(HELLO % 1, tmp_path, monkeypatch, GuestFailed("no CPU 1"))
    # But what it has found wrong before that is not lost by another boot.
    with pytest.raises(GuestFailed, match="no CPU 1"):
        booted(HELLO % 1 + BAD, tmp_path, monkeypatch, GuestFailed("no CPU 1"))
    with pytest.raises(GuestFailed, match="no CPU 1"):
        booted(HELLO % 2, tmp_path, monkeypatch, GuestFailed("no CPU 1"))


def test_samples_that_did_not_arrive_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LabError, match="3 of 3 samples"):
        booted(HELLO % 2 + DONE % 3, tmp_path, monkeypatch)


def test_a_base_s_own_words_come_to_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without them a kernel of 6.1 does not come up on insn: ``insn_words``."""
    specs: dict[tuple[str, Clock], MachineSpec] = {}
    for base in ("6.1", "6.12"):
        for clock in Clock:
            booted(
                HELLO % 2 + DONE % 0,
                tmp_path,
                monkeypatch,
                base=base,
                clock=clock,
                specs=specs,
            )
    assert {of for of, spec in specs.items() if "maxcpus=1" in spec.append} == {
        ("6.1", Clock.INSN)
    }
