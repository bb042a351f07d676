# SPDX-License-Identifier: GPL-2.0-only
"""Sleepers of the probe sleep where they say, and who is disturbed is counted."""

import ctypes
import errno
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lull.host.files import repo_root
from lull.vm.probe_build import FLAGS

IO_URING_SETUP = 425  #: on all architectures

FIVE = ("epoll", "poll", "pipe", "futex", "nanosleep")
MORE = (
    *("epoll_et", "select", "pipe_write", "tcp", "tcp_accept", "udp", "unix_dgram"),
    *("unix_stream", "unix_accept", "io_uring", "signalfd", "eventfd", "sigtimedwait"),
)

Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a workload of asleep.c once: what it found, or the problem."""
    program = tmp_path_factory.mktemp("asleep") / "probe"
    sources = sorted((repo_root() / "probe").glob("*.c"))
    own = (Path(__file__).parent / "asleep.c", "features/thaw/pids.c")
    command: list[str | Path] = ["gcc", *FLAGS, "-Wl,--wrap=geteuid", "-o", program]
    subprocess.run([*command, *sources, *own], cwd=repo_root(), check=True)

    def once(workload: str, **params: str | int) -> dict[str, Any]:
        said = "".join(f"param {name} {value}\n" for name, value in params.items())
        done = subprocess.run(
            [program, "--job", "-"],
            input=f"lull-job 1\ncase 0 trial {workload}\n{said}order stock\nend\n",
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for line in lines:
            if line["t"] == "error":
                return dict(line)
        (sample,) = [line for line in lines if line["t"] == "sample"]
        return dict(sample["metrics"])

    return once


def needs(wait: str) -> None:
    """Skip where a sysctl, or a container's rules, refuse io_uring."""
    if wait != "io_uring":
        return
    # No entries are no ring: who gets as far as EINVAL may have one.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(IO_URING_SETUP, 0, None)
    if ctypes.get_errno() not in (errno.EINVAL, errno.EFAULT):
        pytest.skip(f"io_uring: {os.strerror(ctypes.get_errno())}")


def needs_real_time() -> None:
    """Skip where no class of real time is to be had, or not CPU 0."""
    if 0 not in os.sched_getaffinity(0):
        pytest.skip("CPU 0 is not ours")
    child = os.fork()
    if not child:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        pytest.skip("a real-time class needs CAP_SYS_NICE")


@pytest.mark.parametrize("wait", FIVE + MORE)
def test_each_is_in_the_call_that_it_names(run: Run, wait: str) -> None:
    needs(wait)
    assert run("asleep", mix=f"{wait}:1") == {"found": 3, wait: 3, "eintr": 0}


@pytest.mark.parametrize("wait", ["epoll", "epoll_et", "io_uring", "sigtimedwait"])
def test_calls_that_end_with_eintr_are_counted(run: Run, wait: str) -> None:
    """Linux lets these end when the process is stopped and goes on."""
    needs(wait)
    found = run("asleep", mix=f"{wait}:1", signal=int(signal.SIGSTOP), eintr=3)
    assert found["eintr"] == 3


@pytest.mark.parametrize("wait", ["poll", "select", "pipe", "tcp", "signalfd"])
def test_calls_that_the_kernel_restarts_are_not(run: Run, wait: str) -> None:
    found = run("asleep", mix=f"{wait}:1", signal=int(signal.SIGSTOP))
    assert found == {"found": 3, wait: 3, "eintr": 0}


def test_who_comes_back_is_a_problem(run: Run) -> None:
    found = run("asleep", mix="signalfd:1", signal=int(signal.SIGUSR1), back=1)
    assert "a sleeper in signalfd did not stay there" in found["what"]


def test_a_mix_is_dealt_out_by_weight(run: Run) -> None:
    found = run("asleep", mix="epoll:3,futex:1,poll:0", sleepers=8)
    assert found == {"found": 8, "epoll": 6, "futex": 2, "eintr": 0}


@pytest.mark.parametrize("name", ["phone", "desktop", "containers"])
def test_a_named_mix_is_there_in_whole(run: Run, name: str) -> None:
    needs("io_uring")
    found = run("asleep", mix=name, sleepers=200)
    assert found.pop("eintr") == 0
    assert found.pop("found") == 200
    assert set(found) <= {*FIVE, *MORE}
    assert {"epoll", "futex"} < set(found)
    assert sum(found.values()) == 200
    assert all(number % 2 == 0 for number in found.values())


@pytest.mark.parametrize(
    ("mix", "what"),
    [
        ("epol:1", "unknown call 'epol'"),
        ("epoll", "not NAME:WEIGHT"),
        ("epoll:-1", "not NAME:WEIGHT"),
        ("epoll:0", "adds up to nothing"),
    ],
)
def test_a_mix_that_is_none_is_refused(run: Run, mix: str, what: str) -> None:
    assert what in run("asleep", mix=mix)["what"]


def test_freeze_knows_the_first_five_alone(run: Run) -> None:
    found = run("asleep", mix="tcp:1", known=5)
    assert "unknown call 'tcp'" in found["what"]
    assert found["hint"] == f"known are {', '.join(FIVE)}"


@pytest.mark.parametrize(
    ("a", "b", "sizes", "differ"),
    [
        ("-", "-", (0, 0), 0),
        ("7", "-", (1, 0), 1),
        ("3,1,2,1", "2,3,1", (3, 3), 0),
        ("1,2,3", "3,4,5,6", (3, 4), 5),
        ("9,5", "1,2", (2, 2), 4),
    ],
)
def test_sets_differ_in_what_one_alone_has(
    run: Run, a: str, b: str, sizes: tuple[int, int], differ: int
) -> None:
    found = run("sets", a=a, b=b)
    assert found == {"a": sizes[0], "b": sizes[1], "differ": differ}


@pytest.mark.parametrize("wait", ["epoll", "poll", "pipe", "dgram", "stream"])
def test_a_byte_goes_to_and_fro(probe: Path, wait: str) -> None:
    """The workload itself fails where somebody has the byte without a sleep."""
    needs_real_time()
    job = (
        f"lull-job 1\ncase 0 thaw pingpong\nparam wait {wait}\nparam turns 500\n"
        "order stock stock\nend\n"
    )
    done = subprocess.run(
        [probe, "--job", "-"], input=job, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    samples = [
        line["metrics"]
        for line in map(json.loads, done.stdout.splitlines())
        if line["t"] == "sample"
    ]
    assert [sample["turns"] for sample in samples] == [500, 500]
    assert all(sample["ns"] > 0 for sample in samples)
