# SPDX-License-Identifier: GPL-2.0-only
"""The tree that a series is for: the base's sources, or one that the user has."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lull.errors import LabError, UsageError
from lull.kernels.bases import Base
from lull.kernels.source import makefile_version
from lull.kernels.workspace import Change, reader

#: What a tree has where Lull has been put into it.
OURS = "kernel/lull"
#: So many names are enough to see what is the matter.
_NAMES = 5


@dataclass(frozen=True)
class Pristine:
    """A tree without Lull, and what it says it is."""

    tree: Path
    version: str

    @property
    def read(self) -> Callable[[str], bytes | None]:
        """Its files by their path in it, each read once."""
        return cache(reader(self.tree))

    def before(self, path: str) -> Change:
        """A file as it is; its data is None where there is none."""
        file = self.tree / path
        there = file.is_file()
        return Change(self.read(path), there and bool(file.stat().st_mode & 0o100))


def look(tree: Path, base: Base) -> Pristine:
    """The user's tree. Raises UsageError where it is none, of another base, or
    where somebody has changed it."""
    try:
        version = makefile_version((tree / "Makefile").read_text("utf-8"))
    except (OSError, UnicodeDecodeError, LabError) as error:
        raise UsageError(
            "not a kernel's source tree",
            where=str(tree),
            hint="name the folder that has the kernel's Makefile",
        ) from error
    if not f"{version}.".startswith(f"{base.name}."):
        raise UsageError(
            f"this is Linux {version}, and the base is {base.name}",
            where=str(tree),
            hint="a tree of the base, or --base, if lull list has this one",
        )
    if (tree / OURS).exists():
        raise UsageError(
            f"Lull is in it already: it has {OURS}",
            where=str(tree),
            hint="an untouched tree: git worktree add ../clean COMMIT",
        )
    if changed := _changed(tree):
        some = ", ".join(changed[:_NAMES])
        more = f" and {len(changed) - _NAMES} more" if len(changed) > _NAMES else ""
        raise UsageError(
            f"not as it was checked out: {some}{more}",
            where=str(tree),
            hint="git stash, or a clean one: git worktree add ../clean HEAD",
        )
    return Pristine(tree, version)


def _changed(tree: Path) -> list[str]:
    """Tracked files that differ from the commit; a tree without git has none."""
    if not (tree / ".git").exists():
        return []
    done = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no"],
        cwd=tree,
        # Of this tree, whatever repository a caller of ours works in.
        env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise UsageError(
            f"git cannot read it: {done.stderr.strip()}",
            where=str(tree),
            hint="git status, there, to see what is wrong",
        )
    return [re.sub(r"^.. ", "", line) for line in done.stdout.splitlines()]
