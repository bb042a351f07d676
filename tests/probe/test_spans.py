# SPDX-License-Identifier: GPL-2.0-only
"""The parts of a suspend, as the trace has them."""

from collections.abc import Callable
from pathlib import Path

Trial = Callable[..., list[dict[str, object]]]


def spans(trial: Trial, tmp_path: Path, *events: str) -> object:
    (tmp_path / "trace").write_text("".join(f"{event}\n" for event in events))
    lines = trial("trace spans", "stock")
    assert lines[-1]["ok"] is True
    return lines[-2]["metrics"]


def test_a_part_is_from_its_begin_to_its_own_end(trial: Trial, tmp_path: Path) -> None:
    found = spans(
        trial,
        tmp_path,
        "100 suspend_resume: dpm_suspend[2] begin",
        "110 freeze_phase: dpm_suspend[2] end",
        "130 suspend_resume: CPU_OFF[1] begin",
        "137 suspend_resume: CPU_OFF[1] end",
        "150 suspend_resume: dpm_suspend[2] end",
        "151 suspend_resume: dpm_suspend_late[2] begin",
        "153 suspend_resume: dpm_suspend_late[2] end",
    )
    assert found == {"CPU_OFF": 7, "dpm_suspend": 50, "dpm_suspend_late": 2}


def test_one_without_an_end_or_a_begin_is_left_out(
    trial: Trial, tmp_path: Path
) -> None:
    found = spans(
        trial,
        tmp_path,
        "90 suspend_resume: thaw_processes[0] end",
        "100 suspend_resume: dpm_suspend[2] begin",
        "110 suspend_resume: dpm_suspend_late[2] begin",
        "120 suspend_resume: dpm_suspend[2] end",
        "130 suspend_resume: dpm_suspend_late[2] end",
    )
    assert found == {"dpm_suspend": 20}


def test_a_trace_that_makes_no_sense_is_an_error(trial: Trial, tmp_path: Path) -> None:
    begins = [f"{i} suspend_resume: part[{i}] begin\n" for i in range(17)]
    (tmp_path / "trace").write_text("".join(begins))
    error, done = trial("trace spans", "stock")[-2:]
    assert (error["t"], done["ok"]) == ("error", False)
    assert "have no end" in str(error["what"])
