# SPDX-License-Identifier: GPL-2.0-only
"""What conftest.py does to a session of tests."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

PLACES = ("-c", ROOT / "pyproject.toml", "--confcutdir", ROOT)

ENDED = """
import os, signal, pytest
from lull.vm.process import run_alone

async def boot():
    os.kill(os.getpid(), signal.SIGTERM)

@pytest.fixture
def booted():
    run_alone(boot())

def test_first({}):
    {}

def test_second():
    pass
"""


def session(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    module = folder / "test_it.py"
    module.write_text(text)
    words = ["-v", "-p", "no:xdist", *PLACES, module]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("fixture", "body"),
    [
        ("booted", "pass"),
        ("", "run_alone(boot())"),
        ("", "os.kill(os.getpid(), signal.SIGTERM)"),
    ],
)
def test_sigterm_ends_the_session(tmp_path: Path, fixture: str, body: str) -> None:
    """Not one test after the other: whoever sends it does not wait that long."""
    done = session(tmp_path, ENDED.format(fixture, body))
    assert done.returncode == 143, done.stdout + done.stderr
    assert "ended by SIGTERM" in done.stdout
    assert "test_second PASSED" not in done.stdout


HANGS = """
import asyncio
from pathlib import Path
from lull.vm.process import die_with_parent, run_alone

async def guest(name):
    process = await asyncio.create_subprocess_exec(
        "sleep", "300", preexec_fn=die_with_parent(), process_group=0
    )
    Path(__file__).with_name(name).write_text(str(process.pid))
    try:
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

def test_first():
    run_alone(guest("first"))

def test_second():
    run_alone(guest("second"))
"""


def is_there(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def until(what: str, seconds: float, met: object) -> None:
    assert callable(met)
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.mark.seconds(10)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running_by_workers(
    tmp_path: Path, how: signal.Signals
) -> None:
    """SIGINT as a terminal sends it, to all; the others to the session alone."""
    (tmp_path / "test_it.py").write_text(HANGS)
    words = ["-n", "2", "-p", "no:cacheprovider", *PLACES, tmp_path]
    said = tmp_path / "said"
    with said.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "conftest", *map(str, words)],
            cwd=ROOT,
            stdout=output,
            stderr=output,
            start_new_session=True,
            # What a shell has put into the background ignores it, and so would this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    try:
        files = [tmp_path / "first", tmp_path / "second"]
        until("two guests run", 120, lambda: all(f.exists() for f in files))
        time.sleep(0.2)
        guests = [int(file.read_text()) for file in files]
        if how is signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        process.wait(60)
        until("they are gone", 60, lambda: not any(map(is_there, guests)))
        assert "INTERNALERROR" not in said.read_text()
        assert process.returncode in (2, 128 + how, -how)
    finally:
        process.kill()
        process.wait()


@pytest.mark.seconds(5)
def test_a_second_session_waits_for_the_first(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    (cache / "lull/locks").mkdir(parents=True)
    env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with (cache / "lull/locks/session.lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = subprocess.Popen(
            ["scripts/test", "--collect-only", "tests/ask"],
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert second.stdout is not None
        assert "waiting for another session" in second.stdout.readline()
        assert second.poll() is None
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0, said
