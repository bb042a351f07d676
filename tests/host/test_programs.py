# SPDX-License-Identifier: GPL-2.0-only
"""What the lab runs does not outlive it, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.host.programs import run
from tests.waiting import ended, state_of, until

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


def started(command: str, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", command, folder],
        cwd=repo_root(),
        stderr=subprocess.DEVNULL,
        # What a shell has put into the background ignores it, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.seconds(3)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_program_ends_with_the_lab(how: signal.Signals, tmp_path: Path) -> None:
    lab = started(COMMAND, tmp_path)
    pid = tmp_path / "pid"
    until("the program runs", pid.exists)
    lab.send_signal(how)
    status = lab.wait(60)
    ended(int(pid.read_text()))
    assert (tmp_path / "cleaned").exists() == (how is not signal.SIGKILL)
    # Of Ctrl-C it dies, as a shell wants it to.
    said = {signal.SIGTERM: 143, signal.SIGINT: -2, signal.SIGKILL: -9}
    assert status == said[how]


#: One whose leader waits for what it has started, which a polite word does not end.
WITH_MORE = """
import sys
from pathlib import Path
import lull.cli
from lull.host.programs import run

TELL = "sh -c 'echo $PPID' > pid.new; mv pid.new pid"
SCRIPT = f"(trap '' TERM; {TELL}; exec sleep 600) & wait"

def app():
    run(["sh", "-c", SCRIPT], Path(sys.argv[1]))

lull.cli.app = app
lull.cli.main()
"""


@pytest.mark.seconds(2)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_so_does_what_a_program_has_started(
    how: signal.Signals, tmp_path: Path
) -> None:
    lab = started(WITH_MORE, tmp_path)
    pid = tmp_path / "pid"
    until("the program has started something", pid.exists)
    until("it is waited for", lambda: state_of(lab.pid) == "S")
    # To the lab alone: what its program has started hears nothing from the terminal.
    lab.send_signal(how)
    lab.wait(60)
    ended(int(pid.read_text()))


def test_of_a_program_all_is_kept_that_it_says(tmp_path: Path) -> None:
    done = run(["sh", "-c", "pwd; echo two >&2; printf '\\377'; exit 3"], tmp_path)
    assert (done.returncode, done.stdout) == (3, f"{tmp_path}\ntwo\n\ufffd")
    with pytest.raises(FileNotFoundError):
        run([tmp_path / "none"])
