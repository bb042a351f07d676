# SPDX-License-Identifier: GPL-2.0-only
"""The step ``tasks``: threads, who they are, and what they wait in. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lull.doctor.bundle import number

_KTHREAD = 0x00200000  # PF_KTHREAD of include/linux/sched.h
_FIELDS = 14
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")

#: How container runtimes and systemd name the cgroup of what they start.
_CONTAINERS = (
    re.compile(r"(docker|libpod|cri-containerd|crio)-([0-9a-f]{12})[0-9a-f]*\.scope"),
    re.compile(r"/(docker|podman|garden|buildkit)/([0-9a-zA-Z]{8,12})"),
    re.compile(r"/(lxc\.payload\.|lxc/)([^/]+)"),
    re.compile(r"/kubepods[^/]*/.*?(pod)([0-9a-f]{8})"),
    re.compile(r"/(machine-)([^/]+)\.scope"),
)


@dataclass(frozen=True)
class Task:
    """A thread. ``swap_kb`` and ``rss_kb`` are the process's, of its leader alone;
    None where it was not to be seen. ``wchan`` and ``syscall`` are empty then."""

    tgid: int
    tid: int
    ppid: int
    state: str
    threads: int
    flags: int
    uid: int | None
    tracer: int
    swap_kb: int | None
    rss_kb: int | None
    wchan: str
    syscall: str
    comm: str
    cgroup: str = ""
    stack: tuple[str, ...] = ()
    fds: tuple[tuple[int, str], ...] = ()
    cwd: str = ""

    @property
    def kthread(self) -> bool:
        """Whether it is the kernel's."""
        return bool(self.flags & _KTHREAD)

    @property
    def zombie(self) -> bool:
        """Dead, all of its threads too, and not waited for."""
        return self.state == "Z" and self.tid == self.tgid and self.threads <= 1

    @property
    def frames(self) -> tuple[str, ...]:
        """The functions it sleeps in, the innermost first, as far as known."""
        return self.stack or ((self.wchan,) if self.wchan else ())

    @property
    def name(self) -> str:
        """As a finding names it."""
        return f"{self.comm} ({self.tid})"


@dataclass(frozen=True)
class Zombies:
    """What one parent has not waited for; ``container`` may be empty."""

    parent: str
    pid: int
    container: str
    count: int


def read_tasks(text: str, without: int = 0) -> tuple[Task, ...]:
    """All that was there but the collector, ``without``, and its children."""
    found: list[Task] = []
    stack: list[str] = []
    fds: list[tuple[int, str]] = []
    more: dict[str, str] = {}

    def finish() -> None:
        if found and (stack or fds or more):
            found[-1] = replace(
                found[-1],
                stack=tuple(stack),
                fds=tuple(fds),
                cgroup=more.get("cgroup", ""),
                cwd=more.get("cwd", ""),
            )
        stack.clear()
        fds.clear()
        more.clear()

    for line in text.splitlines():
        fields = line.split("\t")
        if fields[0] == "task" and len(fields) == _FIELDS:
            finish()
            found.append(_task(fields[1:]))
        elif fields[0] or not found or len(fields) < 3:
            continue
        elif fields[1] == "stack":
            stack.append(fields[2])
        elif fields[1] == "fd" and len(fields) == 4:
            fds.append((number(fields[2], -1), _plain(fields[3])))
        else:
            more[fields[1]] = _plain(fields[2])
    finish()
    return tuple(t for t in found if not without or without not in (t.tgid, t.ppid))


def _task(fields: Sequence[str]) -> Task:
    (
        tgid,
        tid,
        ppid,
        state,
        threads,
        flags,
        uid,
        tracer,
        swap,
        rss,
        wchan,
        call,
        comm,
    ) = fields

    def known(text: str) -> int | None:
        return None if text == "-" else number(text)

    return Task(
        tgid=number(tgid),
        tid=number(tid),
        ppid=number(ppid),
        state=state,
        threads=number(threads),
        flags=number(flags, base=16),
        uid=known(uid),
        tracer=number(tracer),
        swap_kb=known(swap),
        rss_kb=known(rss),
        wchan="" if wchan == "-" else _plain(wchan),
        syscall="" if call == "-" else call,
        comm=_plain(comm),
    )


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)), text)


def read_again(text: str) -> tuple[Mapping[int, str], Mapping[int, str]]:
    """The step ``again``: tid -> wait channel of who was in D, or in what somebody
    serves, and half a second later has not woken since; and of who has, and waits.

    The channel is empty where it is not known.
    """
    still: dict[int, str] = {}
    woke: dict[int, str] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) == 4 and fields[1] in ("D", "S"):
            where = "" if fields[2] == "-" else _plain(fields[2])
            (still if fields[3] == "0" else woke)[number(fields[0])] = where
    return still, woke


def container(cgroup: str) -> str:
    """The container that a cgroup is of, or its service; empty for neither."""
    for pattern in _CONTAINERS:
        if found := pattern.search(cgroup):
            return f"{found[1].rstrip('-./').replace('.payload', '')} {found[2]}"
    last = cgroup.rsplit("/", 1)[-1]
    return last if last.endswith((".service", ".scope")) else ""


def zombies(tasks: Iterable[Task]) -> tuple[Zombies, ...]:
    """By parent, the most first."""
    leaders: dict[int, Task] = {}
    counts: Counter[int] = Counter()
    for task in tasks:
        if task.tid == task.tgid:
            leaders[task.tgid] = task
        if task.zombie:
            counts[task.ppid] += 1
    found = []
    for pid, count in counts.most_common():
        parent = leaders.get(pid)
        found.append(
            Zombies(
                parent.comm if parent else "unknown",
                pid,
                container(parent.cgroup) if parent else "",
                count,
            )
        )
    return tuple(found)


def by_container(found: Iterable[Zombies]) -> tuple[tuple[str, int], ...]:
    """Zombies by container, the most first; those of none are left out."""
    counts: defaultdict[str, int] = defaultdict(int)
    for each in found:
        if each.container:
            counts[each.container] += each.count
    return tuple(sorted(counts.items(), key=lambda item: -item[1]))
