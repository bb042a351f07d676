# SPDX-License-Identifier: GPL-2.0-only
"""Whether code is still what was measured: the project's own history."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

#: A commit, and not a checkout in which files differed.
_COMMIT = re.compile(r"[0-9a-f]{7,40}")


def changed_since(commit: str, paths: Sequence[str], root: Path) -> str | None:
    """The last commit that changed the files at ``paths``, where they are not as
    they were at ``commit``; empty where they are. None where that is not known."""
    if not _COMMIT.fullmatch(commit):
        return None
    same = _git(root, "diff", "--quiet", commit, "HEAD", "--", *paths)
    if same is None or same.returncode not in (0, 1):
        return None
    if same.returncode == 0:
        return ""
    last = _git(root, "rev-list", "-1", "HEAD", "--", *paths)
    return (last.stdout.strip() or None) if last else None


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *words],
            # Of this tree, whatever repository a caller of ours works in.
            env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
