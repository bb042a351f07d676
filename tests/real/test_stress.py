# SPDX-License-Identifier: GPL-2.0-only
"""Foreign stress: what is asked of the guest, and what its answers come to."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from threading import Event

import pytest

from lull.ask.catalog import features
from lull.errors import CannotRun, LabError, UsageError
from lull.host.files import repo_root
from lull.host.progress import open_progress
from lull.kernels.bases import base_names, load_base
from lull.real import stress as stress_module
from lull.real.selftests import Test
from lull.real.stress import (
    ROOM,
    Chosen,
    choose_from,
    load,
    machine,
    plan,
    stress,
    table,
    watched,
    worse,
)
from lull.real.tried import Mode, Try, read_tries
from lull.real.userspace import entries
from lull.vm.accel import Decision

GOOD = Try("fork", 0, 3, "passed")


def test_the_guest_gets_a_mode_and_a_line_for_each() -> None:
    chosen = Chosen({"fork": "--fork 2", "vm": "--vm 1"}, (Test("futex", "wait -t 5"),))
    assert plan("lull", 5, 60, chosen) == (
        "lull 5 60\nstressor fork --fork 2\nstressor vm --vm 1\ntest futex wait -t 5\n"
    )
    assert str(chosen) == "2 stressors and 1 selftests"
    assert str(chosen.without(["selftests/futex/wait"])) == "2 stressors"
    subprocess.run(["sh", "-n", repo_root() / ROOM / "init"], check=True)


def test_a_name_is_a_stressor_s_else_some_of_the_kernel_s_tests() -> None:
    found = load()
    assert found.modes[0] == "stock" and "ptrace" in found.stressors

    def chosen(*names: str) -> tuple[list[str], set[str]]:
        one = choose_from(found, names)
        return list(one.stressors), {test.area for test in one.tests}

    every = set(found.selftests)
    assert chosen() == (list(found.stressors), every)
    assert chosen("fork", "futex") == (["fork", "futex"], set())
    assert chosen("fork", "selftests/futex") == (["fork"], {"futex"})
    assert chosen("zram", "mm") == ([], {"mm", "zram"})
    assert chosen("selftests") == ([], every)
    one, same = (choose_from(found, [n]) for n in ("zram", "zram/zram02.sh"))
    assert one == same and choose_from(found, ["zram", "zram"]) == one
    with pytest.raises(UsageError, match="unknown stressor: 'mm/co'") as refused:
        chosen("mm/co")
    assert "fork, " in refused.value.hint and "selftests/mm" in refused.value.hint


def test_the_debug_kernel_finds_both_cpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stress_module, "choose", lambda _: Decision("tcg", "slow"))
    spec = machine(tmp_path / "bzImage", "6.12", 1536)
    assert (spec.cpus, spec.packages, spec.memory_mb) == (2, True, 1536)
    assert any(word.startswith("pmtmr=") for word in spec.append)


def test_how_far_a_guest_has_come_is_said(tmp_path: Path) -> None:
    results, told = tmp_path / "raw", Event()
    said: list[tuple[str, int, int]] = []

    def tell(text: str, done: int, total: int) -> None:
        said.append((text, done, total))
        told.set()

    line = '{"t":"try","name":"fork","status":0,"suspends":3,"text":""}\n'
    results.write_text(line * 2)
    with watched(results, "lull", 4, tell):
        assert told.wait(60)
    assert said[0] == ("mode lull: fork", 1, 4)
    told.clear()
    results.unlink()
    with watched(results, "lull", 4, tell):
        assert told.wait(60)
    assert said[-1] == ("mode lull: it boots", 0, 4)


def test_answers_are_read_also_where_they_are_cut() -> None:
    line = b'{"t":"try","name":"fork","status":0,"suspends":3,"text":"passed"}'
    cut = b'{"t":"try","name":"vm","sta'
    assert read_tries(b"\n".join([b"noise", line, cut])) == (GOOD,)


#: Runs of a test: each is one of the statuses and a suspend more, or none.
DRIVE = r"""
export LC_ALL=C
suspends() { cat slept; }
within() {
	shift 2
	[ "$1 $2 $3 $6 $7" = "unshare -m sh sh wait" ] || exit 1
	printf 'a "b"\\\t\303\nok 1 - %s\n' "$8" >/tmp/said.$$
	read -r status more <runs
	sed -i 1d runs
	echo $(($(cat slept) + more)) >slept
	return $status
}
echo 5 >slept
limit=6000
selftest futex wait -t 3>&1
"""


def driven(folder: Path, *runs: tuple[int, int]) -> tuple[Try, ...]:
    """What the guest says of a test whose runs end so, and as often sleep."""
    text = (repo_root() / ROOM / "init").read_text("utf-8")
    functions = text[text.index("# A line about a run") : text.index("# What a test")]
    (folder / "runs").write_text("".join(f"{s} {n}\n" for s, n in runs))
    script = f"{functions}\n{DRIVE}".replace("/tmp/said", f"{folder}/said")
    script = script.replace("said.$$", "said")
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, capture_output=True, check=True
    )
    assert not (folder / "runs").read_text()
    return read_tries(done.stdout)


def test_a_test_runs_until_it_has_passed_and_the_machine_has_slept(
    tmp_path: Path,
) -> None:
    name = "selftests/futex/wait -t"
    text = 'a "b"\\\t?\nok 1 - -t\n'
    assert driven(tmp_path, (0, 1)) == (Try(name, 0, 1, text),)
    for runs in (
        [(0, 0), (0, 0), (0, 2)],
        [(1, 1), (4, 0)],
        [(1, 0), (137, 1), (0, 0)],
        [(1, 1)] * 20,
    ):
        found = driven(tmp_path, *runs)
        assert [(one.status, one.suspends) for one in found] == runs


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


def test_what_the_kernel_s_tests_show_is_shown() -> None:
    test = Test("futex", "wait")
    ran = Try(test.name, 0, 1, "ok 1 a\n")
    bad = Try(test.name, 1, 1, "not ok 1 a\n")
    assert worse([mode("stock", ran), mode("lull", ran)], [], [test]) == []
    both = [mode("stock", GOOD, ran), mode("lull", GOOD, bad)]
    said = worse(both, ["fork"], [test])
    assert said[0] == f"lull: {test.name}: a: failed, but passed in stock"
    assert worse([mode("stock", bad), mode("lull", bad)], [], [test]) == [
        "stock: nothing has passed, and nothing is shown"
    ]


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


@pytest.mark.parametrize("name", base_names())
def test_a_feature_that_the_base_lacks_is_said_before_anything_is_built(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise CannotRun("no QEMU")

    monkeypatch.setattr(stress_module, "require_qemu", stop)
    said = io.StringIO()
    with open_progress(said) as progress, pytest.raises(CannotRun, match="no QEMU"):
        stress(["fork"], 1, name, tmp_path, progress)
    absent = load_base(name).absent
    lines = [line.partition("] ")[2] for line in said.getvalue().splitlines()]
    assert lines == [
        f"without {feature}, not on the base {name}: {why}"
        for feature, why in sorted(absent.items())
    ]


def test_the_guest_switches_all_features_there_are() -> None:
    init = (repo_root() / ROOM / "init").read_text("utf-8")
    names = " ".join(one.name for one in features() if not one.switches)
    assert f'\nall="{names}"\n' in init


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


#: Short ones of most areas of the kernel's tests.
SHORT = (
    "breakpoints",
    "cgroup/test_pids",
    "selftests/futex/futex_wait_timeout",
    "mm/madv_populate",
    "unix/scm_pidfd",
    "zram",
)


@pytest.mark.default_base
@pytest.mark.vm
@pytest.mark.proof
@pytest.mark.seconds(900)
def test_nothing_is_worse_than_on_stock(tmp_path: Path) -> None:
    names = (*load().stressors, *SHORT)
    with open_progress() as progress:
        told = stress(names, 5, "6.12", tmp_path, progress)
    assert "ok, " in told and "selftests/breakpoints/breakpoint_test " in told
