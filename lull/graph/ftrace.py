# SPDX-License-Identifier: GPL-2.0-only
"""Reading a recording: bytes of ftrace's text to a Recording.

Takes what pm-graph writes (``*_ftrace.txt``, plain or .gz, with its comments
at the top and the bottom), ``trace-cmd report``, and the file ``trace`` of
tracefs, that of the tracer function_graph too. A recording of the project's own
says more in comments:

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
from lull.graph.cycles import Cycles
from lull.graph.events import NEEDLES, in_comment, parse, wanted
from lull.graph.lines import Lines
from lull.graph.one_cycle import MOST_DEVICES
from lull.graph.recording import Caveat, Header, Recording
from lull.graph.tally import Tally
from lull.graph.unpack import unpack

RECORD = (
    "trace-cmd record -e power:suspend_resume"
    " -e power:device_pm_callback_start -e power:device_pm_callback_end"
)
#: Bytes of the list of devices, and of a description: for some 10,000 of them.
_DEVINFO_LIMIT, _DESCRIPTION_LIMIT = 1 << 20, 1 << 22

_STAMP = re.compile(r"# [\w-]+-\d{6}-\d{6} (\S+) (\S+) (\S+)\s*")
_ENTRIES = re.compile(r"entries-in-buffer/entries-written: (\d{1,15})/(\d{1,15})")
_CPUS = re.compile(r"#P:(\d{1,4})\b|\bnumcpu:(\d{1,4})\b")
_LOST = re.compile(rb"\[(?:LOST (\d{1,15}) EVENTS|EVENTS DROPPED)\]")
_OF_A_LOG = b"devices complete after"
#: What the lines hold that are neither events nor comments.
_NOTES = (b"[LOST ", b"[EVENTS DROPPED]", b"cpus=", _OF_A_LOG)
_TRACE_CMD_CPUS = re.compile(rb"cpus=(\d{1,4})\s*")


def read(
    source: bytes | Iterable[bytes], where: str, number: int | None = None
) -> Recording:
    """Read a recording as far as it goes; its caveats say what is missing.

    ``source`` is the file, whole or in pieces, plain or gzip. No more of it is
    held than one piece and some cycles: cycle ``number``, or for None the last
    complete one, is among those that are kept whole.

    ``where`` names it in errors. Raises NoRecording where there is nothing in
    it to read: no phase of suspend or resume and no callback of a device.
    """
    pieces = [source] if isinstance(source, bytes) else source
    packed: list[Caveat] = []
    comments = _Comments()
    cycles = Cycles(number)
    lines = Lines((*NEEDLES, *_NOTES))
    events = 0
    for at, line in lines.of(unpack(pieces, packed)):
        if not wanted(line) or line.startswith(b"#"):
            comments.note(at, line)
            continue
        event = parse(at, line)
        if event is None:
            comments.bare |= in_comment(line)
            comments.tally.add("a line of these events cannot be read", at)
            continue
        events += 1
        if b"\\x" not in line and not _is_utf8(line):
            comments.tally.add("a name is not UTF-8", at)
        if not cycles.take(event):
            comments.tally.add("there are too many cycles: the rest is left out", at)
            break
    found = cycles.result(comments.asynchronous.keys())
    if not found:
        raise _nothing(lines.text, events, comments, where)
    for at in lines.too_long:
        comments.tally.add("a line is too long: left out", at)
    return Recording(
        found,
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


def _nothing(text: bool, events: int, comments: _Comments, where: str) -> NoRecording:
    hint = f"record with {RECORD}"
    if comments.bare and not events:
        what = "a trace of function_graph without the times or the tasks of its events"
        hint = "set the options funcgraph-abstime and funcgraph-proc, or " + hint
    elif not text:
        what = "the file is empty"
    elif events:
        what = "it ends before the first phase of the devices"
    elif comments.log:
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
    #: A line of the kernel's log was there.
    log: bool = False
    stamp: tuple[str, str, str] | None = None
    cpus: int | None = None
    kernel: str = ""
    rules: str = ""
    asynchronous: dict[str, bool] = field(default_factory=dict)
    description: list[str] = field(default_factory=list)
    described: int = 0

    def note(self, number: int, line: bytes) -> None:
        """A line that is no event."""
        if line.startswith(b"#"):
            self._comment(number, line.decode("utf-8", "backslashreplace").rstrip())
        elif lost := _LOST.search(line):
            # dropped: trace-cmd does not always know how many.
            self.tally.add("events were lost", number, int(lost[1] or 1))
        elif cpus := _TRACE_CMD_CPUS.fullmatch(line):
            self.cpus = int(cpus[1])
        self.log |= _OF_A_LOG in line

    def _comment(self, number: int, line: str) -> None:
        if line.startswith("# lull-"):
            key, _, value = line.removeprefix("# lull-").partition(": ")
            if key == "tree":
                self._describe(number, value)
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

    def _describe(self, number: int, line: str) -> None:
        self.described += len(line) + 1
        if self.described > _DESCRIPTION_LIMIT:
            self.tally.add("the description of the devices is cut off", number)
        else:
            self.description.append(line)

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
            if len(self.asynchronous) >= MOST_DEVICES:
                self.tally.add("the list of devices is too long: cut off", number)
                break
            if name and flag in ("0", "1"):
                self.asynchronous[name] = flag == "1"
            elif entry.strip():
                text = "an entry of the list of devices cannot be read"
                self.tally.add(text, number)

    def header(self) -> Header:
        host, mode, kernel = self.stamp or ("", "", "")
        return Header(self.kernel or kernel, host, mode, self.cpus, self.rules)

    def result(self) -> tuple[Caveat, ...]:
        if not self.kernel and self.stamp is None:
            self.tally.add("no header: the version of the kernel is not recorded")
        return self.tally.result()
