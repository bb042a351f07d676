# SPDX-License-Identifier: GPL-2.0-only
"""Foreign stress: what is asked of the guest, and what its answers come to."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.host.progress import open_progress
from lull.real.stress import (
    ROOM,
    Mode,
    Try,
    entries,
    load,
    plan,
    read_tries,
    stress,
    table,
    worse,
)

GOOD = Try("fork", 0, 3, "passed")


def test_the_guest_gets_a_mode_and_a_line_a_stressor() -> None:
    assert plan("lull", 5, {"fork": "--fork 2", "vm": "--vm 1"}) == (
        "lull 5\nfork --fork 2\nvm --vm 1\n"
    )
    found = load()
    assert found.modes[0] == "stock" and "ptrace" in found.stressors
    subprocess.run(["sh", "-n", repo_root() / ROOM / "init"], check=True)


def test_answers_are_read_also_where_they_are_cut() -> None:
    line = b'{"t":"try","name":"fork","status":0,"suspends":3,"text":"passed"}'
    cut = b'{"t":"try","name":"vm","sta'
    assert read_tries(b"\n".join([b"noise", line, cut])) == (GOOD,)


def mode(name: str, *tries: Try, error: LabError | None = None) -> Mode:
    return Mode(name, tries, error)


def test_what_stock_does_as_well_is_no_fault() -> None:
    assert worse([mode("stock", GOOD), mode("lull", GOOD)], ["fork"]) == []
    bad = Try("fork", 2, 3, "failed")
    both = [mode("stock", bad, Try("vm", 0, 1, "")), mode("lull", bad)]
    assert worse(both, ["fork"]) == []
    kernel = LabError("a bug")
    assert (
        worse([mode("stock", GOOD, error=kernel), mode("lull", GOOD)], ["fork"]) == []
    )


def test_a_stock_on_which_nothing_passes_shows_nothing() -> None:
    dead = mode("stock", error=LabError("no port"))
    assert worse([dead, mode("lull")], ["fork"]) == [
        "stock: no port",
        "stock: nothing has passed, and nothing is shown",
    ]


@pytest.mark.parametrize(
    ("lull", "what"),
    [
        (mode("lull", Try("fork", 2, 3, "failed")), "fork: status 2, and 0 in stock"),
        (mode("lull", Try("fork", 0, 0, "passed")), "the machine never suspended"),
        (mode("lull"), "fork was not run"),
        (mode("lull", GOOD, error=LabError("a bug")), "lull: a bug"),
    ],
)
def test_what_a_mode_does_worse_is_said(lull: Mode, what: str) -> None:
    (said,) = worse([mode("stock", GOOD), lull], ["fork"])
    assert said.startswith("lull: ") and what in said


def test_the_table_has_each_in_each_mode() -> None:
    modes = [mode("stock", GOOD), mode("lull", Try("vm", 4, 0, ""))]
    head, fork, vm = table(modes, ["fork", "vm"]).splitlines()
    assert head.split() == ["stressor", "stock", "lull"]
    assert fork.split() == ["fork", "ok,", "3", "suspends", "-"]
    assert vm.split()[1:] == ["-", *["not", "on", "this", "kernel"]]


def test_unknown_names_are_refused_before_anything_is_built(tmp_path: Path) -> None:
    with open_progress() as progress:
        with pytest.raises(UsageError, match="unknown stressor: 'frok'"):
            stress(["frok"], 1, "6.12", tmp_path, progress)
        with pytest.raises(UsageError, match="unknown mode: 'fast'"):
            stress(["fork"], 1, "6.12", tmp_path, progress, ["fast"])


def test_a_tar_becomes_what_an_initramfs_has() -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for name, kind in (("./", tarfile.DIRTYPE), ("./usr", tarfile.DIRTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            tar.addfile(info)
        for name in ("./usr/sh", "./var/lib/apt/lists/one", "./dev/sda"):
            info = tarfile.TarInfo(name)
            info.size, info.mode = 2, 0o755
            tar.addfile(info, io.BytesIO(b"#!"))
        for name, kind in (("./bin", tarfile.SYMTYPE), ("./usr/dash", tarfile.LNKTYPE)):
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "usr" if kind == tarfile.SYMTYPE else "./usr/sh"
            tar.addfile(info)
    data.seek(0)
    with tarfile.open(fileobj=data) as tar:
        found = {entry.path: entry for entry in entries(tar)}
    assert list(found) == [
        "bin",
        "dev/console",
        "dev/null",
        "usr",
        "usr/dash",
        "usr/sh",
    ]
    assert found["bin"].data == b"usr" and found["usr/dash"].data == b"#!"


@pytest.mark.vm
@pytest.mark.proof
@pytest.mark.seconds(900)
def test_nothing_is_worse_than_on_stock(tmp_path: Path) -> None:
    with open_progress() as progress:
        told = stress((), 5, "6.12", tmp_path, progress)
    assert "ok, " in told
