# SPDX-License-Identifier: GPL-2.0-only
"""The archive is one that a reader of newc takes, and always the same."""

from __future__ import annotations

import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.vm import cpio


@dataclass(frozen=True)
class Member:
    name: str
    fields: tuple[int, ...]
    data: bytes

    @property
    def mode(self) -> int:
        return self.fields[1]


def members(archive: bytes) -> Iterator[Member]:
    """An independent, strict reader."""
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        header = archive[at + 6 : at + 110]
        fields = tuple(int(header[i : i + 8], 16) for i in range(0, 104, 8))
        size, length = fields[6], fields[11]
        name = archive[at + 110 : at + 110 + length]
        assert name.endswith(b"\0")
        start = at + 110 + length
        start += -start % 4
        if name == b"TRAILER!!!\0":
            assert not archive[start:].strip(b"\0")
            return
        yield Member(name[:-1].decode(), fields, archive[start : start + size])
        at = start + size
        at += -at % 4


def test_the_initramfs_holds_init_job_and_console() -> None:
    made = {
        m.name: m
        for m in members(cpio.initramfs(b"ELF", "lull-job 1\n", {"/a/b/c": b"x"}))
    }
    assert made["init"].data == b"ELF"
    assert made["init"].mode == stat.S_IFREG | 0o755
    assert made["job"].data == b"lull-job 1\n"
    assert made["dev/console"].mode == stat.S_IFCHR | 0o600
    assert made["dev/console"].fields[9:11] == (5, 1)
    assert made["dev/null"].fields[9:11] == (1, 3)
    assert stat.S_ISDIR(made["proc"].mode)
    assert made["a/b/c"].data == b"x"
    names = list(made)
    assert names.index("a") < names.index("a/b") < names.index("a/b/c")


def test_a_link_holds_its_target() -> None:
    (link,) = members(cpio.archive([cpio.symlink("bin/sh", "busybox")]))
    assert stat.S_ISLNK(link.mode)
    assert link.data == b"busybox"


def test_nothing_of_the_time_or_the_user_is_in_it() -> None:
    for member in members(cpio.initramfs(b"x", "")):
        uid, gid, mtime = member.fields[2], member.fields[3], member.fields[5]
        assert (uid, gid, mtime) == (0, 0, 0)


def test_the_order_of_extra_does_not_matter() -> None:
    one = cpio.initramfs(b"", "", {"a": b"1", "b": b"2"})
    other = cpio.initramfs(b"", "", {"b": b"2", "a": b"1"})
    assert one == other


@pytest.mark.parametrize("path", ["", "/etc", "a/../b", "a//b", "./a", "TRAILER!!!"])
def test_a_path_that_leaves_the_archive_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"archive|member"):
        cpio.archive([cpio.file(path, b"")])


def test_a_path_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        cpio.initramfs(b"", "", {"/init": b""})


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_every_length_of_data_comes_back(contents: list[bytes]) -> None:
    entries = [cpio.file(f"f{'x' * n}", data) for n, data in enumerate(contents)]
    back = list(members(cpio.archive(entries)))
    assert [m.data for m in back] == contents
    assert [m.fields[0] for m in back] == list(range(1, len(contents) + 1))


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_cpio_itself_reads_it() -> None:
    listing = subprocess.run(
        ["cpio", "--list", "--quiet"],
        input=cpio.initramfs(b"x", "y"),
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert {"init", "job", "dev/console"} <= set(listing.split())
