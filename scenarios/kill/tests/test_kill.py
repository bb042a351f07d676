# SPDX-License-Identifier: GPL-2.0-only
"""What `kill` runs in its Debian, tried here as far as that goes."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lull.model import Case, Job
from lull.real.catalog import select
from lull.real.programs import files_of
from lull.runs.samples import Stream
from tests.real.pretend import drive, said

ROOM = Path(__file__).parents[1]
NO_PSI = not Path("/proc/pressure/memory").is_file()


@pytest.fixture(scope="module")
def programs() -> dict[str, Path]:
    (one,) = select(["kill"])
    return files_of(one)


class Redis(threading.Thread):
    """Takes SET, as far as `fill` asks for it."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.answer = b"+OK\r\n"
        self.values: dict[str, bytes] = {}
        self.sets = 0
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(str(path))
        self.after_s = 0.0

    def run(self) -> None:
        time.sleep(self.after_s)
        self.door.listen()
        # Who is told no goes away, with commands under way.
        with suppress(ConnectionError):
            self._serve()

    def _serve(self) -> None:
        line, _ = self.door.accept()
        with line, line.makefile("rwb") as file:
            while head := file.readline():
                assert head == b"*3\r\n"
                words = []
                for _ in range(3):
                    size = int(file.readline()[1:])
                    words.append(file.read(size + 2)[:-2])
                assert words[0] == b"SET"
                self.values[words[1].decode()] = words[2]
                self.sets += 1
                file.write(self.answer)
                file.flush()


@pytest.fixture
def late(tmp_path: Path) -> Redis:
    """One that has not begun to listen."""
    return Redis(tmp_path / "s")


@pytest.fixture
def redis(late: Redis) -> Redis:
    late.start()
    return late


