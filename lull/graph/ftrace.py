# SPDX-License-Identifier: GPL-2.0-only
"""Reading a recording: bytes of ftrace's text to a Recording.

Takes what pm-graph writes (``*_ftrace.txt``, plain or .gz, with its comments
at the top and the bottom), ``trace-cmd report``, and the file ``trace`` of
tracefs, that of the tracer function_graph too. A recording of the project's own says more in comments:

    # lull-kernel: 6.12.117
    # lull-rules: links
    # lull-tree: lull-tree 1
    # lull-tree: device NAME async parent=NAME supplier=NAME

the kernel's version, the mode it ran in, and a description of the devices,
which has the links between them.
"""

from __future__ import annotations

import binascii
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from lull.errors import NoRecording
from lull.graph.cycles import Tally, build
from lull.graph.events import Event, Start, in_comment, parse, wanted
from lull.graph.recording import Caveat, Header, Recording
from lull.graph.unpack import unpack

RECORD = (
    "trace-cmd record -e power:suspend_resume"
    " -e power:device_pm_callback_start -e power:device_pm_callback_end"
)
_DEVINFO_LIMIT = 1 << 24

_STAMP = re.compile(r"# [\w-]+-\d{6}-\d{6} (\S+) (\S+) (\S+)\s*")
_ENTRIES = re.compile(r"entries-in-buffer/entries-written: (\d{1,15})/(\d{1,15})")
_CPUS = re.compile(r"#P:(\d{1,4})\b|\bnumcpu:(\d{1,4})\b")
_LOST = re.compile(rb"\[(?:LOST (\d{1,15}) EVENTS|EVENTS DROPPED)\]")
_TRACE_CMD_CPUS = re.compile(rb"cpus=(\d{1,4})\s*")


def read(data: bytes, where: str) -> Recording:
    """Read a recording as far as it goes; its caveats say what is missing.

    ``where`` names it in errors. Raises NoRecording where there is nothing in
    it to read: no phase of suspend or resume and no callback of a device.
    """
    text, packed = unpack(data)
    comments = _Comments()
    events: list[Event] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if wanted(line) and not line.startswith(b"#"):
            event = parse(number, line)
            if event is None:
                comments.bare |= in_comment(line)
                comments.tally.add("a line of these events cannot be read", number)
            else:
                events.append(event)
                if b"\\x" not in line and not _is_utf8(line):
                    comments.tally.add("a name is not UTF-8", number)
        elif line.startswith(b"#"):
            comments.take(number, line.decode("utf-8", "backslashreplace").rstrip())
        elif b"[" in line and (lost := _LOST.search(line)):
            # dropped: trace-cmd does not always know how many.
            comments.tally.add("events were lost", number, int(lost[1] or 1))
        elif line.startswith(b"cpus=") and (cpus := _TRACE_CMD_CPUS.fullmatch(line)):
            comments.cpus = int(cpus[1])
    cycles = build(events, comments.names(events))
    if not cycles:
        raise _nothing(text, events, comments.bare, where)
    return Recording(
        cycles,
        comments.header(),
        comments.asynchronous,
        "".join(f"{line}\n" for line in comments.description),
        (*packed, *comments.result()),
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _nothing(text: bytes, events: list[Event], bare: bool, where: str) -> NoRecording:
    hint = f"record with {RECORD}"
    if bare and not events:
        what = "a trace of function_graph without the times or the tasks of its events"
        hint = "set the options funcgraph-abstime and funcgraph-proc, or " + hint
    elif not text.strip():
        what = "the file is empty"
    elif events:
        what = "it ends before the first phase of the devices"
    elif b"devices complete after" in text:
        what = "this is the kernel's log, not a trace"
    else:
        what = "no line of it is an event of suspend or resume"
    return NoRecording(what, where=where, hint=hint)


@dataclass
class _Comments:
    """What is not an event: the lines with a # and what they say."""

    tally: Tally = field(default_factory=Tally)
    #: Events of function_graph were there that do not say when or who.
    bare: bool = False
    stamp: tuple[str, str, str] | None = None
    cpus: int | None = None
    kernel: str = ""
    rules: str = ""
    asynchronous: dict[str, bool] = field(default_factory=dict)
    description: list[str] = field(default_factory=list)

    def take(self, number: int, line: str) -> None:
        if line.startswith("# lull-"):
            key, _, value = line.removeprefix("# lull-").partition(": ")
            if key == "tree":
                self.description.append(value)
            elif key == "kernel":
                self.kernel = value.strip()
            elif key == "rules":
                self.rules = value.strip()
        elif line.startswith("# platform-devinfo:"):
            self._devinfo(number, line.partition(":")[2].strip())
        elif stamp := _STAMP.fullmatch(line):
            self.stamp = (stamp[1], stamp[2], stamp[3])
        elif entries := _ENTRIES.search(line):
            lost = int(entries[2]) - int(entries[1])
            if lost > 0:
                text = "events were overwritten before the trace was read"
                self.tally.add(text, number, lost)
        if cpus := _CPUS.search(line):
            self.cpus = int(cpus[1] or cpus[2])

    def _devinfo(self, number: int, value: str) -> None:
        """pm-graph's footer: base64 of zlib of ``name,other name,async;...``."""
        try:
            # Where the file is cut off, so is the last group of four.
            whole = value[: len(value) // 4 * 4]
            packed = binascii.a2b_base64(whole, strict_mode=True)
            unpacker = zlib.decompressobj()
            raw = unpacker.decompress(packed, _DEVINFO_LIMIT)
        except (ValueError, zlib.error):
            self.tally.add("the list of devices at the end is damaged", number)
            return
        if not unpacker.eof:
            self.tally.add("the list of devices at the end is cut off", number)
        for entry in raw.decode("utf-8", "backslashreplace").split(";"):
            # The other name is a product's: it may have commas in it.
            name, _, rest = entry.partition(",")
            flag = rest.rpartition(",")[2]
            if name and flag in ("0", "1"):
                self.asynchronous[name] = flag == "1"
            elif entry.strip():
                text = "an entry of the list of devices cannot be read"
                self.tally.add(text, number)

    def names(self, events: Iterable[Event]) -> set[str]:
        """All names of devices that stand alone somewhere."""
        parents = {e.parent for e in events if isinstance(e, Start) and e.parent}
        return parents | set(self.asynchronous)

    def header(self) -> Header:
        host, mode, kernel = self.stamp or ("", "", "")
        return Header(self.kernel or kernel, host, mode, self.cpus, self.rules)

    def result(self) -> tuple[Caveat, ...]:
        if not self.kernel and self.stamp is None:
            self.tally.add("no header: the version of the kernel is not recorded")
        return self.tally.result()
