# SPDX-License-Identifier: GPL-2.0-only
"""One line of a trace's text, as tracefs or trace-cmd print it.

The formats of the events are in include/trace/events/power.h of the kernel.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lull.trees.model import Phase

#: Longer than any line of these events; a longer one is damaged.
LONGEST = 1024
#: Longer than the kernel's names of tasks, which have 15 characters.
_LONGEST_TASK = 64

#: What pm-graph writes into the trace before it writes to /sys/power/state, and
#: when that has returned; read as a Mark of ``WRITE``.
_START_NOTE, _END_NOTE = "SUSPEND START", "RESUME COMPLETE"
#: No action of suspend_resume has a blank in it.
WRITE = "write to the state file"

_LINE = re.compile(
    r"\s*(?P<task>.*)-(?P<pid>\d{1,10})\s+"
    # The group of threads, where the option record-tgid is set.
    r"(?:\([\s\d-]{1,12}\)\s+)?"
    r"\[(?P<cpu>\d{1,5})\]\s+"
    # irqs-off and its friends: four columns, more on RT, none from trace-cmd.
    r"(?:[^\s:]{1,9}\s+)?"
    r"(?P<time>\d{1,12}\.\d{1,9}):\s+"
    r"(?P<event>suspend_resume|device_pm_callback_start|device_pm_callback_end"
    r"|tracing_mark_write|print):"
    r"\s*(?P<rest>.*)"
)
_NOTE = re.compile(rf"(?:tracing_mark_write: )?({_START_NOTE}|{_END_NOTE})\b.*")
#: The same in a trace of function_graph, which prints events as comments; the
#: options funcgraph-abstime and -proc give the first and the third column:
#:   88.269820 |   0)  sh-1852   |               |  /* suspend_resume: ... */
_COMMENT = re.compile(
    r"(?P<event>suspend_resume|device_pm_callback_start|device_pm_callback_end"
    r"|tracing_mark_write):"
    r"\s*(?P<rest>.*\S)\s*\*/"
)
_SECONDS = re.compile(r"\s*(\d{1,12}\.\d{1,9})\s*")
_WHO = re.compile(r"\s*(?:\d{1,5}\)\s*)?(\S.*)-(\d{1,10})\s*")
_MARK = re.compile(r"(?P<action>[^\s\[]+)\[-?\d{1,10}\] (?P<edge>begin|end)")
_START = re.compile(
    r"(?P<who>.*), parent: ?(?P<parent>.*), (?P<info>.*)\[(?P<verb>\w+)\]"
)
_END = re.compile(r"(?P<who>.*), err=(?P<err>-?\d{1,10})")

_DOWN = {"suspend", "freeze", "hibernate", "quiesce"}
_UP = {"resume", "thaw", "restore", "recover"}


@dataclass(frozen=True, slots=True)
class Mark:
    """suspend_resume: something begins or ends."""

    line: int
    time: float
    task: str
    pid: int
    action: str
    begin: bool


@dataclass(frozen=True, slots=True)
class Start:
    """device_pm_callback_start. ``who`` is driver and device, as printed."""

    line: int
    time: float
    task: str
    pid: int
    who: str
    parent: str | None
    info: str
    down: bool


@dataclass(frozen=True, slots=True)
class End:
    """device_pm_callback_end."""

    line: int
    time: float
    task: str
    pid: int
    who: str
    err: int


Event = Mark | Start | End


#: What a line of one of the three events holds, or one of pm-graph's.
NEEDLES = (
    b"device_pm_callback_",
    b"suspend_resume:",
    _START_NOTE.encode(),
    _END_NOTE.encode(),
)


def wanted(line: bytes) -> bool:
    """Whether it may be a line of the three events: a test that is cheap."""
    return any(needle in line for needle in NEEDLES)


def in_comment(line: bytes) -> bool:
    """Whether an event is printed as function_graph does."""
    return b"/* device_pm_callback_" in line or b"/* suspend_resume:" in line


def parse(number: int, line: bytes) -> Event | None:
    """Line ``number`` of a trace, or None where it is not one of the events."""
    if len(line) > LONGEST:
        return None
    text = line.decode("utf-8", "backslashreplace").rstrip()
    found = _LINE.fullmatch(text)
    if found is not None:
        task, pid, time = found["task"], int(found["pid"]), float(found["time"])
    else:
        head, _, comment = text.partition("/* ")
        note = _NOTE.fullmatch(comment)
        found = _COMMENT.fullmatch(
            "tracing_mark_write: " + comment if note else comment
        )
        columns = head.split("|")
        seconds = _SECONDS.fullmatch(columns[0])
        who = _WHO.fullmatch(columns[1]) if len(columns) > 1 else None
        if not (found and seconds and who):
            return None
        task, pid, time = who[1], int(who[2]), float(seconds[1])
    if len(task) > _LONGEST_TASK:
        return None
    rest = found["rest"]
    if found["event"] in ("tracing_mark_write", "print"):
        note = _NOTE.fullmatch(rest)
        return note and Mark(number, time, task, pid, WRITE, note[1] == _START_NOTE)
    if found["event"] == "suspend_resume":
        mark = _MARK.fullmatch(rest)
        if mark is None:
            return None
        return Mark(number, time, task, pid, mark["action"], mark["edge"] == "begin")
    if found["event"] == "device_pm_callback_end":
        end = _END.fullmatch(rest)
        if end is None:
            return None
        return End(number, time, task, pid, end["who"].strip(), int(end["err"]))
    start = _START.fullmatch(rest)
    if start is None or start["verb"] not in _DOWN | _UP:
        return None
    parent = start["parent"]
    return Start(
        number,
        time,
        task,
        pid,
        start["who"].strip(),
        None if parent in ("none", "") else parent,
        start["info"].strip(),
        start["verb"] in _DOWN,
    )


def phase_of(start: Start, inside: Phase | None) -> Phase | None:
    """The phase of a callback; None for ->prepare() and ->complete().

    ``inside`` is the phase that is going on, None where it is dpm_prepare or
    dpm_complete, or not recorded: then what the event says has to do. Its
    info has the word "noirq", "late" or "early" before the bus, class or
    driver, and nothing at all for ->prepare() and ->complete().
    """
    word = start.info.partition(" ")[0]
    if start.down:
        named = {"noirq": Phase.SUSPEND_NOIRQ, "late": Phase.SUSPEND_LATE}
        plain = Phase.SUSPEND
    else:
        named = {"noirq": Phase.RESUME_NOIRQ, "early": Phase.RESUME_EARLY}
        plain = Phase.RESUME
    if word in named:
        return named[word]
    if word in ("preparing", "completing"):
        return None
    return plain if word or inside is plain else None
