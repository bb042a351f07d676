# SPDX-License-Identifier: GPL-2.0-only
"""Steps as mails that ``git am`` takes: git itself writes them, in a repository
that has the files in question and nothing else.

The same steps give the same bytes with one version of git: dates, names and the
order of everything are fixed, and the user's own configuration is not read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lull.errors import CannotRun, LabError
from lull.host.files import write_file
from lull.kernels.workspace import Change
from lull.series.stages import FullPatch

#: Not a person: nobody's address ends in .invalid.
NOBODY = ("SET THE AUTHOR", "set-the-author@example.invalid")
#: As all that the lab builds.
DATE = "2026-01-01T00:00:00+0000"

#: Below the message's end, where git am drops it.
NOTE = """\
The author is a placeholder, and there is no sign-off. Who sends this sets both:
  git am FILE && git commit --amend --reset-author --signoff --no-edit
"""

#: As git calls the letter before the first.
COVER = "0000-cover-letter.patch"

#: As the kernel's own tree has it: what stands behind the second @@ of a hunk.
_ATTRIBUTES = "*.c diff=cpp\n*.h diff=cpp\n"
_CONFIG = (
    "core.autocrlf=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
)
_FORMAT = (
    "--zero-commit",
    "--no-signature",
    "--no-renames",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--unified=3",
    "--abbrev=12",
)


class _Repository:
    def __init__(self, place: Path) -> None:
        self._place = place
        self.tree = place / "tree"
        self.tree.mkdir()
        self.run("init", "-q", "--initial-branch=series")
        attributes = self.tree / ".git/info/attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text(_ATTRIBUTES, "ascii")

    def run(self, *words: str) -> str:
        """One git command, in an environment made here."""
        name, address = NOBODY
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._place),
            "LC_ALL": "C",
            "TZ": "UTC",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CEILING_DIRECTORIES": str(self._place),
        }
        for who in ("AUTHOR", "COMMITTER"):
            env |= {
                f"GIT_{who}_NAME": name,
                f"GIT_{who}_EMAIL": address,
                f"GIT_{who}_DATE": DATE,
            }
        config = [word for setting in _CONFIG for word in ("-c", setting)]
        done = subprocess.run(
            ["git", *config, *words],
            cwd=self.tree,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        if done.returncode:
            raise LabError(
                f"git {words[0]} failed ({done.returncode})\n{done.stderr.strip()}",
                where="writing the patches",
            )
        return done.stdout

    def commit(self, changes: Iterable[tuple[str, Change]], message: str) -> None:
        for path, change in changes:
            file = self.tree / path
            if change.data is None:
                file.unlink(missing_ok=True)
            else:
                write_file(file, change.data, 0o755 if change.executable else 0o644)
        said = self._place / "message"
        said.write_text(message, "utf-8", "surrogateescape")
        self.run("add", "--all", "--force")
        self.run("commit", "-q", "--cleanup=verbatim", "-F", str(said))


def need_git(which: Callable[[str], str | None] = shutil.which) -> None:
    """Raise CannotRun where git is not installed."""
    if which("git") is None:
        raise CannotRun("missing: git", hint="sudo apt-get install git")


def write(
    base: Callable[[str], Change],
    steps: Sequence[FullPatch],
    *,
    prefix: str = "PATCH",
    numbered: bool = True,
    cover: Callable[[Sequence[bytes]], tuple[str, str]] | None = None,
) -> list[tuple[str, bytes]]:
    """The steps as patches with three lines of context: file names and contents.

    ``base`` gives a file as it is before the first of them. ``prefix`` is what
    stands in brackets before the subject, and with ``numbered`` which of how many.
    ``cover`` makes a subject and a text from them, for a mail before the first.
    """
    paths = sorted({path for step in steps for path in step.changes})
    # On the cache's disk there may be no room, and there need not be: a few MB.
    with TemporaryDirectory(prefix="lull-series-") as temp:
        git = _Repository(Path(temp))
        before = {path: base(path) for path in paths}
        git.run("commit", "-q", "--allow-empty", "-m", "nothing")
        there = [(path, was) for path, was in before.items() if was.data is not None]
        if there:
            git.commit(there, "the base\n")
        git.run("tag", "base")
        for step in steps:
            text = f"{step.words.title}\n\n{step.words.text.strip()}\n"
            git.commit(_as_before(step, before), text)
        words = [*_FORMAT, f"--subject-prefix={prefix}"]
        words.append("--numbered" if numbered else "--no-numbered")
        words.append("--cover-letter" if cover else "--no-cover-letter")
        git.run("format-patch", "-q", "-o", str(git.tree / ".git/out"), *words, "base")
        files = sorted((git.tree / ".git/out").iterdir())
        mails = [file.read_bytes() for file in files]
        names = [file.name for file in files]
    if cover:
        mails[0] = _with_cover(mails[0], *cover(mails[1:]))
    first = 1 if cover else 0
    for n, step in enumerate(steps, first):
        mails[n] = _noted(mails[n])
        if step.name:
            names[n] = f"{n - first + 1:04d}-{step.name}.patch"
    return list(zip(names, mails, strict=True))


def _as_before(
    step: FullPatch, before: Mapping[str, Change]
) -> list[tuple[str, Change]]:
    """A step's files; those that were executable in the base stay so."""
    return [
        (path, replace(change, executable=change.executable or before[path].executable))
        for path, change in sorted(step.changes.items())
    ]


def _noted(mail: bytes) -> bytes:
    """With the note between the message's end and the table of files."""
    head, mark, rest = mail.partition(b"\n---\n")
    return head + mark + NOTE.encode() + b"\n" + rest


def _with_cover(mail: bytes, subject: str, text: str) -> bytes:
    for blank, words in (("SUBJECT", subject), ("BLURB", text.strip())):
        mail = mail.replace(b"*** %s HERE ***" % blank.encode(), words.encode())
    return mail
