# SPDX-License-Identifier: GPL-2.0-only
"""How who is not root comes to have what only root can make."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli import app
from lull.deb.flavour import Flavour
from lull.errors import CannotRun
from lull.guest import image as image_module
from lull.guest.image import Image, More, as_root, base_image, need_tools
from lull.host import trust
from lull.host.progress import open_progress
from lull.kernels.cache import Cache
from lull.real import userspace
from lull.real.userspace import root_of


def test_a_user_is_told_how_to_have_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by root in the user's cache, of which root uses nothing."""
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", [".venv/bin/lull", "guest", "build"])
    with pytest.raises(CannotRun) as caught:
        need_tools()
    assert caught.value.hint == (
        "sudo sh -c 'umask 022 && XDG_CACHE_HOME=/var/cache"
        " exec .venv/bin/lull guest build'"
    )


@pytest.mark.parametrize(
    ("words", "build"),
    [
        (["/a/lull", "guest", "run", "x"], "/a/lull guest build"),
        (["/a/lull", "guest", "build", "--packages", "p"], "/a/lull guest build"),
        (["/a/lull", "guest", "measure", "-o", "d"], "/a/lull guest build --scenarios"),
        (["/a/lull", "guest", "stress"], "/a/lull guest build --scenarios"),
    ],
)
def test_root_makes_disks_and_no_runs(words: list[str], build: str) -> None:
    """Where a run leaves its folder is nobody's guess: the user makes it."""
    assert as_root(words).split("' && ") == [
        f"sudo sh -c 'umask 022 && XDG_CACHE_HOME=/var/cache exec {build}",
        " ".join(words),
    ]
    tests = as_root(["/a/pytest", "x"])
    assert tests.endswith(".venv/bin/lull guest build --scenarios'")
    assert "pytest" not in tests


class Os:
    """The module, with some of it otherwise."""

    def __init__(self, **otherwise: object) -> None:
        self.__dict__.update(otherwise)

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Who acts on a machine, and below which folder all is another user's."""
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(image_module, "SHARED", tmp_path / "var" / "lull")
    monkeypatch.setattr(image_module, "_build", build_at_once)

    def acts(uid: int, others: Path | None) -> None:
        def look(path: Path) -> os.stat_result:
            found = os.lstat(path)
            if others is None or not Path(path).is_relative_to(others):
                return found
            return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

        monkeypatch.setattr(image_module, "os", Os(geteuid=lambda: uid))
        monkeypatch.setattr(trust, "os", Os(lstat=look, stat=look))

    return acts


def build_at_once(root: Path, new: Path, flavour: Flavour, more: More | None) -> None:
    new.mkdir()
    for name in ("disk.ext4", "vmlinuz", "initrd.img", "packages.txt"):
        (new / name).write_text(name)


def asked(folder: Path) -> Image:
    cache = Cache(folder / "lull")
    cache.prepare()
    with open_progress() as progress:
        return base_image(cache, progress)


def test_by_what_a_user_is_told_there_is_a_disk(
    tmp_path: Path, machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, users = tmp_path / "bin" / "lull", tmp_path / "user"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$XDG_CACHE_HOME $(umask) $*"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "guest", "run", "script"])
    machine(1000, None)
    with pytest.raises(CannotRun) as caught:
        asked(users)
    told, again = caught.value.hint.rsplit(" && ", 1)
    assert again == f"{program} guest run script"
    # As root, who may not use anything of the user's.
    sudo, *words = shlex.split(told)
    said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    where, umask, *words = said.split()
    assert (sudo, umask) == ("sudo", "0022")
    machine(0, users)
    monkeypatch.setenv("XDG_CACHE_HOME", where)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (done.output, done.exception)
    # The user again, whose the copy is.
    machine(1000, None)
    image = asked(users)
    assert image.whole and image.disk.read_text() == "disk.ext4"
    assert image.directory.is_relative_to(users)


def test_a_disk_that_is_not_roots_is_not_taken(
    tmp_path: Path, machine: Callable[..., None]
) -> None:
    machine(0, None)
    asked(tmp_path / "var")
    machine(1000, tmp_path / "var")
    with pytest.raises(CannotRun):
        asked(tmp_path / "user")
    machine(1000, None)
    assert asked(tmp_path / "user").whole


def test_what_root_has_made_for_the_stress_is_taken(
    tmp_path: Path, machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def debootstrap(packages: Sequence[str], tar: Path) -> None:
        tarfile.open(tar, "w").close()

    def root() -> bytes:
        cache = Cache(tmp_path / name / "lull")
        cache.prepare()
        with open_progress() as progress:
            return root_of(["dog"], cache, progress)

    monkeypatch.setattr(userspace, "_debootstrap", debootstrap)
    machine(1000, None)
    name = "user"
    with pytest.raises(CannotRun):
        root()
    machine(0, None)
    name = "var"
    made = root()
    machine(1000, None)
    name = "user"
    assert root() == made
    assert list((tmp_path / "user" / "lull" / "guest").glob("*.cpio"))
