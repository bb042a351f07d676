# SPDX-License-Identifier: GPL-2.0-only
"""Bases, tools, sources, and how make is run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.errors import CannotRun, LabError, UsageError
from lull.kernels import toolchain
from lull.kernels.bases import Base, base_names, load_base
from lull.kernels.build import describe
from lull.kernels.cache import Cache
from lull.kernels.cli import app
from lull.kernels.make import Step, build_identity, environment, make_flags, run_step
from lull.kernels.source import cached, download_error, fetch, makefile_version
from lull.kernels.verify import difference, sections
from lull.model import Arm

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


def test_missing_tools_are_named_with_their_packages() -> None:
    have = {"gcc", "ld", "make", "flex", "gzip", "perl", "setpriv"}
    with pytest.raises(CannotRun) as caught:
        toolchain.need_build_tools(
            lambda name: name if name in have else None, lambda name: name != "libelf.h"
        )
    text = str(caught.value)
    assert "missing: bc, bison, libelf.h" in text
    assert caught.value.hint == "sudo apt-get install bc bison libelf-dev"


def test_without_a_compiler_no_header_is_blamed() -> None:
    with pytest.raises(CannotRun, match=r"missing: gcc \("):
        toolchain.need_build_tools(
            lambda name: None if name == "gcc" else name, lambda _: False
        )


def test_missing_apt() -> None:
    with pytest.raises(CannotRun, match="missing: apt-get"):
        toolchain.need_fetch_tools(lambda name: None if name == "apt-get" else name)


def test_too_little_memory() -> None:
    toolchain.need_memory("MemAvailable:    1500000 kB\n")
    with pytest.raises(CannotRun, match=r"1\.4 GB are available"):
        toolchain.need_memory("MemTotal: 9 kB\nMemAvailable:    1400000 kB\n")


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


def test_another_suite_is_refused(tmp_path: Path) -> None:
    base = BASE.model_copy(update={"suite": "sid"})
    with pytest.raises(CannotRun, match=r"'sid'.*not implemented"):
        fetch(base, Cache(tmp_path / "c"))


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


def test_flags_fix_what_a_kernel_says_of_its_origin() -> None:
    flags = make_flags(Path("/a/src"), ccache=True)
    for name in ("TIMESTAMP", "USER", "HOST", "VERSION"):
        assert any(flag.startswith(f"KBUILD_BUILD_{name}=") for flag in flags)
    assert "LOCALVERSION=" in flags
    assert "CC=ccache gcc" in flags
    assert not any("ccache" in flag for flag in build_identity())


def test_the_environment_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "ARCH", "KCFLAGS", "LANG", "CCACHE_DISABLE"):
        monkeypatch.setenv(name, "x")
    env = environment(Path("/c"), Path("/w"))
    assert env.keys().isdisjoint({"MAKEFLAGS", "ARCH", "KCFLAGS", "LANG"})
    assert "CCACHE_DISABLE" not in env
    assert environment(None, None)["CCACHE_DISABLE"] == "1"


def step(script: str, tmp_path: Path) -> Step:
    return Step(("sh", "-c", script), tmp_path, {"PATH": os.defpath}, True)


def test_a_failure_shows_tail_log_and_command(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = "for i in $(seq 30); do echo line$i.; done; exit 3"
    with pytest.raises(LabError) as caught:
        run_step(step(script, tmp_path), log, label="6.12 lull")
    text = str(caught.value)
    assert "status 3" in text and "6.12 lull" in text
    assert "line11.\n" in text and "line30." in text
    assert "line10." not in text.split("command:")[0]
    assert str(log) in caught.value.hint and "line1." in log.read_text()
    assert "exit 3" in text.split("command:")[1]


def test_progress_counts_lines(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    run_step(
        step("echo a; echo b", tmp_path),
        tmp_path / "log",
        progress=lambda *args: seen.append(args),
        label="x",
        expected=9,
    )
    assert seen == [("x: a", 1, 9), ("x: b", 2, 9)]


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def test_an_interrupt_ends_the_whole_group(tmp_path: Path) -> None:
    pids: list[int] = []

    def interrupt(text: str, *_: int) -> None:
        pids.append(int(text.split()[-1]))
        raise KeyboardInterrupt

    # The grandchild ignores the polite signal, as a stuck one would.
    script = "(trap '' TERM; echo $(exec sh -c 'echo $PPID'); sleep 600) & wait"
    with pytest.raises(KeyboardInterrupt):
        run_step(step(script, tmp_path), tmp_path / "log", progress=interrupt)
    assert gone(pids[0])


KILLED = """
import os, sys
from pathlib import Path
from lull.kernels.make import Step, run_step
step = Step(("sh", "-c", "echo $$; exec sleep 600"), Path("."), dict(os.environ), True)
show = lambda text, *_: print(text.split()[-1], flush=True)
run_step(step, Path(sys.argv[1]), progress=show)
"""


def test_a_killed_lab_leaves_no_make_behind(tmp_path: Path) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert lab.stdout is not None
    pid = int(lab.stdout.readline())
    assert alive(pid)
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    assert gone(pid)


def test_dry_run_says_commands_and_does_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    text = "\n".join(describe("6.12", Arm.DEBUG, cache=cache))
    assert "download linux-source-6.12" in text
    assert "merge_config.sh" in text and "debug.config" in text
    assert "bzImage" in text
    assert not cache.root.exists()


def test_the_command_refuses_what_does_not_exist() -> None:
    runner = CliRunner()
    result = runner.invoke(app, ["build", "--base", "5.4", "--dry-run"])
    assert isinstance(result.exception, UsageError)
    assert result.exception.exit_code == 2
    assert runner.invoke(app, ["build", "--arm", "fast"]).exit_code == 2
    assert runner.invoke(app, ["--help"]).exit_code == 0


def test_list_of_an_empty_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0 and "no kernels yet" in result.output


def test_difference_names_the_section(tmp_path: Path) -> None:
    ours = tmp_path / "a"
    other = tmp_path / "b"
    ours.write_bytes(Path(sys.executable).resolve().read_bytes())
    assert "is the same" in difference(ours, ours)
    data = bytearray(ours.read_bytes())
    data[data.index(sections(bytes(data))[".text"]) + 0x10] ^= 1
    other.write_bytes(data)
    assert "is in .text of vmlinux at 0x10" in difference(ours, other)
    data = bytearray(ours.read_bytes())
    data[data.index(b"\0.text\0") + 2] = ord("T")  # the table of their names
    other.write_bytes(data)
    assert "other sections: .Text, .text" in difference(ours, other)
    other.write_bytes(b"text")
    assert "cannot be compared" in difference(ours, other)
