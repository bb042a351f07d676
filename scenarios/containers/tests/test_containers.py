# SPDX-License-Identifier: GPL-2.0-only
"""What `containers` runs in its Debian, tried here as far as that goes, and there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.model import Case, Job
from lull.real.catalog import select
from lull.real.programs import files_of
from lull.runs.samples import Stream
from tests.real.pretend import drive, said

ROOM = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    (one,) = select(["containers"])
    return files_of(one)


def swarm(
    programs: dict[str, Path], *words: str | Path, neighbours: int = 0
) -> subprocess.CompletedProcess[str]:
    command = [programs["swarm"], "3", "9", str(neighbours), "20", "c", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_it_says_how_long_each_took_to_begin(programs: dict[str, Path]) -> None:
    done = swarm(programs, "sh", "-c", f"sleep 0.2; {programs['first']}; sleep 0.2")
    assert (done.returncode, done.stderr) == (0, "")
    found = {k: float(v) for k, v in (x.split() for x in done.stdout.splitlines())}
    assert set(found) == {"containers_s", "start_p50", "start_max", "whole_p50"}
    assert 2e8 <= found["start_p50"] <= found["start_max"]
    assert found["whole_p50"] >= found["start_p50"] + 2e8
    # Three at a time, each of at least 0.4 s.
    assert found["containers_s"] <= 3 / 0.4


def test_a_neighbour_forks_meanwhile(programs: dict[str, Path]) -> None:
    done = swarm(programs, "sh", "-c", programs["first"], neighbours=1)
    found = {k: float(v) for k, v in (x.split() for x in done.stdout.splitlines())}
    assert found["forks_s"] > 0
    assert 0 < found["fork_p50"] <= found["fork_p99"] <= found["fork_max"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["nosuchprogram"], r"nosuchprogram: No such file or directory"),
        (["sh", "-c", "exit 3"], r"c-\d: sh ended with status 3"),
        (["sh", "-c", "kill -9 $$"], r"c-\d: sh was killed by signal 9"),
        (["true"], r"c-\d: true ended, and nothing has begun in it"),
        (["echo"], r"what has begun says is not a number: c-\d"),
    ],
)
def test_what_does_not_start_is_named(
    programs: dict[str, Path], words: list[str], what: str
) -> None:
    done = swarm(programs, *words)
    assert done.returncode == 1 and re.search(what, done.stderr), done.stderr
    assert done.stdout == ""


def test_what_does_not_end_is_named(programs: dict[str, Path]) -> None:
    words = [programs["swarm"], "2", "2", "0", "1", "c", "sh", "-c", "exec sleep 30"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert done.stderr == (
        "c-0: sh has not ended in its time\nc-1: sh has not ended in its time\n"
    )


def test_the_container_s_program_is_the_one_that_says_it_began() -> None:
    config = json.loads((ROOM / "config.json").read_text())
    assert config["process"]["args"] == ["/first"]
    assert not config["process"]["terminal"]


def in_the_script(words: str, given: str) -> subprocess.CompletedProcess[str]:
    """Words of sh with the functions of scenario.sh."""
    text = f'fail() {{ echo "$1" >&2; exit 1; }}\n. {ROOM}/scenario.sh\n{words}\n'
    return subprocess.run(
        ["sh", "-c", text], input=given, capture_output=True, text=True, timeout=300
    )


TRACE = """\
# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |
 0)   7.250 us    |  cgroup_procs_write();
 ------------------------------------------
 1)   systemd-1    =>   crun-3171
 ------------------------------------------

 1)               |  cgroup_procs_write() {
 0) + 41.118 us   |  cgroup_procs_write();
 1) # 9183.042 us |  }
 1) @ 201234.5 us |  } /* cgroup_procs_write */
