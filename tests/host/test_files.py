# SPDX-License-Identifier: GPL-2.0-only
"""Files that the user names. The others: test_rundir.py, kernels/test_cache.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lull.errors import UsageError
from lull.host.files import read_input, write_output


def test_a_file_is_replaced_and_the_directory_above_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    for data in (b"one", b"two"):
        write_output(path, data)
        assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_output(path, b"new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_one(tmp_path: Path, there: bool) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    if there:
        target.write_bytes(b"old and longer")
    link.symlink_to(target)
    write_output(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # A reader, as opening it to write would wait for one.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_output(pipe, b"new")
        assert pipe.is_fifo()
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)


def test_why_it_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, Path(".")):
        with pytest.raises(IsADirectoryError):
            write_output(path, b"")
    for name in ("file/x", "file/x/y"):
        with pytest.raises(NotADirectoryError):
            write_output(tmp_path / name, b"")


@pytest.mark.parametrize(
    ("name", "says"),
    [("none", "No such file"), ("", "Is a directory"), ("\0", "null byte")],
)
def test_what_cannot_be_read_is_named_with_why(
    tmp_path: Path, name: str, says: str
) -> None:
    with pytest.raises(UsageError, match=f"cannot be read: .*{says}") as caught:
        read_input(tmp_path / name, "name another")
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.hint == "name another"


def test_what_can_be_read_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\0\xff")
    assert read_input(tmp_path / "file", "") == b"\0\xff"
