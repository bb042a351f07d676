# SPDX-License-Identifier: GPL-2.0-only
"""Files in: the only part of the package that opens any."""

from __future__ import annotations

from pathlib import Path

from lull.errors import UsageError
from lull.graph.ftrace import read
from lull.graph.recording import Recording


def load(path: Path) -> Recording:
    """The recording in a file. Raises UsageError where it cannot be opened,
    NoRecording where there is nothing in it to read."""
    return read(contents(path), str(path))


def contents(path: Path) -> bytes:
    """All of a file. Raises UsageError where it cannot be opened."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{error.strerror or error}", where=str(path), hint="give a readable file"
        ) from error


def dmesg_beside(path: Path) -> Path | None:
    """The kernel's log that pm-graph puts beside a trace, if there is one."""
    if "ftrace" not in path.name:
        return None
    name = path.name.replace("ftrace", "dmesg")
    for candidate in (name, name.removesuffix(".gz"), name + ".gz"):
        if path.with_name(candidate).is_file():
            return path.with_name(candidate)
    return None
