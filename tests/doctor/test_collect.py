# SPDX-License-Identifier: GPL-2.0-only
"""The collector run for real, on this machine, with problems planted for real."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lull.doctor.bundle import Bundle, read_bundle
from lull.doctor.collect import build_collector, collect_here, load_folder, unpack
from lull.doctor.findings import judge
from lull.doctor.model import Finding, Grade
from lull.host.files import repo_root
from lull.vm.timeouts import host_factor
from tests.doctor import fuse
from tests.waiting import ended, until

ROOT = repo_root()
LIBC = ctypes.CDLL(None, use_errno=True)
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

#: What a collector could have changed, and must not have.
KNOBS = ("/sys/power", "/sys/module/zswap/parameters", "/sys/kernel/rcu_expedited")


@pytest.fixture(scope="module")
def collector() -> Path:
    return build_collector(ROOT)


def collect(collector: Path, folder: Path, *words: str) -> Bundle:
    subprocess.run([collector, "collect", *words, folder], check=True, timeout=120)
    return read_bundle(load_folder(folder))


def about(pid: int, bundle: Bundle) -> Finding:
    """The finding that names this process. Which finding comes first is tried in
    test_findings.py: here other tests, and the machine itself, plant theirs."""
    found = [x for x in judge(bundle).findings if f"({pid})" in x.title]
    assert len(found) == 1, [x.title for x in judge(bundle).findings]
    return found[0]


def pgrep(relation: str, pid: int) -> list[int]:
    """The children (-P) of a process, or all of its session (-s)."""
    done = subprocess.run(
        ["pgrep", relation, str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in done.stdout.split()]


@contextmanager
def other_side(fifo: Path) -> Iterator[None]:
    """Of a FIFO that somebody has opened to read: who reads then waits for more."""
    writers: list[int] = []

    def opened() -> bool:
        with suppress(OSError):
            writers.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        return bool(writers)

    until("somebody reads the FIFO", opened)
    try:
        yield
    finally:
        os.close(writers[0])


def names(bundle: Bundle) -> dict[str, str]:
    return {step.name: step.outcome for step in bundle.manifest.steps}


def knobs() -> dict[str, bytes]:
    found = {}
    for knob in KNOBS:
        place = Path(knob)
        for path in [place, *place.rglob("*")] if place.is_dir() else [place]:
            # Reading wakeup_count waits; what cannot be read cannot be compared.
            if path.is_file() and path.name != "wakeup_count":
                try:
                    found[str(path)] = path.read_bytes()
                except OSError:
                    continue
    return found


def test_all_of_this_machine(collector: Path, tmp_path: Path) -> None:
    before = knobs()
    bundle = collect(collector, tmp_path / "c")
    assert knobs() == before and before
    outcomes = names(bundle)
    assert outcomes["system"] == outcomes["forks"] == "ok"
    assert bundle.manifest.kernel == os.uname().release
    assert bundle.manifest.left == 0
    report = judge(bundle)
    assert report.facts.threads >= 2 and report.facts.forks_s is not None
    assert report.root == (os.geteuid() == 0)
    # Nobody else may read what it wrote.
    files = list((tmp_path / "c").iterdir())
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)


def test_it_leaves_no_process(collector: Path, tmp_path: Path) -> None:
    child = subprocess.Popen(
        [collector, "collect", tmp_path / "c"], start_new_session=True
    )
    assert child.pid in pgrep("-s", child.pid)
    assert child.wait(timeout=120) == 0
    assert not pgrep("-s", child.pid)


def test_a_tar_has_the_same_files(collector: Path, tmp_path: Path) -> None:
    bundle = collect(collector, tmp_path / "c")
    done = subprocess.run([collector, "collect", "-"], capture_output=True, check=True)
    tar = unpack(done.stdout)
    assert set(tar) - {"manifest"} == set(bundle.files)
    assert names(read_bundle(tar)) == names(bundle)


@root_only
def test_nobody_sees_less_and_says_so(collector: Path) -> None:
    program = collector.read_bytes()
    words = ["runuser", "-u", "nobody", "--", "sh", "-c"]
    script = (
        "d=$(mktemp -d) && cat > $d/p && chmod 700 $d/p && $d/p collect -; rm -r $d"
    )
    done = subprocess.run([*words, script], input=program, capture_output=True)
    bundle = read_bundle(unpack(done.stdout))
    assert bundle.manifest.uid != 0
    assert names(bundle)["tasks"] == "part"
    report = judge(bundle)
    assert not report.root and report.facts.threads >= 2
    said = [text for text in report.unseen if text.startswith("tasks: /proc/")]
    assert any(" more could not be read (E" in text for text in said)
    assert any("not root" in text for text in report.unseen)


def test_a_folder_that_has_something_is_refused(
    collector: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("x")
    for words in ([tmp_path], [], [tmp_path, "x"], ["--deadline", "0", "-"]):
        done = subprocess.run([collector, "collect", *words], capture_output=True)
        assert done.returncode == 2 and done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.seconds(6)
def test_a_file_that_never_answers_hangs_nothing(
    collector: Path, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    power = root / "sys/power"
    power.mkdir(parents=True)
    os.mkfifo(power / "mem_sleep")
    (power / "pm_async").write_text("1\n")
    (root / "proc/7/task/7").mkdir(parents=True)
    # All at once, and then each alone.
    os.mkfifo(root / "proc/7/stat")
    os.mkfifo(root / "proc/7/task/7/stat")
    seen = root / "proc/8/task/8"
    seen.mkdir(parents=True)
    (seen / "stat").write_text(Path("/proc/self/stat").read_text())
    begin = time.monotonic()
    bundle = collect(collector, tmp_path / "c", "--root", str(root))
    assert time.monotonic() - begin < 15 * host_factor()
    hung = [gap.path for gap in bundle.manifest.gaps if gap.kind == "hung"]
    assert "/sys/power/mem_sleep" in hung and "/proc/7/task/7/stat" in hung
    report = judge(bundle)
    # What comes after it is seen all the same.
    assert report.facts.threads == 1
    assert report.facts.power.pm_async is True
    assert any("mem_sleep did not answer in 3000 ms" in x for x in report.unseen)
    assert bundle.manifest.left == 0


@pytest.mark.seconds(6)
def test_who_is_not_let_run_has_not_hung(collector: Path, tmp_path: Path) -> None:
    """A reader that is stopped longer than the limit, or starved, has its answer."""
    root = tmp_path / "root"
    (root / "sys/power").mkdir(parents=True)
    state = root / "sys/power/mem_sleep"
    os.mkfifo(state)
    for n in range(5):
        out = tmp_path / str(n)
        begin = time.monotonic()
        child = subprocess.Popen([collector, "collect", "--root", root, out])
        try:
            with other_side(state):
                readers = pgrep("-P", child.pid)
                with suppress(ProcessLookupError):
                    for reader in readers:
                        os.kill(reader, signal.SIGSTOP)
                in_time = len(readers) == 1 and time.monotonic() - begin < 2.5
                time.sleep(4)
                # Who was given up reads no more.
                with suppress(OSError):
                    pipe = os.open(state, os.O_WRONLY | os.O_NONBLOCK)
                    os.write(pipe, b"s2idle [deep]\n")
                    os.close(pipe)
            # It goes on when all is there that it waits for, up to the end.
            with suppress(ProcessLookupError):
                for reader in readers:
                    os.kill(reader, signal.SIGCONT)
            assert child.wait() == 0
        finally:
            child.kill()
            child.wait()
        if in_time:
            break
    else:
        pytest.skip("so busy that no reader was stopped within its 3 s")
    bundle = read_bundle(load_folder(out))
    assert not [gap.path for gap in bundle.manifest.gaps if gap.kind == "hung"]
    assert judge(bundle).facts.power.mem_sleep == "deep"


def test_a_step_has_an_end_however_many_hang(collector: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    for pid in range(100, 120):
        (root / f"proc/{pid}/task/{pid}").mkdir(parents=True)
        os.mkfifo(root / f"proc/{pid}/task/{pid}/stat")
    os.mkfifo(root / "proc/100/stat")
    words = ("--root", str(root), "--deadline", "4")
    begin = time.monotonic()
    bundle = collect(collector, tmp_path / "c", *words)
    assert time.monotonic() - begin < 10 * host_factor()
    assert names(bundle)["tasks"] == "late" and "swap" in names(bundle)
    assert any("tasks: not all of it" in x for x in judge(bundle).unseen)


@contextmanager
def program(code: str, name: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A Python program of that name, which has said a line when it is there."""
    rename = f"open('/proc/self/comm', 'w').write({name!r})\n"
    child = subprocess.Popen(
        [sys.executable, "-c", rename + code, *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None and child.stdout.readline()
        yield child
    finally:
        # Told to end, it reaps its children; left to init they may stay long.
        child.terminate()
        child.wait()


ZOMBIES = """
import os, signal, time
def end(*_):
    for _ in range(60):
        os.wait()
    os._exit(0)
signal.signal(signal.SIGTERM, end)
pids = []
for _ in range(60):
    pids.append(os.fork())
    if not pids[-1]:
        os._exit(0)
for pid in pids:
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print("there", flush=True)
time.sleep(60)
"""


def test_sixty_zombies_are_found_by_name(collector: Path, tmp_path: Path) -> None:
    with program(ZOMBIES, "leaves-zombies") as parent:
        found = about(parent.pid, collect(collector, tmp_path / "c"))
    assert found.title.startswith(f"60 zombies of leaves-zombies ({parent.pid})")
    assert found.grade is Grade.WRONG


SLEEP = "import time\nprint('there', flush=True)\ntime.sleep(60)\n"
TRACER = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
pid = int(sys.argv[1])
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
assert libc.ptrace(16, pid, None, None) == 0  # PTRACE_ATTACH
os.waitpid(pid, 0)
print("there", flush=True)
time.sleep(60)
"""


@root_only
def test_a_traced_and_stopped_process_is_found_by_name(
    collector: Path, tmp_path: Path
) -> None:
    with (
        program(SLEEP, "victim") as victim,
        program(TRACER, "tracer", str(victim.pid)) as tracer,
    ):
        found = about(victim.pid, collect(collector, tmp_path / "c"))
    assert found.title == (
        f"victim ({victim.pid}) is stopped by tracer ({tracer.pid}), which traces it"
    )


def beside_fuse(how: str, place: Path, *words: str | Path) -> None:
    """The mount is in a namespace of its own, and goes with it."""
    place.mkdir()
    command = ["unshare", "--mount", "--propagation", "private", sys.executable]
    done = subprocess.run(
        [*command, "-m", "tests.doctor.fuse", how, place, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120 * host_factor(),
    )
    if done.returncode == fuse.CANNOT:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


@root_only
def test_a_stopped_fuse_daemon_is_found_by_name(
    collector: Path, tmp_path: Path
) -> None:
    place = tmp_path / "mnt"
    beside_fuse("stop", place, collector, "collect", tmp_path / "c")
    findings = judge(read_bundle(load_folder(tmp_path / "c"))).findings
    (found,) = [x for x in findings if str(place) in x.title]
    assert found.grade is Grade.FAILS and found.cost_ms
    assert f"{place} (fuse.stopfs): its daemon stopfs (" in found.title
    # A collector of another test may wait at the same time.
    assert re.search(r"\) is stopped, and (.*, )?stuck-reader \(", found.title)


@root_only
@pytest.mark.seconds(15)
def test_readers_that_cannot_be_killed_are_left_and_said_so(
    collector: Path, tmp_path: Path
) -> None:
    """All that it is to read is on a file system whose daemon never answers."""
    place = tmp_path / "mnt"
    words = ("--root", place, "--deadline", "1", tmp_path / "c")
    begin = time.monotonic()
    beside_fuse("swallow", place, collector, "collect", *words)
    assert time.monotonic() - begin < 40 * host_factor()
    bundle = read_bundle(load_folder(tmp_path / "c"))
    assert bundle.manifest.left >= 1
    said = judge(bundle).unseen
    assert any("sleep where no signal reaches them" in text for text in said)


def test_here_is_the_same(collector: Path) -> None:
    bundle = read_bundle(collect_here(ROOT, deadline_s=10))
    assert names(bundle)["system"] == "ok"


def test_a_second_signal_is_no_surprise(collector: Path, tmp_path: Path) -> None:
    """Killed in the middle, it leaves no child behind."""
    root = tmp_path / "root"
    (root / "sys/power").mkdir(parents=True)
    state = root / "sys/power/state"
    os.mkfifo(state)
    child = subprocess.Popen(
        [collector, "collect", "--deadline", "300", "--root", root, tmp_path / "c"],
        start_new_session=True,
    )
    try:
        with other_side(state):
            # What it waits for is not given up meanwhile.
            child.send_signal(signal.SIGSTOP)
            (inside,) = pgrep("-P", child.pid)
            child.send_signal(signal.SIGKILL)
            child.wait()
            ended(inside)
    finally:
        child.kill()
        child.wait()
