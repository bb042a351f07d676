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

DONE = '{"t":"done","samples":%d,"ok":true}\n'
BAD = '{"t":"check","case":0,"name":"FZ5","ok":false,"text":"3 escapes"}\n'
HELLO = '{"t":"hello","probe":1,"kernel":"6.12.117","cpus":%d,"features":{}}\n'


def booted(
    results: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: LullError | None = None,
) -> Boot:
    async def run(spec: object, **more: object) -> SimpleNamespace:
        (folder / boot_module.machine.RESULTS).write_text(results)
        if ends:
            raise ends
        return SimpleNamespace(results=results.encode())

    monkeypatch.setattr(boot_module.machine, "run", run)
    words = ("package_version", "key", "digest", "compiler", "built")
    kernel = Kernel(
        base="6.12",
        arm=Arm.DEBUG,
        version="6.12.117",
        seconds=0,
        directory=folder,
        **dict.fromkeys(words, ""),
    )
    job = Job(seed=1, cases=())
    return run_alone(boot(kernel, job, clock=Clock.WALL, accel="tcg", folder=folder))


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
