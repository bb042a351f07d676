# SPDX-License-Identifier: GPL-2.0-only
"""Files in: the only part of the package that opens any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lull.errors import NoRecording
from lull.graph.console import read as read_console
from lull.graph.dmesg import Totals
from lull.graph.dmesg import read as read_log
from lull.graph.ftrace import read
from lull.graph.recording import Recording
from lull.host.files import stream_input


def load(path: Path, number: int | None = None) -> Recording:
    """The recording in a file, with cycle ``number`` whole (None: the last that
    is complete). Raises UsageError where it cannot be read, NoRecording where
    there is nothing in it to read."""
    hint = "name a recording: ftrace text of pm-graph, trace-cmd or tracefs"
    return read(stream_input(path, hint), str(path), number)


def load_any(path: Path) -> Recording:
    """A recording, or a kernel's log with the callbacks in it. Raises as ``load``."""
    try:
        return load(path)
    except NoRecording as error:
        try:
            return read_console(stream_input(path, ""), str(path))
        except NoRecording as other:
            hint = f"{error.hint}; or {other.hint}"
            raise NoRecording(error.what, where=error.where, hint=hint) from other


def load_log(path: Path) -> Sequence[Totals]:
    """The totals in a kernel's log. Raises UsageError where it cannot be read."""
    return read_log(stream_input(path, "name the kernel's log: --dmesg FILE"))


def dmesg_beside(path: Path) -> Path | None:
    """The kernel's log that pm-graph puts beside a trace, if there is one."""
    if "ftrace" not in path.name:
        return None
    name = path.name.replace("ftrace", "dmesg")
    for candidate in (name, name.removesuffix(".gz"), name + ".gz"):
        if path.with_name(candidate).is_file():
            return path.with_name(candidate)
    return None
