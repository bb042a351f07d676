# SPDX-License-Identifier: GPL-2.0-only
"""What a debug kernel takes as a name of a safeguard, on a kernel that is made up."""

from collections.abc import Callable
from pathlib import Path

Trial = Callable[..., list[dict[str, object]]]


def test_a_kernel_that_takes_any_name_is_noticed(trial: Trial, tmp_path: Path) -> None:
    path = tmp_path / "sys/kernel/debug/lull/inject/inject/disable"
    path.parent.mkdir(parents=True)
    path.write_text("none")
    lines = trial("inject names", "stock", disable="one,two")
    (check,) = (line for line in lines if line["t"] == "check")
    assert check["ok"] is False
    assert str(check["text"]).endswith("does not refuse 'no-such-name\n'")


def test_a_kernel_without_injections_is_noticed(trial: Trial) -> None:
    lines = trial("inject names", "stock", disable="one")
    assert "this kernel has no injections" in str(lines[1:])
