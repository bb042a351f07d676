# SPDX-License-Identifier: GPL-2.0-only
"""KVM is taken where it runs a guest, and its absence is seen in seconds."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from lull.errors import CannotRun, UsageError
from lull.vm import accel
from lull.vm.accel import Attempt, Decision, choose, device_obstacle, judge
from lull.vm.timeouts import SCALE_VARIABLE

PANIC = b"[    0.5] Kernel panic - not syncing: VFS: Unable to mount root fs\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LULL_ACCEL", raising=False)
    monkeypatch.delenv(SCALE_VARIABLE, raising=False)


def fake_qemu(
    folder: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> tuple[Path, Path]:
    """A QEMU that does ``body`` and counts its starts, and a device that opens.
    Whether it does so in time depends on the host: no test of another thing does."""
    monkeypatch.setattr(accel, "FIRST_BYTE_S", 300.0)
    monkeypatch.setattr(accel, "PANIC_S", 7000.0)
    tools = folder / "bin"
    tools.mkdir()
    starts = folder / "starts"
    script = tools / "qemu-system-x86_64"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo fake 1; exit; }\n'
        f"echo >> {starts}\n"
        'for word; do case "$word" in file,*path=*) console="${word##*path=}";;'
        f" esac; done\n{body}\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(accel, "device_obstacle", lambda device: None)
    return starts, folder / "bzImage"


def test_a_guest_that_reaches_its_panic_means_kvm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = f'printf "%s" "{PANIC.decode()}" > "$console"'
    starts, kernel = fake_qemu(tmp_path, monkeypatch, body)
    assert choose(kernel).accel == "kvm"
    assert choose(kernel).accel == "kvm"
    assert len(starts.read_text()) == 1  # the second answer was remembered


def test_a_guest_that_never_prints_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    starts, kernel = fake_qemu(
        tmp_path, monkeypatch, f"echo $$ > {pid}; exec sleep 1000"
    )

    def monotonic() -> float:
        """Time stands still until it runs, however long that takes."""
        runs = pid.is_file() and pid.read_text().endswith("\n")
        return accel.FIRST_BYTE_S * 20 + 1 if runs else 0.0

    clock = SimpleNamespace(monotonic=monotonic, time_ns=time.time_ns)
    monkeypatch.setattr(accel, "time", clock)
    decision = choose(kernel)
    assert decision.accel == "tcg"
    assert "printed nothing after 6001.0 s" in decision.reason
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert choose(kernel) == decision
    assert len(starts.read_text()) == 1


def test_a_qemu_that_refuses_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "echo failed to set MSR >&2; exit 1"
    _, kernel = fake_qemu(tmp_path, monkeypatch, body)
    decision = choose(kernel)
    assert decision.accel == "tcg"
    assert "failed to set MSR" in decision.reason


def test_a_start_that_gets_no_further_is_no_kvm() -> None:
    decision = judge(Attempt(b"Linux version", b"", ended=False, seconds=10))
    assert decision.accel == "tcg"
    assert "got no further after 10.0 s" in decision.reason


def test_a_panic_of_another_kind_is_no_kvm() -> None:
    text = b"Kernel panic - not syncing: Fatal exception\n"
    assert judge(Attempt(text, b"", ended=True, seconds=1)).accel == "tcg"


def test_why_the_device_does_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "does not exist" in str(device_obstacle(tmp_path / "kvm"))
    assert "does not open" in str(device_obstacle(tmp_path))
    assert device_obstacle(Path("/dev/null")) is None

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert "no permission" in str(device_obstacle(Path("/dev/kvm")))


@pytest.mark.parametrize("name", ["tcg", "kvm"])
def test_the_user_decides(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_ACCEL", name)
    assert choose(Path("none")) == Decision(name, f"LULL_ACCEL={name}")  # type: ignore[arg-type]


def test_an_unknown_accelerator_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LULL_ACCEL", "hvf")
    with pytest.raises(UsageError, match="kvm and tcg"):
        choose(Path("none"))


def test_no_qemu_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRun) as caught:
        choose(Path("none"))
    assert caught.value.exit_code == 4
    assert "apt-get install qemu-system-x86" in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"accel":"x","reason":""}', "1"])
def test_a_broken_answer_is_no_answer(tmp_path: Path, text: str) -> None:
    path = tmp_path / "answer"
    path.write_text(text)
    assert accel.recall(path) is None


def test_another_boot_or_another_qemu_is_another_answer() -> None:
    files = {accel.cache_file(b, v) for b in ("b1", "b2") for v in ("v1", "v2")}
    assert len(files) == 4


@pytest.mark.vm
@pytest.mark.proof
def test_this_machine_is_decided_on(kernel_image: Path) -> None:
    decision = choose(kernel_image)
    assert decision.accel in ("kvm", "tcg")
    assert decision.reason
