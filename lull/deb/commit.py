# SPDX-License-Identifier: GPL-2.0-only
"""The commit that a package's files are of, as a part of its version."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

#: Not what editors, compilers and patch leave about: no kernel and no package takes
#: it (lull.kernels.inputs), and it must not make a version dirty.
NOT_LEFT_ABOUT = tuple(
    f":(exclude,glob)**/{name}" for name in ("*~", "*.o", "*.orig", "*.rej", ".*")
)


@dataclass(frozen=True)
class Commit:
    """The last one that changed any of some files."""

    number: str
    time: datetime
    count: int  #: of commits up to it; 0 where the history is not all there
    dirty: bool  #: whether one of the files is not as it is there

    @property
    def version(self) -> str:
        """+git476.0288dfb: by dpkg's order that of a commit on top of another is
        higher, whatever their dates, and that of changed files is above that of their
        commit. One without its history, +git0, is below all that have theirs."""
        # As short as it can be: uname -v has 64 characters for it and for SMP
        # PREEMPT_DYNAMIC.
        return f"+git{self.count}.{self.number[:7]}{'+dirty' if self.dirty else ''}"


def last_commit(root: Path, paths: Sequence[str]) -> Commit | None:
    """The commit of the files at ``paths``, git's patterns below ``root``; None where
    no git has them. The same files of the same history have the same one."""
    # Of a merge the merge itself: what was merged may have fewer commits below it
    # than what was there.
    last = ("rev-list", "-1", "--first-parent", "--timestamp", "HEAD", "--")
    found = _git(root, *last, *paths).split()
    if len(found) != 2:
        return None
    seconds, number = found
    shallow = _git(root, "rev-parse", "--is-shallow-repository").strip() != "false"
    counted = "" if shallow else _git(root, "rev-list", "--count", number)
    status = ("status", "--porcelain", "--untracked-files=all", "--")
    changed = _git(root, *status, *paths)
    time = datetime.fromtimestamp(int(seconds), UTC)
    return Commit(number, time, int(counted or 0), bool(changed))


def version_of(commit: Commit | None) -> str:
    """What a version says of a commit: nothing where there is none."""
    return commit.version if commit else ""


def _git(root: Path, *words: str) -> str:
    """What git says; nothing where it says an error, or is not there."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *words],
            # Of this tree, whatever repository a caller of ours works in.
            env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
