# SPDX-License-Identifier: GPL-2.0-only
"""What the lab runs does not outlive it, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lull.host.files import repo_root
from tests.waiting import ended, until

#: As a command of the lab that waits for a program, and cleans up.
COMMAND = """
import sys
from pathlib import Path
import lull.cli
from lull.host.programs import run

place = Path(sys.argv[1])

def app():
    try:
        run(["sh", "-c", "echo $$ > pid.new; mv pid.new pid; exec sleep 600"], place)
    finally:
        (place / "cleaned").touch()

lull.cli.app = app
lull.cli.main()
"""


@pytest.mark.seconds(3)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_program_ends_with_the_lab(how: signal.Signals, tmp_path: Path) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", COMMAND, tmp_path],
        cwd=repo_root(),
        stderr=subprocess.DEVNULL,
        # What a shell has put into the background ignores it, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    pid = tmp_path / "pid"
    until("the program runs", pid.exists)
    lab.send_signal(how)
    status = lab.wait(60)
    ended(int(pid.read_text()))
    assert (tmp_path / "cleaned").exists() == (how is not signal.SIGKILL)
    assert status == {signal.SIGTERM: 143, signal.SIGKILL: -9}.get(how, status)
