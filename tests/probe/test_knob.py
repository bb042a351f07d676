# SPDX-License-Identifier: GPL-2.0-only
"""What a case made is gone after it."""

from collections.abc import Callable
from pathlib import Path

Trial = Callable[..., list[dict[str, object]]]


def test_a_busy_directory_is_waited_for(trial: Trial, tmp_path: Path) -> None:
    lines = trial("knob leaves", "stock")
    assert lines[-1] == {"t": "done", "ok": True, "samples": 1}, lines
    assert not (tmp_path / "made").exists()
