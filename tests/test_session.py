# SPDX-License-Identifier: GPL-2.0-only
"""``scripts/test`` up to where pytest begins: its lock, and whose the cache is."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from lull.host.files import repo_root
from tests.waiting import ended, until

OTHER = os.getuid() + 1


def stub(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    _, _, text = (repo_root() / "scripts/test").read_text().partition("\n")
    stub(root / "scripts/test", text)
    stub(root / ".venv/bin/python", "echo begun")
    return root


def started(checkout: Path, cache: Path) -> subprocess.Popen[str]:
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    return subprocess.Popen(
        [checkout / "scripts/test"],
        env={**os.environ, "PATH": path, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell has put into the background ignores it, and so would this.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def said(checkout: Path, cache: Path) -> tuple[int, list[str]]:
    process = started(checkout, cache)
    begun, words = process.communicate(timeout=60)
    assert ("begun" in begun) == (process.returncode == 0)
    return process.returncode, words.splitlines()


@pytest.mark.parametrize(
    ("whose", "why", "hint"),
    [
        (
            "lull",
            "the cache belongs to another user ({})",
            "name one of your own in XDG_CACHE_HOME",
        ),
        (
            "lull/locks",
            "it belongs to another user ({})",
            "remove it, or name another cache in XDG_CACHE_HOME",
        ),
        (
            "lull/locks/session.lock",
            "it belongs to another user ({})",
            "remove it, or name another cache in XDG_CACHE_HOME",
        ),
    ],
)
def test_in_a_cache_of_another_user_no_session_begins(
    checkout: Path, tmp_path: Path, whose: str, why: str, hint: str
) -> None:
    cache = tmp_path / "cache"
    assert said(checkout, cache)[0] == 0
    path = cache / whose
    assert path.exists()
    other = (
        f'case "$*" in *" {path}") echo {OTHER} ;; *) exec /usr/bin/stat "$@" ;; esac'
    )
    stub(checkout / "bin/stat", other)
    assert said(checkout, cache) == (
        4,
        [f"test: {path}: {why.format(OTHER)}", f"  try: {hint}"],
    )
    # One who is asked of all of them, and is another.
    (checkout / "bin/stat").unlink()
    stub(checkout / "bin/id", f"echo {OTHER}")
    status, (first, _) = said(checkout, cache)
    assert status == 4 and f"{cache}/lull: the cache belongs to another" in first


def test_a_cache_that_cannot_be_made_is_said(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = tmp_path / "file"
    assert said(checkout, cache) == (
        4,
        [
            f"test: {cache}/lull: the cache cannot be made: Not a directory",
            "  try: XDG_CACHE_HOME=/a/writable/directory",
        ],
    )
    (tmp_path / "cache/lull/locks/session.lock").mkdir(parents=True)
    status, (first, _) = said(checkout, tmp_path / "cache")
    assert status == 4 and "cannot be made: Is a directory" in first


@pytest.mark.parametrize(
    ("how", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_who_is_ended_while_waiting_leaves_nobody_behind(
    checkout: Path, tmp_path: Path, how: signal.Signals, status: int
) -> None:
    pid = tmp_path / "pid"
    waits = f'echo $$ >"{pid}.new"; mv "{pid}.new" "{pid}"; exec sleep 600'
    stub(checkout / "bin/flock", f'[ "$1" != -n ] || exit 1\n{waits}')
    process = started(checkout, tmp_path / "cache")
    until("it waits", pid.exists)
    process.send_signal(how)
    assert process.wait(60) == status
    ended(int(pid.read_text()))
