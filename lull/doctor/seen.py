# SPDX-License-Identifier: GPL-2.0-only
"""All that a folder of the collector says, read once. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from lull.doctor.bundle import Bundle, Manifest, number
from lull.doctor.model import Facts, Swapped, Times
from lull.doctor.read_log import Suspend, attempts
from lull.doctor.read_measures import Measured, read_measures
from lull.doctor.read_mounts import Mount, read_mounts, silent
from lull.doctor.read_power import (
    Device,
    Power,
    read_config,
    read_devices,
    read_lull,
    read_power,
)
from lull.doctor.read_recording import About
from lull.doctor.read_swap import Swap, read_swap
from lull.doctor.read_tasks import (
    Task,
    Zombies,
    by_container,
    container,
    read_again,
    read_tasks,
    zombies,
)
from lull.doctor.waits import Waiting, by_wait

_FORKS = re.compile(r"^(\d{1,18}) ms\t(\d{1,18}) forks$", re.MULTILINE)


@dataclass(frozen=True)
class Seen:
    """What is judged. ``kept`` are the suspends whose failures count, ``timed``
    those whose times do; ``again`` is who stays stuck, and where, ``woke`` who has
    woken and waits again, and ``silent`` the places whose server sent nothing then."""

    manifest: Manifest
    options: Mapping[str, str]
    lull: Mapping[str, str]
    power: Power
    devices: tuple[Device, ...]
    tasks: tuple[Task, ...]
    again: Mapping[int, str]
    woke: Mapping[int, str]
    silent: frozenset[str]
    mounts: tuple[Mount, ...]
    swap: Swap
    forks_s: float | None
    kept: tuple[Suspend, ...]
    timed: tuple[Suspend, ...]
    measured: Measured

    @cached_property
    def leaders(self) -> Mapping[int, Task]:
        """Processes by PID."""
        return {task.tgid: task for task in self.tasks if task.tid == task.tgid}

    @cached_property
    def zombies(self) -> tuple[Zombies, ...]:
        """By parent, the most first."""
        return zombies(self.tasks)

    @cached_property
    def dead(self) -> int:
        """How many zombies there are."""
        return sum(each.count for each in self.zombies)

    @cached_property
    def alive(self) -> int:
        """How many threads of user space there are that live."""
        return sum(not t.kthread and t.state not in "ZX" for t in self.tasks)

    @cached_property
    def waits(self) -> tuple[tuple[Waiting, ...], int]:
        """Who sleeps in what, and how many in something that is not known."""
        return by_wait(self.tasks, self.manifest.machine, self.manifest.kernel)

    @cached_property
    def spared(self) -> int:
        """Sleepers that a thaw of stock wakes, and Lull's does not."""
        return sum(
            w.count for w in self.waits[0] if (w.stock, w.lull) == ("woken", "rests")
        )

    @cached_property
    def swapped(self) -> tuple[Task, ...]:
        """Processes with memory swapped out, the most first."""
        found = [task for task in self.leaders.values() if task.swap_kb]
        return tuple(sorted(found, key=lambda task: -(task.swap_kb or 0)))

    @cached_property
    def containers(self) -> frozenset[str]:
        """Containers by what their cgroup is called; services are none."""
        names = {container(t.cgroup) for t in self.leaders.values() if t.cgroup}
        return frozenset(name for name in names if " " in name)

    @cached_property
    def cgroup2(self) -> Mount | None:
        """Where cgroup v2 is mounted."""
        return next((m for m in self.mounts if m.fstype == "cgroup2"), None)

    @cached_property
    def times(self) -> Mapping[str, Times]:
        """Milliseconds of the parts of suspends that were whole, from the log."""
        whole = [a for a in self.timed if a.complete and not a.failures]
        kept = [a for a in self.kept if a.complete and not a.failures]
        found = {
            "sync": _times(kept, lambda a: a.sync_s),
            "freeze": _times(kept, lambda a: a.freeze_s),
            "resume": _times(whole, lambda a: a.resume_s),
            "thaw": _times(whole, lambda a: a.thaw_s),
            "devices": _times(whole, _phases),
        }
        return {name: times for name, times in found.items() if times is not None}


def _phases(attempt: Suspend) -> float | None:
    """Seconds of the six phases together, where all are there."""
    if len(attempt.phases_ms) < 6:
        return None
    return sum(ms for _, ms in attempt.phases_ms) / 1e3


