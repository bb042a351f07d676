# SPDX-License-Identifier: GPL-2.0-only
"""Machines that run, and each way in which one can fail, with a real QEMU."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lull.errors import (
    CannotRun,
    GuestFailed,
    GuestPanic,
    LostVM,
    NoMemory,
    TimedOut,
)
from lull.host.process import run_alone
from lull.host.resources import available_mb
from lull.kernels import build as builder
from lull.kernels.bases import base_words
from lull.model import Arm, Clock
from lull.vm import machine
from lull.vm.command import MachineSpec
from lull.vm.machine import Listener, require_memory, run
from lull.vm.outcome import Ending, Outcome
from lull.vm.timeouts import TimeoutPolicy
from tests.busy import busy
from tests.vm.conftest import bzimage
from tests.waiting import ended

Boot = Callable[..., Outcome]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; empty again when a machine is gone."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    return place


@pytest.fixture
def boot(
    base: str, acpi_image: Path, guest: bytes, tmp_path: Path, scratch: Path
) -> Iterator[Boot]:
    def start(
        job: str,
        *,
        clock: Clock = Clock.WALL,
        policy: TimeoutPolicy | None = None,
        listener: Listener | None = None,
        folder: str = "run",
        allow: tuple[str, ...] = (),
        seen: re.Pattern[str] | None = None,
        seed: int = 0,
    ) -> Outcome:
        words = base_words(base, clock)
        spec = MachineSpec(acpi_image, clock, memory_mb=256, seed=seed, append=words)
        return run_alone(
            run(
                spec,
                probe=guest,
                job=job,
                folder=tmp_path / folder,
                policy=policy or TimeoutPolicy(),
                listener=listener,
                allow=allow,
                seen=seen,
            )
        )

    yield start
    assert not list(scratch.iterdir())


def test_the_kernel_is_of_the_base_that_is_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """6.12's was booted on every base, and built for it."""
    asked: list[object] = []

    def build(*words: object) -> SimpleNamespace:
        asked.append(words)
        return SimpleNamespace(bzimage=Path("bzImage"))

    monkeypatch.setattr(builder, "build", build)
    monkeypatch.setattr("tests.vm.conftest.require_qemu", lambda: None)
    monkeypatch.delenv("LULL_TEST_KERNEL", raising=False)
    assert bzimage("7.3", Arm.LULL) == Path("bzImage")
    assert asked == [("7.3", Arm.LULL)]


