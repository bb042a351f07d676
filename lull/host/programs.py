# SPDX-License-Identifier: GPL-2.0-only
"""Programs that are run to their end, and what they said."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lull.host.process import die_with_parent

_LINES = 6


def run(
    command: Sequence[str | Path], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Both outputs in one, in English, whatever the status is.

    It does not outlive the lab.
    """
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=die_with_parent(),
    )


def tail(text: str) -> str:
    """The last lines, indented, to stand below an error."""
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-_LINES:])