def fill(
    programs: dict[str, Path], place: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    command = [programs["fill"], place, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_values_are_its_own_and_compress_to_about_a_half(
    programs: dict[str, Path], tmp_path: Path, redis: Redis
) -> None:
    done = fill(programs, tmp_path / "s", "new", "100", "100", "4000", "1")
    redis.join(10)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(redis.values) == 100 and len(set(redis.values.values())) == 100
    for value in redis.values.values():
        assert len(value) == 4000
        assert len({value[i : i + 16] for i in range(0, 4000, 32)}) == 125


def test_again_gives_some_keys_values_of_other_sizes(
    programs: dict[str, Path], tmp_path: Path, redis: Redis
) -> None:
    done = fill(programs, tmp_path / "s", "again", "100", "130", "4000", "7")
    redis.join(10)
    assert done.returncode == 0 and redis.sets == 130
    assert set(redis.values) <= {f"key:{n:08}" for n in range(100)}
    sizes = [len(value) for value in redis.values.values()]
    assert min(sizes) >= 2000 and max(sizes) < 6000 and len(set(sizes)) > 20


def test_a_socket_that_nobody_listens_at_yet_is_waited_for(
    programs: dict[str, Path], tmp_path: Path, late: Redis
) -> None:
    late.after_s = 1.0
    late.start()
    done = fill(programs, tmp_path / "s", "new", "10", "10", "4000", "1")
    late.join(10)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(late.values) == 10


def test_what_redis_says_instead_is_told(
    programs: dict[str, Path], tmp_path: Path, redis: Redis
) -> None:
    redis.answer = b"-OOM command not allowed\r\n"
    done = fill(programs, tmp_path / "s", "new", "100", "100", "4000", "1")
    assert (done.returncode, done.stderr) == (1, "redis: -OOM command not allowed\n")
    done = fill(programs, tmp_path / "nobody", "new", "1", "1", "4", "1")
    assert done.returncode == 1 and "redis does not answer" in done.stderr


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        yield sleeper
        sleeper.kill()


def killed(
    programs: dict[str, Path], pid: int, stat: Path, seconds: str = "20"
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [programs["killed"], str(pid), stat, "4096", seconds],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_it_waits_until_zram_holds_what_it_did_before(
    programs: dict[str, Path], tmp_path: Path, victim: subprocess.Popen[bytes]
) -> None:
    stat = tmp_path / "mm_stat"
    stat.write_text(" 1000000000 400000 500000 0 500000 0 0 0 0\n")
    mine = killed(programs, victim.pid, stat)
    victim.wait()
    time.sleep(0.5)
    new = tmp_path / "new"
    new.write_text("    4096 400 8192 0 500000 0 0 0 0\n")
    new.rename(stat)
    out, err = mine.communicate(timeout=300)
    assert (mine.returncode, err) == (0, "")
    found = {name: int(value) for name, value in map(str.split, out.splitlines())}
    assert found["in_zram"] == 1000000000 - 4096 and found["held"] == 500000
    assert 0 < found["gone"] < found["back"] and found["back"] >= 4e8
    assert found["allocs"] > 0
    assert 0 < found["alloc_p50"] <= found["alloc_p99"] <= found["alloc_max"]
    assert set(found) >= {"some", "full"}


def test_what_is_not_as_it_should_be_is_named(
    programs: dict[str, Path], tmp_path: Path, victim: subprocess.Popen[bytes]
) -> None:
    stat = tmp_path / "mm_stat"
    for text, what in (
        ("5000 400 8192 0\n", "nothing of who is to be killed is there"),
        ("?\n", "mm_stat is neither zram's"),
    ):
        stat.write_text(text)
        mine = killed(programs, victim.pid, stat)
        _, err = mine.communicate(timeout=300)
        assert mine.returncode == 1 and what in err
    assert victim.poll() is None
    victim.kill()
    victim.wait()
    mine = killed(programs, victim.pid, stat)
    assert "who is to be killed is not there" in mine.communicate(timeout=300)[1]


MEMINFO = """\
MemTotal:        1000000 kB
Zswap:             {pool} kB
Zswapped:        {pages} kB
Dirty:                 0 kB
"""


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_of_zswap_it_reads_meminfo(
    programs: dict[str, Path], tmp_path: Path, victim: subprocess.Popen[bytes]
) -> None:
    stat = tmp_path / "meminfo"
    # More than may be left over of a page for each of many CPUs, as killed has it.
    stat.write_text(MEMINFO.format(pool=2000, pages=5000000))
    mine = killed(programs, victim.pid, stat)
    victim.wait()
    new = tmp_path / "new"
    new.write_text(MEMINFO.format(pool=2, pages=4))
    new.rename(stat)
    out, err = mine.communicate(timeout=300)
    assert (mine.returncode, err) == (0, "")
    found = {name: int(value) for name, value in map(str.split, out.splitlines())}
    assert found["in_zram"] == 5000000 * 1024 - 4096 and found["held"] == 2000 * 1024


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_what_does_not_come_back_is_named(
    programs: dict[str, Path], tmp_path: Path, victim: subprocess.Popen[bytes]
) -> None:
    stat = tmp_path / "mm_stat"
    stat.write_text("1000000000 400000 500000 0\n")
    # Dead already, and not to be reaped yet: what is waited for is mm_stat alone.
    victim.kill()
    os.waitid(os.P_PID, victim.pid, os.WEXITED | os.WNOWAIT)
    mine = killed(programs, victim.pid, stat, "1")
    _, err = mine.communicate(timeout=300)
    assert mine.returncode == 1 and "mm_stat still says 999995904 bytes" in err


#: A Redis that holds something in zram and in zswap for as long as it lives. Both say
#: so at once: the next one may begin as soon as either does. It ends with the driver.
REDIS = """\
holds() {
	new=$(mktemp -d held.XXXXXX)
	echo "$1 4000000 5000000" >$new/mm_stat
	printf 'Mem: 1 kB\\nZswap: 5000 kB\\nZswapped: %d kB\\n' "$2" >$new/meminfo
	ln -s $new held.new && mv -T held.new held
}
exec 3>&- 4>&-
echo "$*" >>asked
sleep 6000 </dev/null >/dev/null 2>&1 &
echo $! >pid
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("redis.sock")'
holds 900000000 800000
(
	until grep -q "State:.Z" /proc/$(cat pid)/status || [ ! -d /proc/$(cat pid) ]; do
		sleep 0.05
	done
	holds 0 0
) </dev/null >/dev/null 2>&1 &"""

SYSTEMCTL = """\
case $1 in
is-active) cat active ;;
show) cat pid ;;
esac"""


def played(
    folder: Path, programs: dict[str, Path], *, zswap: bool = False, **stubs: str
) -> tuple[int, Stream]:
    """The scenario by its driver; what the kernel and systemd have are files here."""
    shutil.copy(programs["killed"], folder / "killed")
    (folder / "fill").write_text(f'#!/bin/sh\necho "fill $*" >>{folder}/asked\n')
    (folder / "fill").chmod(0o755)
    for name in ("zram", "cgroups", "empty"):
        (folder / name).mkdir()
    (folder / "empty/mm_stat").write_text("0 0 0\n")
    (folder / "empty/meminfo").write_text("Mem: 1 kB\nZswap: 0 kB\nZswapped: 0 kB\n")
    (folder / "held").symlink_to("empty")
    (folder / "zram/mm_stat").symlink_to("../held/mm_stat")
    (folder / "meminfo").symlink_to("held/meminfo")
    (folder / "active").write_text("active\n")
    if zswap:
        (folder / "zswap").mkdir()
        (folder / "zswap/enabled").write_text("N\n")
    for serial in range(1, 7):
        group = folder / f"cgroups/lull-redis-{serial}.service"
        group.mkdir()
        (group / "memory.current").write_text("40000000\n")
        (group / "memory.swap.current").write_text("60000000\n")
    script = (ROOM / "scenario.sh").read_text("utf-8")
    for name, here in (
        ("zram", "zram"),
        ("socket", "redis.sock"),
        ("cgroups", "cgroups"),
        ("zswap", "zswap"),
        ("meminfo", "meminfo"),
    ):
        script = re.sub(f"^{name}=.*", f"{name}={folder / here}", script, flags=re.M)
    script = script.replace("/proc/sys/vm/page-cluster", f"{folder}/page-cluster")
    script += f'feature() {{ echo "$1=$2" >>{folder}/asked; }}\n'
    case = Case(
        feature="kill",
        workload="redis",
        params={"keys": 10, "share": 60, "rounds": 0},
        order=("stock", "lull"),
    )
    aged = case.model_copy(update={"params": {**case.params, "rounds": 2}})
    done = {name: "exit 0" for name in ("modprobe", "mkswap", "swapon")}
    all_stubs = {
        **done,
        "systemctl": f"cd {folder}; {SYSTEMCTL}",
        "systemd-run": f"cd {folder}; {REDIS}",
        **stubs,
    }
    squeezed = case.model_copy(update={"params": {**case.params, "zswap": 1}})
    job = Job(seed=1, cases=(case, squeezed, aged))
    return drive(folder, job, script, stubs=all_stubs)


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_each_round_has_a_redis_of_its_own(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    status, stream = played(tmp_path, programs)
    assert (status, stream.errors) == (0, ())
    assert [s.mode for s in stream.samples] == ["stock", "lull"] * 2
    for sample in stream.samples:
        assert sample.metrics["in_zram"] == 900000000
        assert 0 < sample.metrics["gone"] <= sample.metrics["back"]
    asked = (tmp_path / "asked").read_text()
    socket_ = tmp_path / "redis.sock"
    assert "--unit=lull-redis-4.service redis-server --port 0" in asked
    assert f"fill {socket_} new 10 10 4000 1\n" in asked
    assert asked.count(" again 10 5 4000 ") == 4 and "again 10 5 4000 41\n" in asked
    first, second = asked.split("--unit=lull-redis-2")[0].splitlines()[:6], asked
    assert first[-1] == "zfree=stock" and "zfree=lull" in second
    assert (tmp_path / "page-cluster").read_text() == "0\n"


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_in_zswap_where_the_kernel_has_it(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    status, stream = played(tmp_path, programs, zswap=True)
    assert (status, stream.errors) == (0, ())
    found = [(s.case, s.metrics["in_zram"]) for s in stream.samples]
    assert found == [(0, 9e8)] * 2 + [(1, 800000 * 1024)] * 2 + [(2, 9e8)] * 2
    zswap = tmp_path / "zswap"
    assert (zswap / "zpool").read_text() == "zsmalloc\n"
    # Not for the case after it.
    assert (zswap / "enabled").read_text() == "N\n"


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_a_redis_that_dies_is_named(programs: dict[str, Path], tmp_path: Path) -> None:
    second = "[ ! -e old ] || echo failed >active; touch old"
    dies = f"cd {tmp_path}; {REDIS}\n{second}"
    status, stream = played(tmp_path, programs, **{"systemd-run": dies})
    text = said(stream)
    assert status == 1 and len(stream.samples) == 1
    assert "case 0, round 1, mode lull: redis-server has died" in text
    assert "the journal's last lines of lull-redis-2.service:" in text


@pytest.mark.skipif(NO_PSI, reason="no PSI here")
def test_a_share_that_is_not_reached_is_named(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    less = f"echo 50000000 >{tmp_path}/cgroups/lull-redis-1.service/memory.swap.current"
    status, stream = played(
        tmp_path, programs, **{"systemd-run": f"{less}; cd {tmp_path}; {REDIS}"}
    )
    assert status == 1 and not stream.samples
    assert "only 50000000 bytes are in swap, 40000000 are not" in said(stream)
    group = tmp_path / "cgroups/lull-redis-1.service"
    assert (group / "memory.reclaim").read_text() == "4000000\n"


def test_a_kernel_without_zram_is_named(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    status, stream = played(tmp_path, programs, modprobe="exit 1")
    assert status == 1 and "the kernel has no" in said(stream)


def test_the_script_is_posix() -> None:
    subprocess.run(["sh", "-n", ROOM / "scenario.sh"], check=True)
