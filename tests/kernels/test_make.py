# SPDX-License-Identifier: GPL-2.0-only
"""How make is run, and how it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lull.errors import LabError
from lull.kernels.make import Step, build_identity, environment, make_flags, run_step
from tests.waiting import alive, ended


def test_flags_fix_what_a_kernel_says_of_its_origin() -> None:
    flags = make_flags(Path("/a/src"), ccache=True)
    for name in ("TIMESTAMP", "USER", "HOST", "VERSION"):
        assert any(flag.startswith(f"KBUILD_BUILD_{name}=") for flag in flags)
    assert "LOCALVERSION=" in flags
    assert "CC=ccache gcc" in flags
    assert not any("ccache" in flag for flag in build_identity())


def test_the_environment_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "ARCH", "KCFLAGS", "LANG", "CCACHE_DISABLE"):
        monkeypatch.setenv(name, "x")
    env = environment(Path("/c"), Path("/w"))
    assert env.keys().isdisjoint({"MAKEFLAGS", "ARCH", "KCFLAGS", "LANG"})
    assert "CCACHE_DISABLE" not in env
    assert environment(None, None)["CCACHE_DISABLE"] == "1"


def step(script: str, tmp_path: Path) -> Step:
    return Step(("sh", "-c", script), tmp_path, {"PATH": os.defpath}, True)


def test_a_failure_shows_tail_log_and_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "for i in $(seq 30); do echo line$i.; done; exit 3"
    with pytest.raises(LabError) as caught:
        run_step(step(script, tmp_path), log, label="6.12 lull")
    text = str(caught.value)
    assert "status 3" in text and "6.12 lull" in text
    assert "line11.\n" in text and "line30." in text
    assert "line10." not in text.split("command:")[0]
    assert str(log) in caught.value.hint and "line1." in log.read_text()
    assert "exit 3" in text.split("command:")[1]


def test_progress_counts_lines(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    run_step(
        step("echo a; echo b", tmp_path),
        tmp_path / "log",
        progress=lambda *args: seen.append(args),
        label="x",
        expected=9,
    )
    assert seen == [("x: a", 1, 9), ("x: b", 2, 9)]


def test_progress_goes_on_where_it_was(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    run_step(
        step("echo a", tmp_path),
        tmp_path / "log",
        progress=lambda *args: seen.append(args),
        expected=9,
        before=7,
    )
    assert [counts for _, *counts in seen] == [[8, 9]]


def test_an_interrupt_ends_the_whole_group(tmp_path: Path) -> None:
    pids: list[int] = []

    def interrupt(text: str, *_: int) -> None:
        pids.append(int(text.split()[-1]))
        raise KeyboardInterrupt

    # The grandchild ignores the polite signal, as a stuck one would.
    script = "(trap '' TERM; echo $(exec sh -c 'echo $PPID'); sleep 600) & wait"
    with pytest.raises(KeyboardInterrupt):
        run_step(step(script, tmp_path), tmp_path / "log", progress=interrupt)
    ended(pids[0])


KILLED = """
import os, sys
from pathlib import Path
from lull.kernels.make import Step, run_step
step = Step(("sh", "-c", "echo $$; exec sleep 600"), Path("."), dict(os.environ), True)
show = lambda text, *_: print(text.split()[-1], flush=True)
run_step(step, Path(sys.argv[1]), progress=show)
"""


def test_a_killed_lab_leaves_no_make_behind(tmp_path: Path) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert lab.stdout is not None
    pid = int(lab.stdout.readline())
    assert alive(pid)
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    ended(pid)
