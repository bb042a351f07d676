# SPDX-License-Identifier: GPL-2.0-only
"""What threads sleep in, and whom a thaw wakes there. Pure, over waits.toml."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from lull.doctor.bundle import number
from lull.doctor.read_tasks import Task

#: Frames of a stack that say what the wait is; further out is who called.
_DEEP = 7

_RELEASE = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, eq=False)
class Wait:
    """A kind of wait; ``calls`` are system calls by machine."""

    anywhere: bool
    name: str
    functions: tuple[str, ...]
    calls: dict[str, tuple[int, ...]]
    stock: str
    lull: str


@dataclass(frozen=True)
class Waiting:
    """How many threads sleep in it, and what a thaw does to each: rests, woken,
    refuses, or passed (by the kernels before 6.1)."""

    name: str
    count: int
    stock: str
    lull: str


@cache
def waits() -> tuple[Wait, ...]:
    """The kinds of wait of waits.toml, in its order."""
    text = Path(__file__).with_name("waits.toml").read_text("utf-8")
    return tuple(_wait(item) for item in tomllib.loads(text)["waits"])


def _wait(item: dict[str, Any]) -> Wait:
    return Wait(
        anywhere=item.get("anywhere", False),
        name=item["name"],
        functions=tuple(item["functions"]),
        calls={
            machine: tuple(item[machine])
            for machine in ("x86_64", "aarch64")
            if machine in item
        },
        stock=item["stock"],
        lull=item["lull"],
    )


def wait_of(task: Task, machine: str) -> Wait | None:
    """What the thread sleeps in; None where that is not known, or not of the list."""
    for wait in waits():
        if wait.anywhere and any(_is(wait, frame) for frame in task.frames):
            return wait
    for frame in task.frames[:_DEEP]:
        for wait in waits():
            if _is(wait, frame):
                return wait
    call = number(task.syscall.partition(":")[0], -1)
    for wait in waits():
        if call in wait.calls.get(machine, ()):
            return wait
    return None


def _is(wait: Wait, frame: str) -> bool:
    # Without what the compiler has added: pipe_read.isra.0.
    name = frame.partition(".")[0]
    return any(fnmatchcase(name, function) for function in wait.functions)


def release(version: str) -> tuple[int, int]:
    """ "6.12.117-amd64" -> (6, 12); (0, 0) for what is none."""
    match = _RELEASE.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def fate(wait: Wait, kernel: str) -> str:
    """What a thaw of that stock kernel does to who sleeps there."""
    if wait.stock != "rests" or release(kernel) >= (6, 7):
        return wait.stock
    return "woken" if release(kernel) >= (6, 1) else "passed"


def by_wait(
    tasks: Iterable[Task], machine: str, kernel: str
) -> tuple[tuple[Waiting, ...], int]:
    """Sleeping threads of user space by wait, the most first; and how many sleep in
    something that is not known here."""
    counts: Counter[Wait] = Counter()
    unknown = 0
    for task in tasks:
        if task.kthread or task.state not in "SD":
            continue
        wait = wait_of(task, machine)
        if wait is None:
            unknown += 1
        else:
            counts[wait] += 1
    found = tuple(
        Waiting(wait.name, count, fate(wait, kernel), wait.lull)
        for wait, count in counts.most_common()
    )
    return found, unknown
