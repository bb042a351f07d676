# SPDX-License-Identifier: GPL-2.0-only
"""Another suite of the machine's archive: which one, and by an apt of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.host import suite
from lull.host.programs import run
from lull.host.suite import (
    AptSource,
    Suite,
    apt_config,
    choose,
    download_command,
    open_suite,
    parse_deb822,
    parse_one_line,
    sources_entry,
)


def test_one_line_sources() -> None:
    text = """\
# deb http://commented.invalid/debian bookworm main
deb-src http://source.invalid/debian bookworm main
deb http://plain.invalid/debian bookworm main contrib # said why
deb [ arch=amd64 signed-by=/a/keyring ] http://signed.invalid/d bookworm main
"""
    assert parse_one_line(text) == [
        AptSource("http://plain.invalid/debian", ("bookworm",), ("main", "contrib")),
        AptSource(
            "http://signed.invalid/d",
            ("bookworm",),
            ("main",),
            (("signed-by", "/a/keyring"),),
        ),
    ]


def test_deb822_sources() -> None:
    text = """\
# The first stanza has comments in its middle.
Types: deb deb-src
#URIs: http://commented.invalid/
URIs: http://one.invalid/debian http://two.invalid/debian
suites: bookworm
# bookworm-backports
 bookworm-updates
Components: main
Signed-By: /a/keyring

Types: deb-src
URIs: http://source.invalid/debian
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://disabled.invalid/debian
Suites: bookworm
Components: main
"""
    trust = (("signed-by", "/a/keyring"),)
    suites = ("bookworm", "bookworm-updates")
    assert parse_deb822(text) == [
        AptSource("http://one.invalid/debian", suites, ("main",), trust),
        AptSource("http://two.invalid/debian", suites, ("main",), trust),
    ]


def test_a_key_of_many_lines_is_carried_over_whole() -> None:
    key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc=\n -----END-----"
    text = f"Types: deb\nURIs: u\nSuites: trixie\nComponents: main\nSigned-By:{key}\n"
    (source,) = parse_deb822(text)
    entry = sources_entry(source, "sid")
    assert entry.endswith(f"{key}\n")
    assert parse_deb822(entry) == [AptSource("u", ("sid",), ("main",), source.trust)]


def test_the_distributions_own_archive_is_chosen() -> None:
    main = ("main",)
    addon = AptSource("http://addon.invalid", ("addon-bookworm",), main)
    security = AptSource("http://x.invalid/security", ("bookworm-security",), main)
    disc = AptSource("cdrom:[Debian", ("bookworm",), main)
    nonfree = AptSource("http://x.invalid/debian", ("bookworm",), ("non-free",))
    debian = AptSource("http://x.invalid/debian", ("bookworm", "x"), main)
    named = AptSource("http://x.invalid/debian", ("stable",), main)
    others = [addon, security, disc, nonfree]
    assert choose([*others, debian], "bookworm") is debian
    assert choose([*others, named], "bookworm") is named
    assert choose(others, "bookworm") is None


def test_the_suites_line() -> None:
    source = AptSource("http://x.invalid/debian", ("bookworm",), ("main", "contrib"))
    assert sources_entry(source, "sid") == (
        "Types: deb\nURIs: http://x.invalid/debian\nSuites: sid\nComponents: main\n"
    )


def test_apt_keeps_to_its_folder() -> None:
    lines = apt_config(Path("/a/b")).splitlines()
    assert 'Dir::State::status "/a/b/status";' in lines
    assert 'Dir::Etc::SourceParts "/dev/null";' in lines
    # First: a #clear takes away what was set above it.
    assert lines[:2] == ["#clear APT::Default-Release;", "#clear APT::Update;"]
    assert lines[-1] == 'APT::Update::Error-Mode "any";'


def test_lists_that_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt = tmp_path / "bin" / "apt-get"
    apt.parent.mkdir()
    apt.write_text("#!/bin/sh\necho 'E: no Release file'; exit 100\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{apt.parent}:{os.environ['PATH']}")
    source = AptSource("http://x.invalid/debian", ("stable",), ("main",))
    monkeypatch.setattr(suite, "machine_sources", lambda: [source])
    with pytest.raises(CannotRun, match=r"suite sid: (?s:.*)no Release file"):
        open_suite("sid", tmp_path / "apt")
    monkeypatch.setattr(suite, "machine_sources", list)
    with pytest.raises(CannotRun, match="no archive"):
        open_suite("sid", tmp_path / "other")


@pytest.mark.parametrize("other", [False, True])
def test_a_longer_name_is_not_taken_for_one_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: bool
) -> None:
    """By the real apt-get: of the machine's configuration, and of another suite's."""
    archive, folder = tmp_path / "archive", tmp_path / "apt"
    for place in (archive, folder / "lists" / "partial", folder / "cache" / "archives"):
        place.mkdir(parents=True)
    (folder / "status").touch()
    (archive / "Packages").write_text(
        "Package: linux-source-6.12\nVersion: 1\nArchitecture: all\n"
        f"Filename: ./x.deb\nSize: 1\nSHA256: {64 * '0'}\nDescription: x\n"
    )
    entry = f"Types: deb\nURIs: file:{archive}\nSuites: ./\nTrusted: yes\n"
    (folder / "suite.sources").write_text(entry)
    (folder / "apt.conf").write_text(apt_config(folder))
    monkeypatch.setenv("APT_CONFIG", str(folder / "apt.conf"))
    there = Suite("x", folder)
    updated = run(there.apt("update"), tmp_path)
    assert not updated.returncode, updated.stdout
    done = run(download_command("linux-source-6.1", there if other else None), tmp_path)
    assert done.returncode
    assert "Unable to locate package linux-source-6.1\n" in done.stdout
