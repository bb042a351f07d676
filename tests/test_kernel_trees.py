# SPDX-License-Identifier: GPL-2.0-only
"""What compiles in the kernels' trees for tests."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from lull.host.files import repo_root
from tests.waiting import ended, state_of, until

STEP = """
import signal
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.kernel_trees import run
run(["sh", "-c", "sleep 1000 & echo $! > pid; mv pid pids; wait"], Path({folder!r}))
"""


def test_who_interrupts_a_step_ends_all_that_it_started(tmp_path: Path) -> None:
    words = [sys.executable, "-c", STEP.format(folder=str(tmp_path))]
    with subprocess.Popen(words, cwd=repo_root(), stderr=subprocess.DEVNULL) as who:
        try:
            pids = tmp_path / "pids"
            until("the step has started something", pids.exists)
            until("it is waited for", lambda: state_of(who.pid) == "S")
            who.send_signal(signal.SIGINT)
            who.wait(60)
        finally:
            who.kill()
    ended(int(pids.read_text()))
