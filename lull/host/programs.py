# SPDX-License-Identifier: GPL-2.0-only
"""Programs that are run to their end, and what they said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lull.host.process import die_with_parent, end_group

_LINES = 6


def run(
    command: Sequence[str | Path], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Both outputs in one, in English, whatever the status is.

    It does not outlive the lab. Whoever interrupts this ends what it has started, too:
    all of it is a group of its own, to which the terminal sends no Ctrl-C, and which
    may not read from the terminal. Nothing that asks for a password is run so.
    """
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # Not a session of its own, to which our niceness would be nothing.
        process_group=0,
        preexec_fn=die_with_parent(),
    )
    try:
        said, _ = process.communicate()
    except BaseException:
        end_group(process)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, said)


def tail(text: str) -> str:
    """The last lines, indented, to stand below an error."""
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-_LINES:])
