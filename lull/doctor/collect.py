# SPDX-License-Identifier: GPL-2.0-only
"""Runs the collector, here or on another machine, and reads its folder."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.doctor.bundle import MANIFEST
from lull.errors import CannotRun, LabError, TimedOut, UsageError
from lull.vm.compile import Recipe, compiled

#: No step of the collector has more; two steps beyond their time are a lot.
DEADLINE_S = 20
_TIMEOUT_S = 300
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

_HOST = re.compile(r"^ssh://(?:([\w.-]+)@)?([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d+))?/?$")

#: What runs there: the program comes by standard input, and goes when it is done.
_REMOTE = (
    'd=$(mktemp -d) && trap \'rm -rf "$d"\' EXIT && cat > "$d/lull-probe" && '
    'chmod 700 "$d/lull-probe" && '
    'if [ "$(id -u)" != 0 ] && sudo -n true 2>/dev/null; then '
    'sudo -n "$d/lull-probe" collect -; else "$d/lull-probe" collect -; fi'
)


def collector_recipe(root: Path) -> Recipe:
    """What the collector is compiled from: nothing of the probe of the workloads,
    under whose sources verdicts are remembered."""
    room = root / "probe" / "collect"
    return Recipe(
        name="lull-probe",
        room="probe/collect",
        flags=FLAGS,
        sources=tuple(sorted(f"probe/collect/{p.name}" for p in room.glob("*.c"))),
        headers=tuple(sorted(f"probe/collect/{p.name}" for p in room.glob("*.h"))),
    )


def build_collector(root: Path) -> Path:
    """The collector of that source tree; raises as ``compiled`` does."""
    return compiled(root, collector_recipe(root))


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
        raise UsageError(f"it is no tar of the collector: {error}") from error
    return found


def collect_here(root: Path, deadline_s: int = DEADLINE_S) -> Mapping[str, bytes]:
    """Runs it on this machine, as whoever runs this."""
    program = build_collector(root)
    return _run([str(program), "collect", "--deadline", str(deadline_s), "-"], "here")


def ssh_command(host: str) -> list[str]:
    """The system's ssh for ``ssh://[USER@]HOST[:PORT]``. Raises UsageError. Pure."""
    match = _HOST.match(host)
    if match is None or match[2].startswith("-") or (match[1] or "").startswith("-"):
        raise UsageError(
            f"'{host}' is no machine that can be reached",
            hint="--on ssh://[USER@]HOST[:PORT]; for adb, copy the program by hand: "
            "lull doctor --collector FILE",
        )
    user, name, port = match.groups()
    words = [
        "ssh",
        "-T",
        *(("-p", port) if port else ()),
        *(("-l", user) if user else ()),
    ]
    return [*words, "--", name.strip("[]"), f"exec sh -c {shlex.quote(_REMOTE)}"]


def collect_there(root: Path, host: str) -> Mapping[str, bytes]:
    """Copies the collector to another machine, runs it, takes its folder, and
    removes it. With sudo where that asks for no password."""
    command = ssh_command(host)
    return _run(command, host, build_collector(root).read_bytes())


def _run(command: Sequence[str], where: str, given: bytes = b"") -> Mapping[str, bytes]:
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise CannotRun(f"{command[0]} is not in PATH", where=where) from error
    except subprocess.TimeoutExpired as error:
        raise TimedOut(f"no answer in {_TIMEOUT_S} s", where=where) from error
    words = done.stderr.decode("utf-8", "backslashreplace").strip()
    if done.returncode == 255 and command[0] == "ssh":
        raise CannotRun(f"cannot be reached: {words}", where=where)
    if done.returncode:
        raise LabError(f"the collector failed: {words}", where=where)
    found = unpack(done.stdout)
    if MANIFEST not in found:
        raise LabError("the collector ended without its manifest", where=where)
    return found