def gone(pid: int) -> bool:
    """Whether it is no more, not even to be waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.vm
@pytest.mark.proof
def test_a_good_run(boot: Boot, tmp_path: Path) -> None:
    lines: list[bytes] = []
    console: list[bytes] = []
    pids: list[int] = []
    outcome = boot(
        "quote", listener=Listener(pids.append, lines.append, console.append)
    )
    assert outcome.reason == "guest-shutdown"
    assert [line[:11] for line in lines] == [b'{"t":"hello', b'{"t":"done"']
    assert outcome.results == b"\n".join(lines) + b"\n"
    assert outcome.console == b"".join(console)
    # A program's own text that says WARNING is there, and is no finding.
    assert b"\nWARNING: CPU: 0 PID: 1 at the user's own text" in outcome.console
    assert outcome.accel == "tcg"
    assert outcome.command[0] == "qemu-system-x86_64"
    assert 0 < outcome.boot_s <= outcome.seconds
    assert (tmp_path / "run" / "console.log").read_bytes() == outcome.console
    assert (tmp_path / "run" / "results.raw").read_bytes() == outcome.results
    assert gone(pids[0])


@pytest.mark.vm
@pytest.mark.proof
@pytest.mark.parametrize("job", ["panic", "exit"])
def test_a_panic_is_told(boot: Boot, job: str, tmp_path: Path) -> None:
    with pytest.raises(GuestPanic) as caught:
        boot(job)
    assert caught.value.exit_code == 255
    assert caught.value.where == str(tmp_path / "run")
    assert "Kernel panic - not syncing" in caught.value.what
    assert (tmp_path / "run" / "console.log").exists()


@pytest.mark.vm
@pytest.mark.proof
def test_a_panic_that_is_expected_still_leaves_no_done(boot: Boot) -> None:
    with pytest.raises(LostVM, match="had not said that it was done"):
        boot("panic", allow=("sysrq triggered crash",))


@pytest.mark.vm
@pytest.mark.proof
@pytest.mark.parametrize("job", ["hang", "spin", "suspend"])
def test_a_hang_is_given_up(
    boot: Boot, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LULL_TIMEOUT_SCALE", "1")
    pids: list[int] = []
    with pytest.raises(TimedOut) as caught:
        boot(
            job,
            policy=TimeoutPolicy(boot_s=120, stall_s=20, overall_s=300),
            listener=Listener(started=pids.append),
        )
    assert caught.value.exit_code == 124
    assert "no result and no console output for 20.0 s" in caught.value.what
    assert ("the guest is suspended" in caught.value.what) == (job == "suspend")
    assert "Run /init as init process" in caught.value.what or job == "suspend"
    assert gone(pids[0])


@pytest.mark.vm
@pytest.mark.proof
@pytest.mark.parametrize(
    ("policy", "seen"),
    [
        (TimeoutPolicy(bug_s=2, seen_s=900), "WARNING: in another"),
        (TimeoutPolicy(bug_s=900, seen_s=2), "WARNING: WARNING: by"),
    ],
)
def test_a_bug_ends_a_guest_that_does_not_end(
    boot: Boot, policy: TimeoutPolicy, seen: str
) -> None:
    """The one that it was booted for does so at once."""
    # The other limit is as long as that of the whole run, which says so instead.
    with pytest.raises(GuestPanic, match="WARNING: by the guest") as caught:
        boot("warn", policy=policy, seen=re.compile(seen))
    assert "given up: its kernel had reported a bug" in caught.value.what


@pytest.mark.vm
@pytest.mark.proof
def test_a_guest_that_says_error_failed(boot: Boot) -> None:
    with pytest.raises(GuestFailed, match="zfree: no zram") as caught:
        boot("error")
    assert caught.value.exit_code == 125


@pytest.mark.vm
@pytest.mark.proof
def test_a_guest_that_leaves_without_a_word_is_lost(boot: Boot) -> None:
    with pytest.raises(LostVM, match=r"status 0.*had not said that it was done"):
        boot("silent")


@pytest.mark.vm
@pytest.mark.proof
def test_a_guest_that_is_done_and_stays_is_ended(boot: Boot) -> None:
    outcome = boot("stay", policy=TimeoutPolicy(leave_s=0.5))
    assert outcome.reason == "host-qmp-quit"
    assert b'"done"' in outcome.results


@pytest.mark.vm
@pytest.mark.proof
def test_a_qemu_that_is_killed_is_lost(boot: Boot) -> None:
    pids: list[int] = []

    def kill(line: bytes) -> None:
        os.kill(pids[0], signal.SIGKILL)

    with pytest.raises(LostVM, match="killed by SIGKILL") as caught:
        boot("hang", listener=Listener(started=pids.append, result=kill))
    assert caught.value.exit_code == 125
    assert "the console's last lines" in caught.value.what


@pytest.mark.vm
@pytest.mark.proof
def test_a_callback_that_raises_ends_the_machine(boot: Boot) -> None:
    pids: list[int] = []

    def fail(line: bytes) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        boot("hang", listener=Listener(started=pids.append, result=fail))
    assert gone(pids[0])


@pytest.mark.vm
@pytest.mark.proof
def test_a_kernel_that_is_none_is_lost(tmp_path: Path, scratch: Path) -> None:
    kernel = tmp_path / "bzImage"
    kernel.write_bytes(b"not a kernel")
    spec = MachineSpec(kernel, Clock.WALL, memory_mb=256)
    with pytest.raises(LostVM, match=r"QEMU says: .*kernel"):
        run_alone(run(spec, probe=b"", job="", folder=tmp_path / "run"))
    assert not list(scratch.iterdir())


# A background job of a shell starts with SIGINT ignored; the child must not.
CHILD = """
import signal
import sys
from pathlib import Path
from lull.model import Clock
from lull.vm.command import MachineSpec
from lull.vm.machine import Listener, run
from lull.host.process import run_alone
signal.signal(signal.SIGINT, signal.default_int_handler)
kernel, guest, folder = map(Path, sys.argv[1:])
tell = lambda what: print(what, flush=True)
run_alone(run(
    MachineSpec(kernel, Clock.WALL, memory_mb=256),
    probe=guest.read_bytes(), job="hang", folder=folder,
    listener=Listener(started=tell, result=tell),
))
"""


@pytest.mark.vm
@pytest.mark.proof
@pytest.mark.parametrize(
    ("number", "when", "status"),
    [
        (signal.SIGINT, "running", -signal.SIGINT),
        (signal.SIGINT, "starting", -signal.SIGINT),
        (signal.SIGTERM, "running", 143),
        (signal.SIGTERM, "starting", 143),
        (signal.SIGKILL, "running", -signal.SIGKILL),
    ],
)
def test_an_interrupt_leaves_nothing(
    kernel_image: Path,
    guest: bytes,
    tmp_path: Path,
    number: signal.Signals,
    when: str,
    status: int,
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    program = tmp_path / "guest"
    program.write_bytes(guest)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, kernel_image, program, tmp_path / "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **os.environ,
            "TMPDIR": str(scratch),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
    )
    try:
        assert child.stdout is not None
        qemu = int(child.stdout.readline())
        if when == "running":
            assert b"hello" in child.stdout.readline()
        assert list(scratch.iterdir())
        child.send_signal(number)
        _, stderr = child.communicate(timeout=300)
    finally:
        child.kill()
        child.wait()
    assert child.returncode == status, stderr
    ended(qemu)
    # Nobody can tidy up after SIGKILL, but the machine is gone all the same.
    if number != signal.SIGKILL:
        assert not list(scratch.iterdir())


@pytest.mark.vm
@pytest.mark.proof
def test_insn_follows_the_seed_and_not_the_load_of_the_host(boot: Boot) -> None:
    first = boot("forks", clock=Clock.INSN, folder="one", seed=3)
    assert first.results.count(b'"sample"') == 200
    with busy(os.cpu_count() or 1):
        second = boot("forks", clock=Clock.INSN, folder="two", seed=3)
    assert first.results == second.results
    assert first.console == second.console
    # Of the next second's date 6.1 makes the same times, to the instruction.
    other = boot("forks", clock=Clock.INSN, folder="three", seed=40_000)
    assert first.results != other.results


@pytest.mark.vm
@pytest.mark.proof
def test_a_qemu_in_which_no_turns_are_taken_is_no_clock(
    boot: Boot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that is linked statically, of which ld.so says nothing."""
    qemu = tmp_path / "bin" / "qemu-system-x86_64"
    qemu.parent.mkdir()
    real = shutil.which(qemu.name)
    qemu.write_text(f'#!/bin/sh\nexec env -u LD_PRELOAD {real} "$@"\n')
    qemu.chmod(0o755)
    monkeypatch.setenv("PATH", f"{qemu.parent}:{os.environ['PATH']}")
    with pytest.raises(CannotRun, match="threads were not found"):
        boot("quote", clock=Clock.INSN)


