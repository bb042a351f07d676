# SPDX-License-Identifier: GPL-2.0-only
"""What `lull kernel deb` says of sources, of this machine, and of what it has made."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.deb import build as builder
from lull.deb import cli
from lull.deb.build import DIFFERENCES, compiled, describe
from lull.deb.flavour import Flavour
from lull.deb.newer import newer, newer_text
from lull.deb.record import Packages
from lull.kernels import source
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.cli import app
from lull.kernels.source import Source
from lull.kernels.update import Update

BASE = load_base("6.12")
HERE = Source(
    base="6.12", package_version="6.12.9-1~deb12u1", version="6.12.9", tree=Path("t")
)

Apt = Callable[[str], None]


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Apt:
    """An apt-cache that says what it is told to say."""
    stub = tmp_path / "bin" / "apt-cache"
    stub.parent.mkdir()
    monkeypatch.setenv("PATH", f"{stub.parent}:{os.environ['PATH']}")

    def says(text: str) -> None:
        stub.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        stub.chmod(0o755)

    return says


def policy(version: str) -> str:
    table = f"  Version table:\n     {version} 500\n"
    head = "linux-source-6.12:\n  Installed: (none)\n"
    return f"{head}  Candidate: {version}\n{table}"


def test_newer_sources_that_apt_knows_are_told(apt: Apt) -> None:
    apt(policy("6.12.10-1~deb12u1"))
    text = newer_text(BASE, HERE)
    assert text.startswith(
        "apt has linux-source-6.12 6.12.10-1~deb12u1, this is 6.12.9"
    )
    assert text.endswith(": add --refresh")


@pytest.mark.parametrize(
    "said",
    [policy("6.12.9-1~deb12u1"), policy("6.12.8-9"), policy("(none)"), "", "E: no\n"],
)
def test_what_is_not_newer_or_not_known_is_not_told(apt: Apt, said: str) -> None:
    apt(said)
    assert newer_text(BASE, HERE) == ""


def test_without_apt_or_of_another_suite_there_is_nothing_to_tell(
    apt: Apt, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt(policy("9-1"))
    assert newer(BASE.model_copy(update={"suite": "sid"}), HERE) == ""
    monkeypatch.setenv("PATH", "/nowhere")
    assert newer(BASE, HERE) == ""


def test_with_refresh_the_archive_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Asked(Exception):
        pass

    def fetch(base: object, cache: object, said: Update, refresh: bool) -> None:
        asked.append(refresh)
        raise Asked

    monkeypatch.setattr(source, "fetch", fetch)
    monkeypatch.setattr(builder, "need_amd64", lambda machine: None)
    monkeypatch.setattr(builder.toolchain, "need_packaging_tools", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["deb", "-o", str(tmp_path / "new")]
    for more in ([], ["--refresh"]):
        assert isinstance(CliRunner().invoke(app, [*words, *more]).exception, Asked)
    assert asked == [False, True]


def test_a_dry_run_with_refresh_does_not_count_on_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "cached", lambda base, cache: HERE)
    cache = Cache(tmp_path / "cache")
    text = "\n".join(describe("6.12", Flavour.CLOUD, refresh=True, cache=cache))
    assert "download linux-source-6.12\n" in text


def test_the_command_says_how_to_install_what_it_has_made_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apt: Apt
) -> None:
    made = tmp_path / "made"
    names = ("linux-image-6_1_amd64.deb", "linux-headers-6_1_amd64.deb")
    made.mkdir()
    for name in (*names, DIFFERENCES):
        (made / name).touch()
    packages = Packages(
        base="6.12",
        flavour="amd64",
        release="6",
        version="1",
        key="k",
        compiler="cc",
        built="",
        files=dict.fromkeys(names, ""),
        directory=made,
    )
    monkeypatch.setattr(builder, "build", lambda *_, **__: packages)
    monkeypatch.setattr(cli, "cached", lambda base, cache: HERE)
    apt(policy("6.12.10-1"))
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "linux-image-5_1_amd64.deb").touch()
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["deb", "-o", "a folder"])
    assert result.exit_code == 0, result.output
    assert "apt has linux-source-6.12 6.12.10-1, this is" in result.stderr
    _, _, line = result.stdout.partition("sudo apt install")
    installed = shlex.split(line.replace("\\\n", ""))
    assert [name.partition("_")[0] for name in installed] == [
        "./a folder/lull-tools",
        "./a folder/linux-image-6",
        "./a folder/linux-headers-6",
    ]


def test_what_a_build_goes_on_with_is_what_was_made() -> None:
    log = """\
$ make -j2
  CALL    scripts/checksyscalls.sh
  CC      init/main.o
  AR      init/built-in.a
$ make -j2
  CALL    scripts/checksyscalls.sh
  CC      init/main.o
  CC [M]  fs/fuse/dev.o
"""
    assert compiled(log) == 3
