# SPDX-License-Identifier: GPL-2.0-only
"""Repositories that tests make: whatever a user has set for git, they are alike."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_WHO = ("-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgSign=false")


def environment() -> dict[str, str]:
    """Ours, for a git that is to find its repository by the folder it is in.

    A hook or a linked worktree has GIT_DIR set: that repository is not meant.
    """
    return {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}


def git(place: Path, *words: str, when: str = "") -> str:
    """Run git in ``place`` as somebody without settings; what it said. ``when`` is
    the date of a commit."""
    env = environment()
    env |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    if when:
        env |= {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    done = subprocess.run(
        ["git", *_WHO, *words], cwd=place, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
