# SPDX-License-Identifier: GPL-2.0-only
"""The checkout: copies that tests change, and which of its files a process reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import source_from_cache
from pathlib import Path

from lull.host.files import repo_root

ROOT = repo_root()

#: Runs text that follows, and says last which files it has opened.
_HEARD = """
import atexit, json, os, sys
opened = set()
sys.addaudithook(
    lambda event, args: opened.add(os.fsdecode(args[0]))
    if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)) else None
)
atexit.register(lambda: print(json.dumps(sorted(opened)), file=sys.stderr))
"""


def copied(place: Path, *names: str) -> Path:
    """Rooms and files of the checkout, in ``place``, which is returned."""
    for name in names:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            left = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, place / name, ignore=left)
        else:
            shutil.copyfile(ROOT / name, place / name)
    return place


@contextmanager
def edited(path: Path) -> Iterator[None]:
    """A file says more while the block runs, and remains what it is: a patch, or a
    Python file."""
    text = path.read_bytes()
    path.write_bytes(
        text + (b"\n--\nmore\n" if path.suffix == ".patch" else b"\n# more\n")
    )
    try:
        yield
    finally:
        path.write_bytes(text)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Which parts are others; the kinds have to be the same."""
    assert before.keys() == after.keys()
    return {kind for kind in before if before[kind] != after[kind]}


def opened(text: str, *words: str | Path) -> set[str]:
    """Which files of ours Python opens from its start on while it runs ``text`` with
    ``words``, which has to succeed; hidden folders and results aside."""
    done = subprocess.run(
        [sys.executable, "-c", _HEARD + text, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = {_source(name) for name in json.loads(done.stderr.splitlines()[-1])}
    return {name for name in found if name and not name.startswith((".", "runs/"))}


def _source(name: str) -> str:
    """The file of ours that is read by who opens this, or nothing. Of what is compiled
    Python opens no other."""
    path = Path(name).resolve()
    if path.suffix == ".pyc":
        path = Path(source_from_cache(path))
    ours = path.is_relative_to(ROOT) and path.is_file()
    return str(path.relative_to(ROOT)) if ours else ""