def _times(
    found: Iterable[Suspend], part: Callable[[Suspend], float | None]
) -> Times | None:
    values = [s * 1e3 for a in found if (s := part(a)) is not None]
    if not values:
        return None
    return Times(n=len(values), median=median(values), longest=max(values))


def see(bundle: Bundle) -> Seen:
    """Reads all of it."""
    manifest = bundle.manifest
    kept, timed = attempts(bundle.text("log"), bundle.text("journal"))
    lull = read_lull(bundle.text("lull"))
    devices = read_devices(bundle.text("devices"))
    again, woke = read_again(bundle.text("again"))
    about = About(manifest.kernel, lull.get("devices", ""), devices)
    return Seen(
        manifest=manifest,
        options=read_config(bundle.text("config")),
        lull=lull,
        power=read_power(bundle.text("power")),
        devices=devices,
        tasks=read_tasks(bundle.text("tasks"), without=manifest.pid),
        again=again,
        woke=woke,
        silent=silent(bundle.text("mounts"), bundle.text("again")),
        mounts=read_mounts(bundle.text("mounts")),
        swap=read_swap(bundle.text("swap"), bundle.text("system")),
        forks_s=_forks(bundle.text("forks")),
        kept=kept,
        timed=timed,
        measured=read_measures(bundle.files, about),
    )


def _forks(text: str) -> float | None:
    """Forks a second, the collector's own among them: none in that time."""
    marks = [(int(ms), int(n)) for ms, n in _FORKS.findall(text)]
    if len(marks) != 2 or marks[1][0] <= marks[0][0]:
        return None
    return (marks[1][1] - marks[0][1]) * 1e3 / (marks[1][0] - marks[0][0])


def facts(seen: Seen) -> Facts:
    """What was seen, as the JSON has it."""
    known, unknown = seen.waits
    cgroup = seen.cgroup2
    return Facts(
        kernel=seen.manifest.kernel,
        machine=seen.manifest.machine,
        options=dict(seen.options),
        lull=dict(seen.lull),
        power=seen.power,
        async_devices=sum(d.async_ for d in seen.devices) if seen.devices else None,
        sync_devices=sum(not d.async_ for d in seen.devices) if seen.devices else None,
        threads=len(seen.tasks),
        processes=len(seen.leaders),
        forks_s=seen.forks_s,
        containers=len(seen.containers),
        zombies=seen.zombies,
        zombies_by_container=by_container(seen.zombies),
        waits=known,
        waits_unknown=unknown,
        cgroup_v2=cgroup is not None if seen.mounts else None,
        favordynmods="favordynmods" in cgroup.options if cgroup else None,
        swap=seen.swap,
        swapped=tuple(
            Swapped(name=t.comm, pid=t.tgid, swap_kb=t.swap_kb)
            for t in seen.swapped
            if t.swap_kb
        ),
        measured=seen.measured,
        suspends=len(seen.kept),
        times=dict(seen.times),
    )


def unseen(manifest: Manifest) -> tuple[str, ...]:
    """Sentences: what the collector could not look at. What a kernel does not have
    is no gap."""
    found: list[str] = []
    refused: dict[tuple[str, str], list[str]] = {}
    counts: dict[tuple[str, str], int] = {}
    for gap in manifest.gaps:
        if gap.kind == "hung":
            found.append(f"{gap.path} did not answer in {gap.why}: given up")
        elif gap.kind == "cut":
            found.append(f"{gap.path} was cut off: it is too long")
        elif gap.why not in ("ENOENT", "ENODATA", "EOPNOTSUPP", "EINVAL"):
            key = (gap.step, gap.why)
            more = number(gap.path) if gap.kind == "more" else 1
            counts[key] = counts.get(key, 0) + more
            if gap.kind == "no":
                refused.setdefault(key, []).append(gap.path)
    for key, paths in refused.items():
        step, why = key
        rest = counts[key] - 1
        also = f" and {rest} more" if rest else ""
        found.append(f"{step}: {paths[0]}{also} could not be read ({why})")
    late = [s.name for s in manifest.steps if s.outcome == "late"]
    found += [f"{name}: not all of it, its time was over" for name in late]
    if manifest.left:
        found.append(f"{manifest.left} readers sleep where no signal reaches them")
    if manifest.uid != 0:
        found.append("it was not root: much of what belongs to others is not seen")
    return tuple(found)
