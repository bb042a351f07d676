# SPDX-License-Identifier: GPL-2.0-only
"""Who gets QEMU's big lock when, with a program that has its threads (turns_host.c)."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from lull.errors import CannotRun, Late
from lull.host.files import repo_root
from lull.vm import turns

HERE = Path(__file__).parent
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread", "-rdynamic")
SHARED = ("-shared", "-fPIC")
CPUS = "ALL CPUs/TCG"  #: as QEMU names the thread
PATIENCE_MS = 100
LONG_S = 60  #: what hangs does so for longer


@dataclass(frozen=True)
class Seen:
    apart: int  #: how often the main thread had the lock beside who worked
    cpu_ms: float  #: what that one ran for until the first time
    host_ms: float


def build(source: Path, made: Path, *words: str) -> None:
    subprocess.run(["gcc", *FLAGS, *words, "-o", str(made), str(source)], check=True)


class Host:
    def __init__(self, room: Path) -> None:
        self._room = room
        self._program, self._slow = room / "host", room / "slow.so"
        build(HERE / "turns_host.c", self._program)
        build(HERE / "turns_slow.c", self._slow, *SHARED)

    @property
    def library(self) -> Path:
        return self._room / turns.NAME

    def make(self, *defines: str) -> None:
        """The library as it is with other limits."""
        build(repo_root() / "lull/vm/turns.c", self.library, *SHARED, *defines)

    def run(
        self,
        work: str,
        rounds: int,
        name: str = CPUS,
        *,
        load: bool = True,
        slow: bool = False,
    ) -> Seen:
        words = [str(self._program), name, work, str(rounds)]
        loaded = [str(self.library)] * load + [str(self._slow)] * slow
        done = subprocess.run(
            ["env", f"LD_PRELOAD={' '.join(loaded)}", *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=LONG_S,
        )
        assert done.stderr == ""
        apart, cpu_ms, host_ms = done.stdout.split()
        return Seen(int(apart), float(cpu_ms), float(host_ms))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


@pytest.fixture
def host(made: Host) -> Host:
    for path in made.library.parent.glob(f"{turns.NAME}*"):
        path.unlink()
    assert turns.put_turns(made.library.parent) == made.library
    return made


def test_the_main_thread_has_the_lock_while_the_cpus_wait_with_it(host: Host) -> None:
    assert host.run("rests", 500, load=False).apart > 0
    assert host.run("rests", 500).apart == 0
    turns.require_turns(host.library, Path())


def test_it_has_it_not_where_they_went_on_meanwhile(host: Host) -> None:
    assert host.run("rests", 20, slow=True).apart == 0


@pytest.mark.parametrize("work", ["never", "elsewhere", "pauses"])
def test_of_cpus_that_never_wait_with_it_it_is_let_in_where_they_ask(
    work: str, host: Host
) -> None:
    """A wait with another lock is not one in which all is counted."""
    assert host.run(work, 20, load=False).apart > 0
    seen = host.run(work, 20)
    assert (seen.apart, seen.cpu_ms >= PATIENCE_MS) == (0, True)


@pytest.mark.parametrize(
    ("work", "limits"),
    [
        ("rests", ("-DPATIENCE_MS=10000", "-DAT_MOST_S=60000000")),
        ("never", ("-DPATIENCE_MS=0", "-DAT_MOST_S=6000")),
    ],
)
def test_who_is_waited_for_wakes_who_waits(
    work: str, limits: tuple[str, ...], host: Host
) -> None:
    """And not the next look, which would come when this is over. A lost race for the
    lock is a look, too; where nobody comes by, ten are enough."""
    host.make("-DLOOK_MS=600000", *limits)
    assert host.run(work, 200).apart == 0


def test_patience_is_of_the_time_that_the_cpus_ran(host: Host) -> None:
    """On a busy host they run for less. Were they never to ask, it has an end."""
    host.make("-DAT_MOST_S=2")
    seen = host.run("sleeps", 1)
    assert (seen.host_ms >= 2000, seen.cpu_ms < PATIENCE_MS) == (True, True)
    with pytest.raises(Late, match="did not come by"):
        turns.require_turns(host.library, Path())


def test_another_program_has_its_lock_as_ever_and_is_no_qemu(host: Host) -> None:
    seen = host.run("never", 20, name="CPU 0/TCG")
    assert (seen.apart > 0, seen.cpu_ms < PATIENCE_MS) == (True, True)
    with pytest.raises(CannotRun, match="threads were not found"):
        turns.require_turns(host.library, Path())


def test_a_boot_without_it_needs_none() -> None:
    turns.require_turns(None, Path())
