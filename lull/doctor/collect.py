# SPDX-License-Identifier: GPL-2.0-only
"""Builds the collector, runs it here, and reads its folder."""

from __future__ import annotations

import io
import platform
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.doctor.bundle import MANIFEST
from lull.errors import CannotRun, LabError, TimedOut, UsageError
from lull.vm.compile import COMPILER, Recipe, compiled

#: No step of the collector has more, but for its last read.
DEADLINE_S = 20
_TIMEOUT_S = 600
#: What the collector's measurements may take at most, together.
_MEASURE_S = 600
#: A file is some 20 MiB at most, of 28,000 zombies and a long journal.
_FILE = 64 << 20

FLAGS = (
    "-O2",
    "-static",
    "-s",
    "-no-pie",
    "-fno-pie",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wl,--build-id=none",
)

#: What compiles for a machine that this one is not, as Debian names it.
_CROSS = {"x86_64": "x86_64-linux-gnu-gcc", "aarch64": "aarch64-linux-gnu-gcc"}


def collector_recipe(root: Path, machine: str = "") -> Recipe:
    """What the collector is compiled from: nothing of the probe of the workloads,
    under whose sources verdicts are remembered. ``machine`` is as uname -m has it,
    this one where it is empty. Raises CannotRun for one that nobody compiles for."""
    here = platform.machine()
    machine = machine or here
    if machine != here and machine not in _CROSS:
        raise CannotRun(
            f"there is no collector for {machine}",
            hint=f"for {' and '.join(_CROSS)} there is",
        )
    room = root / "probe" / "collect"
    return Recipe(
        name="lull-probe",
        room="probe/collect",
        flags=FLAGS,
        sources=tuple(sorted(f"probe/collect/{p.name}" for p in room.glob("*.c"))),
        headers=tuple(sorted(f"probe/collect/{p.name}" for p in room.glob("*.h"))),
        compiler=COMPILER if machine == here else _CROSS[machine],
    )


def build_collector(root: Path, machine: str = "") -> Path:
    """The collector of that source tree; raises as ``compiled`` does."""
    return compiled(root, collector_recipe(root, machine))


def load_folder(folder: Path) -> Mapping[str, bytes]:
    """Name -> contents of a folder, or of a tar. Raises UsageError."""
    try:
        if folder.is_dir():
            return {
                path.name: path.read_bytes()
                for path in sorted(folder.iterdir())
                if path.is_file() and path.stat().st_size <= _FILE
            }
        return unpack(folder.read_bytes())
    except OSError as error:
        raise UsageError(
            f"cannot be read: {error.strerror or error}",
            where=str(folder),
            hint="--from FOLDER, which lull-probe collect wrote",
        ) from error


def unpack(data: bytes) -> Mapping[str, bytes]:
    """Name -> contents of the collector's tar, in memory. Raises UsageError."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                if file is not None and member.size <= _FILE:
                    found[member.name] = file.read()
    except tarfile.TarError as error:
        raise UsageError(
            f"it is no tar of the collector: {error}",
            hint="name what lull-probe collect wrote",
        ) from error
    return found


def plan(root: Path, measures: Sequence[str]) -> str:
    """What these are going to do, as the collector says it: a line ``NAME: ...`` for
    each. Raises LabError where it does not say so of all: nobody could agree to it."""
    words = [str(build_collector(root)), "collect", *measured(measures), "--plan"]
    status, said, complaint = carry_out(words, "here")
    text = said.decode("utf-8", "backslashreplace")
    told = {line.partition(":")[0] for line in text.splitlines()}
    if status or not set(measures) <= told:
        raise LabError(f"the collector does not say what it would do: {complaint}")
    return text


def measured(measures: Sequence[str]) -> list[str]:
    """The collector's words for these, which were agreed to here, not there."""
    words = [word for name in measures for word in ("--measure", name)]
    return [*words, "--yes"] if words else []


def collect_here(
    root: Path, deadline_s: int = DEADLINE_S, measures: Sequence[str] = ()
) -> Mapping[str, bytes]:
    """Runs it on this machine, as whoever runs this; measures what was agreed to."""
    program = str(build_collector(root))
    words = ["collect", "--deadline", str(deadline_s), *measured(measures), "-"]
    done = carry_out([program, *words], "here", measures=bool(measures))
    return collected(*done, "here")


def carry_out(
    command: Sequence[str], where: str, given: bytes = b"", *, measures: bool = False
) -> tuple[int, bytes, str]:
    """Status, output, and what it said. Raises CannotRun without the program, and
    TimedOut."""
    limit = _TIMEOUT_S + (_MEASURE_S if measures else 0)
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, timeout=limit, check=False
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{command[0]} is not in PATH", where=where) from error
    except subprocess.TimeoutExpired as error:
        raise TimedOut(f"no answer in {limit} s", where=where) from error
    words = done.stderr.decode("utf-8", "backslashreplace").strip()
    return done.returncode, done.stdout, words


def collected(
    status: int, output: bytes, words: str, where: str
) -> Mapping[str, bytes]:
    """The folder that the collector wrote to its output. Raises LabError."""
    if status:
        raise LabError(f"the collector failed: {words}", where=where)
    found = unpack(output)
    if MANIFEST not in found:
        raise LabError("the collector ended without its manifest", where=where)
    return found
