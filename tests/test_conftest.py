# SPDX-License-Identifier: GPL-2.0-only
"""What conftest.py does to a session of tests."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import alive, until

ROOT = Path(__file__).resolve().parents[1]

PLACES = ("-c", ROOT / "pyproject.toml", "--confcutdir", ROOT)

ENDED = """
import os, signal, pytest
from lull.host.process import run_alone

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
from lull.host.process import die_with_parent, run_alone

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


def started(*words: str | Path, said: Path) -> subprocess.Popen[bytes]:
    """A session that goes on, in a folder of its own beside ``said``: else it clears
    away what sessions before it have left."""
    alone = "-p", "no:cacheprovider", "--basetemp", said.parent / "base"
    with said.open("w") as output:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", "-p", "conftest"),
                *map(str, (*alone, *PLACES, *words)),
            ],
            cwd=ROOT,
            stdout=output,
            stderr=output,
            start_new_session=True,
            # What a shell has put into the background ignores it, and so would this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )


@pytest.mark.seconds(10)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_running_by_workers(
    tmp_path: Path, how: signal.Signals
) -> None:
    """SIGINT as a terminal sends it, to all; the others to the session alone."""
    (tmp_path / "test_it.py").write_text(HANGS)
    said = tmp_path / "said"
    process = started("-n", "2", tmp_path, said=said)
    try:
        files = [tmp_path / "first", tmp_path / "second"]
        until(
            "two guests run",
            lambda: all(f.exists() and f.read_text() for f in files),
            120,
        )
        guests = [int(file.read_text()) for file in files]
        if how is signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        # As long as a hang: on a busy host it takes a minute.
        process.wait(300)
        until("they are gone", lambda: not any(map(alive, guests)))
        assert "INTERNALERROR" not in said.read_text()
        assert process.returncode in (2, 128 + how, -how)
    finally:
        process.kill()
        process.wait()


TAKES_LONG = """
import asyncio, time
from pathlib import Path
from lull.host.process import run_alone

async def guest():
    Path(__file__).with_name("runs").touch()
    try:
        await asyncio.sleep(300)
    finally:
        time.sleep(12)
        Path(__file__).with_name("undone").touch()

def test_first():
    run_alone(guest())
"""


@pytest.mark.seconds(15)
def test_a_worker_undoes_what_it_has_made(tmp_path: Path) -> None:
    """It was killed 10 s after the session was told to end, whatever it was doing."""
    (tmp_path / "test_it.py").write_text(TAKES_LONG)
    process = started("-n", "1", tmp_path, said=tmp_path / "said")
    try:
        until("it runs", (tmp_path / "runs").exists, 120)
        process.terminate()
        assert process.wait(300) == 143, (tmp_path / "said").read_text()
        assert (tmp_path / "undone").exists()
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


def workers_of(folder: Path, cpus: int) -> tuple[int, bool]:
    """How many workers a session has on so many CPUs, and whether memory is scarce."""
    for name, text in {
        ".venv/bin/python": 'echo "$*"',
        "bin/nproc": f"echo {cpus}",
        "scripts/test": (ROOT / "scripts/test").read_text().partition("\n")[2],
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    env["XDG_CACHE_HOME"] = str(folder / "cache")
    done = subprocess.run(
        [folder / "scripts/test"], env=env, capture_output=True, text=True, check=True
    )
    workers = int(done.stdout.partition(" -n ")[2].split()[0])
    return workers, f"{workers} at a time" in done.stderr


def test_no_more_run_than_there_is_memory_for(tmp_path: Path) -> None:
    """As many guests as CPUs would want more memory than a machine of many has."""
    workers, scarce = workers_of(tmp_path, 1000000)
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    assert 1 <= workers <= max(1, total // 2500)
    assert scarce


@pytest.mark.parametrize(("cpus", "most"), [(1, 2), (2, 3), (3, 5), (8, 12)])
def test_a_guest_has_most_of_a_cpu(tmp_path: Path, cpus: int, most: int) -> None:
    """With half of one, what it does in time that passes anyway takes most of it."""
    workers, scarce = workers_of(tmp_path, cpus)
    assert workers < most if scarce else workers == most


SETTINGS = """
import os

def test_it():
    assert os.umask(0o077) == 0o022
    assert os.environ["LC_ALL"] == "C.UTF-8"
    assert "LANGUAGE" not in os.environ
"""


def test_what_a_user_has_set_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SETTINGS)
    words = ["-p", "conftest", "-p", "no:cacheprovider", *PLACES, tmp_path]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"},
        umask=0o077,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