"""


def test_writes_are_read_from_the_trace() -> None:
    done = in_the_script("p_total=2; writes", TRACE)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "writes 2",
        "write_p50 41118",
        "write_p99 201234500",
        "write_max 201234500",
    ]


def test_where_nobody_writes_there_is_no_time() -> None:
    done = in_the_script("p_total=2; writes", TRACE.partition("\n 0)")[0] + "\n")
    assert (done.stdout, done.stderr) == ("writes 0\n", "")


#: Makes of the mount what the kernel would; a remount names source and place.
MOUNT = """\
[ "$1" = -o ] && [ "$3" = cgroup2 ] || exit 1
echo "cgroup2 $4 cgroup2 rw,${2#remount,} 0 0" >mounts"""

#: As if it had made a container.
RUNTIME = """\
echo "$0 $*" >>asked
echo " 0)   7.250 us    |  cgroup_procs_write();" >>tracing/trace
exec tmp.*/bundle/rootfs/first"""


def played(
    folder: Path, programs: dict[str, Path], **stubs: str
) -> tuple[int, Stream, str]:
    """The scenario by its driver: the status, what it said, and what was asked of a
    runtime. The kernel's files are files of the folder."""
    for name, path in programs.items():
        if name != "scenario.sh":
            shutil.copy(path, folder / name)
    places = {
        "/sys/kernel/tracing": folder / "tracing",
        "/sys/fs/cgroup": folder / "cgroup",
        "/sys/kernel/rcu_expedited": folder / "expedited",
        "/proc/mounts": folder / "mounts",
    }
    (folder / "tracing").mkdir()
    script = (ROOM / "scenario.sh").read_text("utf-8")
    for there, here in places.items():
        script = script.replace(f"={there}\n", f"={here}\n")
    # The switches of a kernel with Lull are tried where there is one.
    script += 'features() { echo "$1" >"$here/now"; }\n'
    script += 'feature() { echo "$1=$2" >>"$here/now"; }\n'
    script += "sleep() { :; }\n"
    params = {"at": 1, "total": 3, "neighbours": 0, "runtime": "crun"}
    cases = tuple(
        Case(
            feature="containers",
            workload="run",
            params={**params, "manager": manager},
            order=("stock", "favordynmods", "expedited", "threadgroup", "lull"),
        )
        for manager in ("systemd", "cgroupfs")
    )
    all_stubs = {
        "mount": f"cd {folder}; {MOUNT}",
        "crun": f"cd {folder}; {RUNTIME}",
        **stubs,
    }
    status, stream = drive(folder, Job(seed=1, cases=cases), script, stubs=all_stubs)
    asked = folder / "asked"
    return status, stream, asked.read_text() if asked.is_file() else ""


def test_each_mode_is_switched_and_undone(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    seen = 'echo $(cat now expedited) $(sed "s/.*noexec,//; s/ 0 0//" mounts) >>seen; '
    status, stream, asked = played(
        tmp_path, programs, crun=f"cd {tmp_path}; {seen}{RUNTIME}"
    )
    assert (status, stream.errors) == (0, ())
    assert len(stream.samples) == 10
    for sample in stream.samples:
        assert sample.metrics["writes"] == 1 and sample.metrics["write_p50"] == 7250
        assert sample.metrics["start_p50"] > 0
    lines = dict.fromkeys((tmp_path / "seen").read_text().splitlines())
    assert list(lines) == [
        "stock 0 nsdelegate,memory_recursiveprot,nsdelegate",
        "stock 0 nsdelegate,memory_recursiveprot,favordynmods",
        "stock 1 nsdelegate,memory_recursiveprot,nsdelegate",
        "stock attach=threadgroup 0 nsdelegate,memory_recursiveprot,nsdelegate",
        "lull 0 nsdelegate,memory_recursiveprot,nsdelegate",
    ]
    words = asked.splitlines()
    assert words[0].endswith("--cgroup-manager=systemd run --bundle bundle lull-1-0")
    assert "--cgroup-manager=cgroupfs" in words[-1] and len(set(words)) == 30


def test_a_runtime_that_does_not_start_is_named(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    status, stream, _ = played(
        tmp_path, programs, crun='echo "no such bundle" >&2; exit 125'
    )
    text = said(stream)
    assert status == 1 and not stream.samples
    assert "case 0, round 0, mode stock: a container of crun did not run" in text
    assert "crun ended with status 125" in text and "no such bundle" in text


def test_a_mount_that_stays_as_it_was_is_named(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    stays = (
        f"cd {tmp_path}; echo cgroup2 {tmp_path}/cgroup cgroup2 rw,nsdelegate >mounts"
    )
    status, stream, _ = played(
        tmp_path, programs, mount=stays, crun=f"cd {tmp_path}; {RUNTIME}"
    )
    assert status == 1 and len(stream.samples) == 1
    assert "cgroup2 is mounted rw,nsdelegate, not favordynmods" in said(stream)


def test_scripts_are_posix() -> None:
    for path in (ROOM / "scenario.sh", repo_root() / "lull/real/files/driver.sh"):
        subprocess.run(["sh", "-n", path], check=True)
