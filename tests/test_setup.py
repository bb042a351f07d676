# SPDX-License-Identifier: GPL-2.0-only
"""``scripts/setup`` with the programs that install made up."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from lull.host.files import repo_root
from tests.waiting import alive, ended, until

STUBS = {
    "dpkg-query": 'case "$*" in *chromium*) ;; *) echo installed ;; esac',
    "apt-cache": "echo known",
    "id": "echo 0",
    "apt-get": 'echo "apt-get $*" >>"$LOG"',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = repo_root()
    for name in ("scripts/setup", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    base = tmp_path / "kernel/bases/6.12.toml"
    base.parent.mkdir(parents=True)
    base.write_text('package = "linux-source-6.12"\n')
    for name, text in {**STUBS, "../.venv/bin/python": 'echo "$*" >>"$LOG"'}.items():
        stub(tmp_path, name, text)
    return tmp_path


def stub(checkout: Path, name: str, text: str) -> None:
    path = checkout / "bin" / name
    (checkout / "bin").mkdir(exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def started(
    checkout: Path, *words: str, before: Sequence[str] = ()
) -> subprocess.Popen[str]:
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    return subprocess.Popen(
        [*before, checkout / "scripts/setup", *words],
        env={**os.environ, "PATH": path, "LOG": str(checkout / "log")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell has put into the background ignores it, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def setup(checkout: Path, *words: str, before: Sequence[str] = ()) -> str:
    """What it has installed."""
    log = checkout / "log"
    log.write_text("")
    process = started(checkout, *words, before=before)
    _, said = process.communicate()
    assert process.returncode == 0, said
    return log.read_text()


def test_only_tests_need_a_browser(checkout: Path) -> None:
    assert "chromium" not in (done := setup(checkout))
    assert ".[test]" in done
    done = setup(checkout, "--tests")
    assert "apt-get install" in done and "chromium" in done
    assert ".[test,browser]" in done


def test_what_is_there_is_not_installed_again(checkout: Path) -> None:
    assert setup(checkout)
    assert setup(checkout) == ""
    setup(checkout, "--tests")
    # Who has been set up for tests has all that others need.
    assert setup(checkout) == ""
    (checkout / "pyproject.toml").write_text("changed")
    assert ".[test]" in setup(checkout)


def test_of_two_at_once_the_second_finds_what_the_first_has_made(
    checkout: Path,
) -> None:
    with (checkout / ".setup.lock").open("w") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = started(checkout)
        assert second.stderr is not None
        assert "waiting for another set-up" in second.stderr.readline()
        assert second.poll() is None
    second.communicate()
    assert second.returncode == 0


def begun(checkout: Path) -> tuple[subprocess.Popen[str], int]:
    """A set-up of which a stub has said, in ``pid``, that it runs, and its number."""
    process = started(checkout, "--tests")
    pid = checkout / "pid"
    until("the stub runs", pid.exists)
    return process, int(pid.read_text())


def interrupted(checkout: Path, how: signal.Signals, status: int) -> int:
    """The number of a stub whose set-up was ended by a signal, in its way."""
    process, pid = begun(checkout)
    process.send_signal(how)
    assert process.wait(60) == status
    return pid


SAY = 'echo {} >"$LOG.pid"; mv "$LOG.pid" pid'
SIGNALS = pytest.mark.parametrize(
    ("how", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)


@SIGNALS
def test_who_is_ended_while_waiting_leaves_nobody_behind(
    checkout: Path, how: signal.Signals, status: int
) -> None:
    waits = f"{SAY.format('$$')}; exec sleep 600"
    stub(checkout, "flock", f'[ "$1" != -n ] || exit 1\n{waits}')
    ended(interrupted(checkout, how, status))


@SIGNALS
def test_an_apt_that_unpacks_is_told_to_stop_and_waited_for(
    checkout: Path, how: signal.Signals, status: int
) -> None:
    words = "trap 'touch unpacked; exit 100' INT; trap 'touch cut-off; exit 1' TERM"
    stub(
        checkout,
        "apt-get",
        f"{words}; {SAY.format('$$')}; while :; do sleep 0.05; done",
    )
    process, pid = begun(checkout)
    files = [os.path.realpath(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()]
    assert "/dev/null" in files
    assert str(checkout / ".setup.lock") not in files
    process.send_signal(how)
    assert process.wait(60) == status
    assert not alive(pid)
    assert (checkout / "unpacked").exists() and not (checkout / "cut-off").exists()
    # It has not been set up: the next one begins again.
    stub(checkout, "apt-get", STUBS["apt-get"])
    (checkout / "pid").unlink()
    assert "pip install" in setup(checkout, "--tests")


@SIGNALS
def test_what_pip_has_started_ends_with_it(
    checkout: Path, how: signal.Signals, status: int
) -> None:
    more = f"env --default-signal=INT sh -c '{SAY.format('$$')}; exec sleep 600'"
    pip = f"{more} & wait"
    stub(checkout, "../.venv/bin/python", f'case "$*" in *install*) {pip} ;; esac')
    ended(interrupted(checkout, how, status))
    assert not (checkout / ".venv/.lull-setup").exists()


def test_what_an_installer_fails_with_is_not_hidden(checkout: Path) -> None:
    stub(checkout, "apt-get", "exit 100")
    process = started(checkout, "--tests")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 100, said
    stub(checkout, "apt-get", '[ "$1" = update ] || exit 100')
    process = started(checkout, "--tests")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 4 and "apt-get cannot install" in said


#: Root may write what it may not, unless it cannot do that.
AS_OTHERS = ("setpriv", "--bounding-set", "-dac_override") if not os.geteuid() else ()


def test_a_lock_of_another_user_is_waited_for_or_named(checkout: Path) -> None:
    lock = checkout / ".setup.lock"
    lock.touch(0o444)
    assert "pip install" in setup(checkout, before=AS_OTHERS)
    lock.unlink()
    lock.symlink_to("no/where")
    process = started(checkout)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.splitlines()) == (
        4,
        [
            f"setup: {lock} cannot be written: Directory nonexistent",
            "  try: remove it, or make this folder your own",
        ],
    )


def test_packages_of_another_user_are_not_written_over(checkout: Path) -> None:
    venv = checkout / ".venv"
    venv.chmod(0o555)
    process = started(checkout, before=AS_OTHERS)
    _, said = process.communicate(timeout=60)
    venv.chmod(0o755)
    assert process.returncode == 4, said
    assert f"{venv} belongs to another user ({os.geteuid()})" in said
    assert "sudo rm -r .venv" in said
