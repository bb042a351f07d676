# SPDX-License-Identifier: GPL-2.0-only
"""The package lull-tools, made for real: what is in it."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.ask.catalog import features
from lull.deb.commit import last_commit
from lull.deb.tools import PATHS, build_tools, tools_version
from lull.deb.tools_text import compared, default_file, feature_table, fill
from lull.errors import LabError
from lull.host.files import repo_root
from lull.kernels.cli import app
from lull.model import Feature, Mode

ROOT = repo_root()
COMMIT = last_commit(ROOT, PATHS)
VERSION = tools_version(COMMIT)

NAP = Feature(
    name="nap",
    title="napping",
    modes=(
        Mode(name="stock", text="as ever"),
        Mode(name="old", text="as before"),
        Mode(name="lull", text="sooner"),
    ),
    metrics={},
    workloads={},
)
SCENE = NAP.model_copy(update={"name": "scene", "switches": ("nap",)})


def test_it_has_what_it_is_to_have(package: Path, unpacked: Path) -> None:
    assert package.name == f"lull-tools_{VERSION}_amd64.deb"
    for name in ("usr/bin/lull", "usr/bin/lull-probe"):
        assert (unpacked / name).stat().st_mode & 0o777 == 0o755
    unit = (unpacked / "usr/lib/systemd/system/lull.service").read_text()
    assert "ExecStart=/usr/bin/lull apply" in unit
    assert "ConditionPathIsDirectory=/sys/module/lull/parameters" in unit
    assert "ConditionVirtualization=!container\n" in unit
    line = (unpacked / "usr/lib/tmpfiles.d/lull.conf").read_text().splitlines()[-1]
    assert line == "d /run/lull 0755 root root -"
    assert (unpacked / "DEBIAN/conffiles").read_text() == "/etc/default/lull\n"
    listed = subprocess.run(
        ["dpkg-deb", "-c", package], capture_output=True, text=True, check=True
    ).stdout
    assert all(" root/root " in line for line in listed.splitlines())


def test_it_needs_no_python_and_no_library(package: Path, unpacked: Path) -> None:
    fields = subprocess.run(
        ["dpkg-deb", "-f", package], capture_output=True, text=True, check=True
    ).stdout
    assert "Depends:" not in fields and f"Version: {VERSION}\n" in fields
    probe = subprocess.run(
        [unpacked / "usr/bin/lull-probe", "--list"], capture_output=True, text=True
    )
    assert probe.returncode == 0 and "zombies" in probe.stdout
    kind = subprocess.run(
        ["readelf", "-d", unpacked / "usr/bin/lull-probe"],
        capture_output=True,
        text=True,
    ).stdout
    assert "no dynamic section" in kind
    for path in ("usr/bin/lull", "DEBIAN/postinst", "DEBIAN/prerm", "DEBIAN/postrm"):
        text = (unpacked / path).read_text()
        assert text.startswith("#!/bin/sh\n") and "python" not in text
        assert "@VERSION@" not in text
        subprocess.run(["sh", "-n", unpacked / path], check=True)


def test_sums_and_pages_are_as_debian_wants_them(unpacked: Path) -> None:
    listed = {}
    for line in (unpacked / "DEBIAN/md5sums").read_text().splitlines():
        digest, name = line.split("  ")
        listed[name] = digest
    payload = [
        path.relative_to(unpacked).as_posix()
        for path in unpacked.rglob("*")
        if path.is_file() and "DEBIAN" not in path.parts
    ]
    assert set(listed) == {name for name in payload if name != "etc/default/lull"}
    for name, digest in listed.items():
        assert hashlib.md5((unpacked / name).read_bytes()).hexdigest() == digest
    for name in ("man/man1/lull.1.gz", "man/man1/lull-probe.1.gz"):
        page = gzip.decompress((unpacked / "usr/share" / name).read_bytes())
        assert b".SH NAME" in page
        assert max(map(len, page.splitlines())) <= 88
    log = unpacked / "usr/share/doc/lull-tools/changelog.gz"
    text = gzip.decompress(log.read_bytes()).decode()
    assert text.startswith(f"lull-tools ({VERSION}) local;")
    assert COMMIT is None or f"  * This is of {COMMIT.number}.\n" in text


def test_the_same_sources_give_the_same_package(package: Path, tmp_path: Path) -> None:
    assert build_tools(tmp_path).read_bytes() == package.read_bytes()


def test_the_command_makes_it_alone(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["deb", "--tools", "-o", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "new").iterdir()] == [
        f"lull-tools_{VERSION}_amd64.deb"
    ]


def test_there_is_a_setting_for_each_feature(unpacked: Path) -> None:
    text = (unpacked / "etc/default/lull").read_text()
    for feature in features():
        name = f"LULL_{feature.name.upper()}"
        assert (f"\n{name}=stock\n" in text) is not bool(feature.switches)
    assert text.count("Default: stock.") == text.count("=stock\n")
    subprocess.run(["sh", "-eu", unpacked / "etc/default/lull"], check=True)


def test_modes_to_compare_with_and_scenarios_are_left_out() -> None:
    left_out = compared(['x\n[OLD] = LULL_COMPARED("old"),\n', ""])
    assert left_out == {"old"}
    assert feature_table([NAP, SCENE], left_out) == (
        "nap||napping\nnap|stock|as ever\nnap|lull|sooner\n"
    )


def test_who_has_changed_the_settings_is_not_asked_about_our_words() -> None:
    text = default_file([NAP, SCENE])
    other = NAP.model_copy(update={"title": "dozing", "modes": NAP.modes[:1]})
    assert default_file([other, SCENE]) == text
    assert "LULL_NAP=stock" in text and "SCENE" not in text
    assert "lull status" in text and "/usr/share/lull/features" in text


def test_a_text_that_breaks_the_table_is_an_error() -> None:
    bad = NAP.model_copy(update={"title": "a|b"})
    with pytest.raises(LabError, match=r"a\|b"):
        feature_table([bad], ())
    with pytest.raises(LabError, match="@SIZE@"):
        fill("@SIZE@", VERSION="1")
