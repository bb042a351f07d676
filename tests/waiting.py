# SPDX-License-Identifier: GPL-2.0-only
"""Waiting for what another process does, for as long as a loaded host may need."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def alive(pid: int) -> bool:
    """Whether a process runs or sleeps. One that has ended and that nobody has waited
    for is gone, too: where init is no init, it stays."""
    return state_of(pid) not in ("", "Z", "X")


def state_of(pid: int) -> str:
    """The letter of /proc/PID/stat; empty where there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[0]


def until(what: str, met: Callable[[], object], seconds: float = 60) -> None:
    """Come back when ``met``; the test fails with ``what`` where it never is."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def ended(pid: int) -> None:
    """Come back when a process is gone."""
    until(f"process {pid} ends", lambda: not alive(pid))
