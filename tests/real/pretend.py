# SPDX-License-Identifier: GPL-2.0-only
"""A guest that is none: the driver runs here, with stand-ins for what it calls."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lull.ask.job import job_text
from lull.errors import GuestFailed
from lull.host.files import repo_root
from lull.model import Job
from lull.real.programs import DRIVER
from lull.real.said import named, stream_of
from lull.runs.samples import Stream

#: So long is waited for all that holds its output open.
TIMEOUT_S = 600

#: Stands for what this machine need not have.
STUBS = {
    "systemctl": "exit 0",
    "journalctl": 'echo "a line of \\"it\\", $*"',
    "dpkg-query": 'echo "dpkg-query: $*" >&2; printf 1.0',
    "nproc": "echo 2",
}


def drive(folder: Path, job: Job, scenario: str, **more: Any) -> tuple[int, Stream]:
    """As ``drive_raw``, with what it said read."""
    status, data = drive_raw(folder, job, scenario, **more)
    return status, stream_of(data, boot=3, seed=1)


def drive_raw(
    folder: Path,
    job: Job,
    scenario: str,
    *,
    release: str = platform.release(),
    versions: str = "dog 1.0\n",
    limit: float = 300,
    stubs: Mapping[str, str] = STUBS,
) -> tuple[int, bytes]:
    """The driver's status, and what it said. Other files are in ``folder``."""
    programs = folder / "bin"
    programs.mkdir()
    for name, text in {**STUBS, **stubs}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    files = {
        "plan": job_text(job),
        "release": f"{release}\n",
        "versions": versions,
        "limit": f"{limit}\n",
        "scenario.sh": scenario,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    process = subprocess.Popen(
        ["sh", repo_root() / DRIVER],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "TMPDIR": str(folder),
        },
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        data, _ = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, data
    finally:
        # The guest would be gone, and with it who still sleeps.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def said(stream: Stream) -> str:
    """The error that a run ends with."""
    return str(named(GuestFailed("no", where="there"), stream, "walk"))