@pytest.mark.parametrize("clock", list(Clock))
def test_a_boot_without_turns_is_refused_on_insn_alone(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = Ending(b'{"t":"done"}\n', b"", b"", 0, None, False, "", ())

    async def live(self: object) -> Ending:
        return done

    monkeypatch.setattr("lull.vm.machine.require_qemu", lambda: None)
    monkeypatch.setattr("lull.vm.machine.Life.run", live)
    spec = MachineSpec(Path("bzImage"), clock, memory_mb=64)
    booted = run(spec, probe=b"", job="", folder=tmp_path)
    if clock is Clock.INSN:
        with pytest.raises(CannotRun, match="threads were not found"):
            run_alone(booted)
    else:
        assert run_alone(booted).results == done.results


def test_a_report_is_seen_where_a_look_comes_in_the_middle_of_its_line(
    tmp_path: Path,
) -> None:
    bugs: list[tuple[bool, bool]] = []
    watchdog = SimpleNamespace(
        console=lambda now: None, bug=lambda now, *found: bugs.append(found)
    )
    wiring = SimpleNamespace(console=tmp_path / "console", results=tmp_path / "results")
    wanted = re.compile(".*KASAN: slab-use-after-free in zs")
    life = machine.Life(
        [], cast(Any, wiring), tmp_path, cast(Any, watchdog), Listener(), (), wanted
    )
    line = b"[    1.000000] BUG: KASAN: slab-use-after-free in zs_free+0x1/0x2\n"
    for end in (line.index(b"G:"), line.index(b"_free"), len(line)):
        wiring.console.write_bytes(line[:end])
        life._look(1.0)
    assert bugs == [(True, False), (True, True)]


def test_too_little_memory_is_told_with_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CannotRun, match=r"needs 999999999 MiB .* \d+ MiB are avail"):
        require_memory(999_999_999)
    require_memory(1)
    monkeypatch.setattr(machine, "available_mb", lambda: 0)
    with pytest.raises(NoMemory):
        require_memory(1)
    assert available_mb("MemTotal: 9 kB\nMemAvailable:   2048000 kB\n") == 2000
    assert available_mb("MemTotal: 9 kB\n") is None


def test_no_qemu_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    spec = MachineSpec(tmp_path / "k", Clock.WALL)
    with pytest.raises(CannotRun, match="qemu-system-x86_64 is not in PATH") as caught:
        run_alone(run(spec, probe=b"", job="", folder=tmp_path / "run"))
    assert "qemu-system-x86" in caught.value.hint
    assert not (tmp_path / "run").exists()


def test_a_deep_temporary_directory_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with machine.scratch_room() as scratch:
        assert len(str(scratch / "qmp")) < 108
    assert not scratch.exists()


@pytest.mark.parametrize("name", ["of mine", "a:b"])
def test_the_scratch_directory_is_one_word_of_ld_preload(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / name
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    with machine.scratch_room() as scratch:
        assert not re.search(r"[\s:]", str(scratch))
