# SPDX-License-Identifier: GPL-2.0-only
"""The cache survives kills, full disks and two runs at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.host.files import cache_root, write_file
from lull.kernels import cache as cache_module
from lull.kernels.cache import Cache, link_tree, replace_tree
from lull.kernels.record import KEEP, Kernel, kernel_dir, load, prune, sha256
from lull.model import Arm

#: A run that takes a temporary directory and a lock, says so, and hangs.
CHILD = """
import sys, time
from pathlib import Path
from lull.kernels.cache import Cache
cache = Cache(Path(sys.argv[1]))
cache.prepare()
with cache.temp("job") as temp, cache.lock("job"):
    (temp / "half").write_text("half")
    print(temp, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    cache = Cache(tmp_path / "cache")
    cache.prepare()
    return cache


def test_root() -> None:
    assert cache_root({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/lull")
    assert cache_root({"HOME": "/h"}) == Path("/h/.cache/lull")
    assert cache_root({"XDG_CACHE_HOME": "rel", "HOME": "/h"}) == Path("/h/.cache/lull")


@pytest.mark.parametrize("name", ["with space", "with:colon"])
def test_a_path_that_make_refuses(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotRun, match="space or a colon"):
        Cache(tmp_path / name)


def test_an_empty_cache_is_made_by_whoever_is_first(tmp_path: Path) -> None:
    new = Cache(tmp_path / "cache")
    with new.lock("job"), new.temp("job") as temp:
        assert temp.is_dir()
    shutil.rmtree(new.root)
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CannotRun, match="cache cannot be made"), new.lock("job"):
        pass


def test_a_killed_run_is_cleaned_up_and_a_live_one_is_not(cache: Cache) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(cache.root)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        cache.prepare()
        assert (left / "half").exists()
    finally:
        child.kill()
        child.wait()
    assert (left / "half").exists()
    cache.prepare()
    assert not left.exists()
    assert not list((cache.root / "tmp").iterdir())
    with cache.lock("job"):
        pass


def test_temp_goes_when_its_block_fails(cache: Cache) -> None:
    with pytest.raises(RuntimeError), cache.temp("x") as temp:
        (temp / "file").write_text("x")
        raise RuntimeError
    assert not list((cache.root / "tmp").iterdir())


def folder(place: Path, *names: str) -> Path:
    place.mkdir(parents=True)
    for name in names:
        (place / name).write_text(place.name)
    return place


def test_half_of_an_older_tree_is_never_in_its_place(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is interrupted while it is removed has the new one already."""
    place = folder(cache.sources / "tree", "a", "b")

    def interrupted(path: Path) -> None:
        (path / "a").unlink(missing_ok=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_module, "remove_tree", interrupted)
    with cache.temp("new") as temp:
        with pytest.raises(KeyboardInterrupt):
            replace_tree(folder(temp / "new", "c"), place)
        assert [path.name for path in place.iterdir()] == ["c"]
    assert not list((cache.root / "tmp").iterdir())


def test_what_is_discarded_is_gone_at_once(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder(cache.kernels / "k", "kernel.json", "bzImage")
    seen: list[bool] = []
    real = shutil.rmtree

    def look(path: Path, **more: bool) -> None:
        seen.append(place.exists())
        real(path, **more)

    monkeypatch.setattr(shutil, "rmtree", look)
    cache.discard(place)
    assert seen == [False] and not place.exists()


def test_a_lock_keeps_others_out(cache: Cache) -> None:
    said: list[str] = []
    order: list[str] = []

    def other() -> None:
        with cache.lock("x", said.append):
            order.append("other")

    with cache.lock("x"):
        thread = threading.Thread(target=other)
        thread.start()
        deadline = time.monotonic() + 30
        while not said and time.monotonic() < deadline:
            time.sleep(0.01)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]
    assert "another lull works on x" in said[0]


def test_too_little_disk(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(cache.root)._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    cache.need(10**9, "this")
    with pytest.raises(CannotRun, match=r"this needs 6 GB of disk, 1\.0 GB are free"):
        cache.need(6 * 10**9, "this")


def test_writing_does_not_go_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/f").write_text("old")
    link_tree(tmp_path / "a", tmp_path / "b")
    write_file(tmp_path / "b/f", b"new")
    assert (tmp_path / "a/f").read_text() == "old"
    assert (tmp_path / "b/f").read_text() == "new"
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["f"]


def test_a_failed_write_leaves_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(OSError, match="No space"):
        write_file(file, b"new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def store(cache: Cache, key: str) -> Kernel:
    place = kernel_dir(cache, "6.12", Arm.STOCK, key)
    place.mkdir(parents=True)
    for name in ("bzImage", "System.map"):
        (place / name).write_bytes(key.encode())
    kernel = Kernel(
        base="6.12",
        arm=Arm.STOCK,
        version="6.12.1",
        package_version="6.12.1-1",
        key=key,
        digest=sha256(place / "bzImage"),
        files={"System.map": sha256(place / "System.map")},
        compiler="gcc",
        built="2026-01-01T00:00:00+00:00",
        seconds=1,
        directory=place,
    )
    (place / "kernel.json").write_text(kernel.model_dump_json())
    return kernel


def test_a_kernel_is_found_again(cache: Cache) -> None:
    kernel = store(cache, "k")
    assert load(kernel.directory) == kernel


@pytest.mark.parametrize("name", ["bzImage", "System.map"])
def test_a_damaged_kernel_is_not_trusted(cache: Cache, name: str) -> None:
    kernel = store(cache, "k")
    (kernel.directory / name).write_bytes(b"truncat")
    assert load(kernel.directory) is None
    (kernel.directory / name).unlink()
    assert load(kernel.directory) is None


def test_old_kernels_are_removed(cache: Cache) -> None:
    for n in range(KEEP + 2):
        directory = store(cache, f"k{n}").directory
        os.utime(directory, (n, n))
    prune(cache, "6.12", Arm.STOCK)
    left = {path.name for path in cache.kernels.iterdir()}
    assert len(left) == KEEP
    assert "6.12-stock-k0" not in left and "6.12-stock-k1" not in left
