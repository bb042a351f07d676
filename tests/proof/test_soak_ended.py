# SPDX-License-Identifier: GPL-2.0-only
"""A soak that somebody ends in the middle of its tries, with a stand-in of QEMU."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.proof.faults import Result
from lull.proof.ledger import Ledger
from tests.waiting import alive, until

#: Tries that come back before the others boot: of the first nothing is heard, one
#: passes and one fails.
BACK = (Result.NONE, Result.PASS, Result.FAIL)

#: How many are tried at once.
PLACES = 2

#: ``lull soak`` of one trial. No kernel is built, and of a machine that stands by there
#: is the folder alone; boots are those of any guest, but of a program that stays. The
#: signal comes from outside when all boot, in the code of the last try when the others
#: boot, or when the last of those that come back is to be counted.
COMMAND = """
import asyncio, os, signal, sys
from contextlib import contextmanager
from pathlib import Path

from lull import cli
from lull.kernels.cache import Cache
from lull.model import Clock
from lull.proof import cli as commands
from lull.proof import soak
from lull.proof.attempt import Attempt
from lull.proof.trial import Trial
from lull.vm import machine
from lull.vm.command import MachineSpec

place, when, number, places, *back = sys.argv[1:]
place = Path(place)
booting = 0
TRIAL = Trial(
    name="a", feature="f", text="", cases=[{"run": "w", "modes": "lull"}],
    checks={"A": 1},
)

@contextmanager
def standing_by(kernel, say):
    with Cache().temp("resumed") as own:
        yield own

async def attempt(trial, size, seed, kernel, folder, standby):
    global booting
    (folder / "console.log").write_text("said")
    await asyncio.sleep(0)
    if back:
        result = back.pop(0)
        return Attempt(result=result, how="so", tries=1, seed=seed, seconds=1.0)
    booting += 1
    if when == "trying" and booting == int(places):
        while len(list(place.glob("pids/*"))) < 2 * (booting - 1):
            await asyncio.sleep(0.02)
        os.kill(os.getpid(), int(number))
    spec = MachineSpec(Path("none"), Clock.INSN)
    # Until it is started asyncio has it, and ends it without what is beside it.
    told = machine.Listener(started=lambda pid: (place / f"pids/{pid}").touch())
    await machine.run(spec, probe=b"", job="", folder=folder / "boot", listener=told)

def entry(*words):
    if when == "counting" and not back:
        os.kill(os.getpid(), int(number))
    return soak_entry(*words)

os.cpu_count = lambda: int(places)
machine.require_memory = lambda mb: None
commands.build = lambda *words: None
commands.standing_by = standing_by
commands._soakable_on = lambda base, features: (TRIAL,)
soak.parts_of = lambda *words: {}
soak_entry, soak.entry = soak.entry, entry
soak.attempt = attempt
sys.argv = ["lull", "soak"]
cli.main()
"""

#: With a process beside it, which does not end with it. Both are there when both the
#: lab and this have said so.
QEMU = """#!/bin/sh
(trap '' TERM; exec sleep 600) &
: >"$PIDS/$$.too"
wait
"""


def running(session: int) -> list[int]:
    """Who of a session is alive, by number."""
    return [pid for pid in _processes() if _session(pid) == session and alive(pid)]


def _processes() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").glob("[0-9]*"))


def _session(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[3])


@contextmanager
def soaking(
    place: Path, when: str, how: signal.Signals
) -> Iterator[subprocess.Popen[bytes]]:
    """A soak, in a session of its own, that is gone in the end with all that it has
    started."""
    for name in ("bin", "pids", "tmp"):
        (place / name).mkdir()
    qemu = place / "bin/qemu-system-x86_64"
    qemu.write_text(QEMU)
    qemu.chmod(0o755)
    words = (place, when, how.value, PLACES, *BACK)
    with (place / "said").open("wb") as said:
        lab = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *map(str, words)],
            cwd=repo_root(),
            env={
                **os.environ,
                "PATH": f"{qemu.parent}:{os.environ['PATH']}",
                "PIDS": str(place / "pids"),
                "TMPDIR": str(place / "tmp"),
                "XDG_CACHE_HOME": str(place / "cache"),
            },
            stdout=said,
            stderr=said,
            start_new_session=True,
            # What a shell has put into the background ignores it, and so would this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    try:
        yield lab
    finally:
        for pid in running(lab.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        lab.wait()


@pytest.mark.seconds(4)
@pytest.mark.parametrize("when", ["booting", "trying", "counting"])
@pytest.mark.parametrize(
    ("how", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_who_is_ended_leaves_nothing_but_what_had_come_back(
    tmp_path: Path, when: str, how: signal.Signals, status: int
) -> None:
    rooms = (tmp_path / "cache/lull/tmp", tmp_path / "tmp")
    with soaking(tmp_path, when, how) as lab:
        if when == "booting":
            pids = tmp_path / "pids"
            until("they boot", lambda: len(list(pids.iterdir())) == 2 * PLACES)
            # Where it is looked in the end there is something now.
            assert all(any(room.iterdir()) for room in rooms)
            assert len(running(lab.pid)) == 1 + 2 * PLACES
            lab.send_signal(how)
        assert lab.wait(60) == status, (tmp_path / "said").read_text()
        until("all that it has started ends", lambda: not running(lab.pid))
    assert [list(room.iterdir()) for room in rooms] == [[], []]
    counted = Ledger(tmp_path / "cache/lull/proofs/ledger.jsonl").lines()
    assert sorted(line.result for line in counted) == sorted(BACK)
    said = (tmp_path / "said").read_text()
    assert "Traceback" not in said
    # What has failed is said, and kept, as if the soak had come to its end.
    (failed,) = (line for line in counted if line.result is Result.FAIL)
    assert f"FAILED: f: a, seed {failed.seed}: so" in said
    (kept,) = (tmp_path / "cache/lull/failed").iterdir()
    assert (kept / "console.log").read_text() == "said"
