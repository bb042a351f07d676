# SPDX-License-Identifier: GPL-2.0-only
"""What a test reads of the checkout is heard, and looked at again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lull.proof.reads import began, watching, written_since


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "root"
    (found / "hooks").mkdir(parents=True)
    for name in ("one.c", "hooks/0001.patch", "hooks/0002.patch", "beside.c"):
        (found / name).write_text(name)
    (tmp_path / "elsewhere.c").write_text("not ours")
    return found


def read(root: Path) -> None:
    (root / "one.c").read_bytes()
    for path in sorted((root / "hooks").glob("*.patch")):
        path.read_text()
    (root.parent / "elsewhere.c").read_text()


def test_files_and_folders_that_are_read_are_heard_until_the_end(root: Path) -> None:
    (root / "beside.c").read_text()
    with watching(root) as reads:
        read(root)
        seen = reads.so_far()
        assert sorted(seen) == [
            "hooks",
            "hooks/0001.patch",
            "hooks/0002.patch",
            "one.c",
        ]
        (root / "beside.c").read_text()
        assert "beside.c" in reads.so_far() and "beside.c" not in seen
    before = reads.so_far()
    os.listdir(root / "hooks")
    (root / "hooks/0003.patch").write_text("")
    assert reads.so_far() == before


def test_what_was_read_later_and_is_a_file_is_told_apart(root: Path) -> None:
    with watching(root) as reads:
        (root / "one.c").read_text()
        seen = reads.so_far()
        read(root)
        (root / "module.py").write_text("")
        (root / "module.py").read_text()
        (root / "new.c").write_text("")
        (root / "none.c").exists()
        with suppress(FileNotFoundError):
            (root / "none.c").read_text()
        assert reads.more(seen) == ["hooks/0001.patch", "hooks/0002.patch"]
        assert "new.c" not in reads.so_far()


def test_what_was_written_since_is_named_whatever_its_date(root: Path) -> None:
    paths = [root / "one.c", root / "hooks/0001.patch"]
    assert written_since(time.time() + 60, root, paths) == []
    when = time.time() - 60
    os.utime(root / "one.c", (when - 900, when - 900))
    assert written_since(when, root, paths) == ["one.c", "hooks/0001.patch"]
    # One that is gone was there a moment ago.
    assert written_since(when + 120, root, [root / "gone.py"]) == ["gone.py"]


def test_a_process_began_before_what_it_does() -> None:
    words = [sys.executable, "-c", "from lull.proof import reads; print(reads.began())"]
    before = time.time()
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    # The kernel counts in hundredths of a second.
    assert before - 0.02 <= float(said) <= time.time() + 0.02
    assert began() < before


def test_relative_names_and_bytes_are_the_same_file(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with watching(root) as reads:
        for name in ("one.c", b"one.c", "hooks/../one.c"):
            with open(name) as file, open(os.dup(file.fileno())):
                pass
        os.listdir()
    assert list(reads.so_far()) == ["one.c"]


def replace(root: Path) -> None:
    """As an editor that writes another file, and git, do."""
    (root / "new").write_text("one.c")
    (root / "new").rename(root / "one.c")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "nothing": (lambda root: None, []),
    "another text": (lambda root: (root / "one.c").write_text("another"), ["one.c"]),
    "another file": (replace, ["one.c"]),
    "none": (lambda root: (root / "one.c").unlink(), ["one.c"]),
    "one more": (lambda root: (root / "hooks/0003.patch").write_text(""), ["hooks"]),
    "one less": (
        lambda root: (root / "hooks/0002.patch").unlink(),
        ["hooks", "hooks/0002.patch"],
    ),
    "what is not read": (lambda root: (root / "beside.c").write_text("x"), []),
    "what is not ours": (
        lambda root: (root.parent / "elsewhere.c").write_text("x"),
        [],
    ),
    "an editor's own": (lambda root: (root / "hooks/.0001.swp").write_text(""), []),
    "a result": (lambda root: (root / "runs").mkdir(), []),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_written_later_has_changed(root: Path, change: str) -> None:
    make, names = CHANGES[change]
    with watching(root) as reads:
        list(root.iterdir())
        read(root)
        seen = reads.so_far()
        make(root)
        assert sorted(reads.changed(seen)) == names


def test_it_is_noted_as_it_was_before_it_is_read(root: Path) -> None:
    """What is written while it is read shows."""
    with watching(root) as reads, (root / "one.c").open() as file:
        (root / "one.c").write_text("another text")
        file.read()
        assert reads.changed(reads.so_far()) == ["one.c"]


def test_what_was_not_there_and_came_has_changed(root: Path) -> None:
    with watching(root) as reads:
        with pytest.raises(FileNotFoundError):
            (root / "none.c").read_text()
        seen = reads.so_far()
        assert reads.changed(seen) == []
        (root / "none.c").write_text("it came")
        assert reads.changed(seen) == ["none.c"]
