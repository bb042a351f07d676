# SPDX-License-Identifier: GPL-2.0-only
"""Bases, and the sources that apt downloads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lull.errors import CannotRun, LabError, UsageError
from lull.host import suite
from lull.host.suite import AptSource
from lull.kernels.bases import Base, base_names, load_base
from lull.kernels.cache import Cache
from lull.kernels.source import cached, download_error, fetch, makefile_version

BASE = Base(name="6.12", package="linux-source-6.12", tarball="t.tar.xz", top="t")


def test_the_projects_bases_load() -> None:
    for name in base_names():
        assert load_base(name).name == name


def test_unknown_base_names_the_valid_ones() -> None:
    with pytest.raises(UsageError, match=r"no base '5\.4'; there is: .*6\.12"):
        load_base("5.4")


def test_a_base_with_an_unknown_member(tmp_path: Path) -> None:
    bases = tmp_path / "kernel" / "bases"
    bases.mkdir(parents=True)
    good = 'name="6.1"\npackage="linux-source-6.1"\ntarball="t"\ntop="t"\n'
    (bases / "6.1.toml").write_text(good)
    assert load_base("6.1", tmp_path).suite is None
    (bases / "6.1.toml").write_text(good + "colour=1\n")
    with pytest.raises(LabError, match="colour"):
        load_base("6.1", tmp_path)


@pytest.mark.parametrize(
    ("said", "what", "hint"),
    [
        ("E: Unable to locate package linux-source-6.12", "not known", "update"),
        ("E: Failed to fetch x  404  Not Found", "too old", "update"),
        ("E: Temporary failure resolving", "cannot be downloaded", "download"),
    ],
)
def test_what_apt_says(said: str, what: str, hint: str) -> None:
    error = download_error(BASE, said)
    assert what in error.what and said in error.what
    assert "linux-source-6.12" in error.what
    assert hint in error.hint


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("E: Unable to locate package linux-source-7.3", "is not in trixie-backports"),
        ("404  Not Found", "trixie-backports has changed"),
    ],
)
def test_of_another_suite_the_machines_own_lists_are_no_help(
    said: str, what: str
) -> None:
    """Its lists are read for each download."""
    error = download_error(load_base("7.3"), said)
    assert what in error.what and said in error.what
    assert error.hint and "apt-get update" not in error.hint


#: apt-get of an archive where only another suite has the package.
OTHER_SUITE = """#!/bin/sh
case "$*" in
*update) grep -q '^Suites: sid$' suite.sources ;;
*"-c $PWD/apt/apt.conf -o APT::Cmd::Pattern-Only=true download linux-source-6.12")
	mkdir -p p/DEBIAN s/t && touch -d @0 s
	printf 'VERSION = 6\\nPATCHLEVEL = 12\\nSUBLEVEL = 130\\n' >s/t/Makefile
	tar -C s -cf p/t.tar.xz t
	printf 'Package: linux-source-6.12\\nVersion: 6.12.130-1\\n' >p/DEBIAN/control
	printf 'Architecture: all\\nMaintainer: x <x@invalid>\\n' >>p/DEBIAN/control
	printf 'Description: x\\n' >>p/DEBIAN/control
	dpkg-deb -b p linux-source-6.12_6.12.130-1_all.deb && rm -r p ;;
*) echo "E: Unable to locate package"; exit 100 ;;
esac
"""


def test_another_suite_is_asked_where_the_base_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    apt.write_text(OTHER_SUITE)
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{apt.parent}:{os.environ['PATH']}")
    source = AptSource("http://x.invalid/debian", ("stable",), ("main",))
    monkeypatch.setattr(suite, "machine_sources", lambda: [source])
    monkeypatch.setattr(Cache, "need", lambda *_: None)
    cache = Cache(tmp_path / "c")
    with pytest.raises(CannotRun, match="not known to apt"):
        fetch(BASE, cache)
    got = fetch(BASE.model_copy(update={"suite": "sid"}), cache)
    assert (got.version, got.package_version) == ("6.12.130", "6.12.130-1")


FAKE_APT = """#!/bin/sh
[ -z "$APT_FAILS" ] || { echo "E: Unable to locate package x"; exit 100; }
mkdir -p p/DEBIAN p/usr/src t && cat >p/DEBIAN/control <<X
Package: linux-source-6.12
Version: 6.12.9-1~deb12u1
Architecture: all
Maintainer: nobody <nobody@invalid>
Description: x
X
printf 'VERSION = 6\\nPATCHLEVEL = 12\\nSUBLEVEL = 9\\n' >t/Makefile
tar -cJf p/t.tar.xz t && dpkg-deb -b p linux-source-6.12_6.12.9_all.deb >/dev/null
rm -rf p t
"""


def test_fetch_unpacks_and_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    apt.write_text(FAKE_APT)
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{apt.parent}:{os.environ['PATH']}")
    cache = Cache(tmp_path / "cache")
    monkeypatch.setattr(Cache, "need", lambda *_: None)
    monkeypatch.setenv("APT_FAILS", "1")
    with pytest.raises(CannotRun, match="not known"):
        fetch(BASE, cache)
    assert cached(BASE, cache) is None
    monkeypatch.delenv("APT_FAILS")
    got = fetch(BASE, cache)
    assert (got.version, got.package_version) == ("6.12.9", "6.12.9-1~deb12u1")
    assert (got.tree / "Makefile").is_file()
    assert not list((cache.root / "tmp").iterdir())
    apt.unlink()  # the second time nothing is downloaded
    assert fetch(BASE, cache) == got


def test_makefile_version() -> None:
    text = "# x\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n"
    assert makefile_version(text) == "6.12.117"
    with pytest.raises(LabError, match="SUBLEVEL"):
        makefile_version(text.replace("SUBLEVEL", "X"))
