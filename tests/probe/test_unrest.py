# SPDX-License-Identifier: GPL-2.0-only
"""What goes on beside a random workload, on a kernel that is made up."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

Trial = Callable[..., list[dict[str, object]]]


@pytest.fixture
def online(tmp_path: Path) -> Path:
    path = tmp_path / "sys/devices/system/cpu/cpu1/online"
    path.parent.mkdir(parents=True)
    path.write_text("1")
    return path


def test_a_verdict_says_what_was_met(trial: Trial, online: Path) -> None:
    lines = trial("unrest beside", "stock", cpus="1", ops="20000")
    (check,) = (line for line in lines if line["t"] == "check")
    said = r"; cpu1 went off (\d+) times, (\d+) without it, (\d+) met a change"
    found = re.fullmatch(said, str(check["text"]))
    assert found and all(int(n) for n in found.groups()), lines
    assert lines[-1] == {"t": "done", "ok": True, "samples": 1}, lines
    assert online.read_text() == "1"


def test_the_server_of_fair_tasks_is_off_before_a_cpu_goes(
    trial: Trial, online: Path, tmp_path: Path
) -> None:
    """Of 6.12 it warns when its CPU goes, if it had stopped by itself."""
    runtime = tmp_path / "sys/kernel/debug/sched/fair_server/cpu0/runtime"
    runtime.parent.mkdir(parents=True)
    runtime.write_text("50000000\n")
    trial("unrest beside", "stock", ops="1")
    assert runtime.read_text() == "50000000\n"
    trial("unrest beside", "stock", cpus="1", ops="1")
    assert runtime.read_text().rstrip() == "0"


def test_who_met_too_little_has_no_verdict(trial: Trial, online: Path) -> None:
    lines = trial("unrest beside", "stock", cpus="1", ops="1")
    (error,) = (line for line in lines if line["t"] == "error")
    assert error["unmet"] is True, lines
    assert str(error["what"]).startswith("too little of it; cpu1 went off"), lines
    assert online.read_text() == "1"


def test_who_asks_for_none_has_none(trial: Trial, online: Path) -> None:
    lines = trial("unrest beside", "stock", ops="1")
    (check,) = (line for line in lines if line["t"] == "check")
    assert check["text"] == ""
    assert online.read_text() == "1"


def test_a_machine_with_one_cpu_is_told(trial: Trial) -> None:
    lines = trial("unrest beside", "stock", cpus="1", ops="1")
    (error,) = (line for line in lines if line["t"] == "error")
    assert "cpu1/online" in str(error["where"]), lines
