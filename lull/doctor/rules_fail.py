# SPDX-License-Identifier: GPL-2.0-only
"""Who made a suspend fail, and who would. Pure."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence

from lull.doctor.model import Finding, Grade
from lull.doctor.read_log import Failure, Suspend, failed
from lull.doctor.read_mounts import Mount
from lull.doctor.read_power import STEPS
from lull.doctor.read_tasks import Task, container
from lull.doctor.remedies import remedy, vain
from lull.doctor.seen import Seen
from lull.doctor.waits import wait_of

#: pm_freeze_timeout where it cannot be read.
DEFAULT_TIMEOUT_MS = 20000
#: Names of a list that are printed.
NAMES = 5


def names(tasks: Sequence[Task]) -> str:
    """The first few, and how many more."""
    shown = ", ".join(task.name for task in tasks[:NAMES])
    more = len(tasks) - NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def some(n: int, word: str) -> str:
    """1 -> "1 word", 2000 -> "2,000 words"."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def fails(seen: Seen) -> list[Finding]:
    """All of them."""
    return [*_logged(seen), *_counted(seen), *_refusing(seen), *_turned_back(seen)]


def _logged(seen: Seen) -> list[Finding]:
    """Failed suspends of the log, those for one reason together."""
    groups: defaultdict[str, list[tuple[Suspend, Failure]]] = defaultdict(list)
    for attempt, failure in failed(seen.kept):
        who = failure.device or failure.source
        if failure.refusers:
            who = failure.refusers[0].name
        groups[f"{failure.kind}-{who}"].append((attempt, failure))
    return [_group(seen, key, pairs) for key, pairs in groups.items()]


def _group(seen: Seen, key: str, pairs: list[tuple[Suspend, Failure]]) -> Finding:
    last = pairs[-1][1]
    lost = sum(failure.seconds for _, failure in pairs) * 1e3
    times = f", {len(pairs)} times" if len(pairs) > 1 else ""
    evidence = [f"log at {pairs[-1][0].began:.0f} s: {_words(last)}"]
    evidence += [
        f"{r.name} ({r.pid}), state {r.state}, in {' < '.join(r.frames) or 'unknown'}"
        for r in last.refusers[:NAMES]
    ]
    remedies = []
    if last.kind == "device":
        title = f"{last.device} made a suspend fail{times}: {last.error} in {last.what}"
        for device in seen.devices:
            if device.async_ and device.path.rsplit("/", 1)[-1] == last.device:
                # Only a device whose order is in question: it failed, and is async.
                remedies.append(remedy("power_async", device=shlex.quote(device.path)))
                break
    elif last.kind == "freeze":
        who = ", ".join(f"{r.name} ({r.pid})" for r in last.refusers[:NAMES])
        title = f"{who or some(last.count, 'task')} refused to freeze{times}"
    else:
        by = f" by {last.source}" if last.source else ""
        title = f"a wakeup{by} ended a suspend{times}"
    return Finding(
        id=f"failed-{key}",
        grade=Grade.FAILS if last.kind != "wakeup" else Grade.WRONG,
        title=title,
        cost_ms=lost or None,
        cost=f"{lost / 1e3:.3g} s until it was given up" if lost else "the suspend",
        evidence=tuple(evidence),
        remedies=tuple(remedies),
        vain=(vain("freeze_cgroups"),) if last.kind == "freeze" else (),
    )


def _words(failure: Failure) -> str:
    """The failure, decoded, in one line."""
    words = failure.what
    if failure.device:
        driver = f" ({failure.driver})" if failure.driver else ""
        by = f", {failure.callback}()" if failure.callback else ""
        return f"{failure.device}{driver} failed to {words}{by}: {failure.error}"
    if failure.seconds:
        return (
            f"{words} given up after {failure.seconds:.3g} s, "
            f"{some(failure.count, 'task')} not frozen"
        )
    return f"{words} ended by a wakeup {failure.source}".rstrip()


def _counted(seen: Seen) -> list[Finding]:
    """suspend_stats, where the log does not say it better."""
    stats = seen.power.stats
    if stats is None or not stats.fail:
        return []
    if any(f.kind != "wakeup" for _, f in failed(seen.kept)):
        return []
    total = stats.success + stats.fail
    step = f"{stats.step} ({STEPS[stats.step]})" if stats.step in STEPS else stats.step
    who = stats.device or "no device"
    return [
        Finding(
            id="suspend-stats",
            grade=Grade.FAILS,
            title=f"{stats.fail} of {total} suspends failed; the last: {who}, "
            f"{stats.error or 'no error'}, at {step or 'no step'}",
            cost="the suspend",
            evidence=tuple(f"failed at {name}: {n}" for name, n in stats.steps.items()),
        )
    ]


def _turned_back(seen: Seen) -> list[Finding]:
    if seen.power.pm_test in ("", "none"):
        return []
    return [
        Finding(
            id="pm-test",
            grade=Grade.FAILS,
            title=f"pm_test is {seen.power.pm_test}: a suspend turns back there",
            cost="the suspend",
            evidence=("to take it back: echo none > /sys/power/pm_test",),
        )
    ]


def _refusing(seen: Seen) -> list[Finding]:
    """Who waits, now, where no signal of the freezer ends it."""
    timeout = float(seen.power.freeze_timeout_ms or DEFAULT_TIMEOUT_MS)
    found: list[Finding] = []
    taken: set[int] = set()
    foreign = [t for t in seen.tasks if _in(seen, t) in ("FUSE", "network file system")]
    # Who is answered within half a second is no trouble; to try again is no answer.
    tried = [t for t in foreign if seen.woke.get(t.tid) == t.wchan]
    foreign = [t for t in foreign if seen.again.get(t.tid) == t.wchan]
    for mount in seen.mounts:
        if not (mount.fuse or mount.nfs):
            continue
        asked = foreign + tried if mount.at in seen.silent else foreign
        waiting = [t for t in asked if _waits_in(seen, t, mount)]
        taken.update(t.tid for t in waiting)
        if finding := _mount(seen, mount, waiting, timeout):
            found.append(finding)
    rest = [
        t
        for t in seen.tasks
        if t.tid not in taken and not t.kthread and _stays(seen, t)
    ]
    rest += [t for t in foreign if t.tid not in taken and t not in rest]
    disk = [t for t in rest if _in(seen, t) == "disk"]
    rest = [t for t in rest if t not in disk]
    if disk:
        found.append(_disk(seen, disk))
    if rest:
        found.append(
            Finding(
                id="uninterruptible",
                grade=Grade.FAILS,
                title=f"{names(rest)}: waits where no signal reaches it, and would "
                "refuse to freeze",
                cost_ms=timeout,
                cost=_given_up(timeout),
                evidence=tuple(_where(seen, t) for t in rest[:NAMES]),
                vain=(vain("freeze_cgroups"),),
            )
        )
    return found


def _disk(seen: Seen, tasks: Sequence[Task]) -> Finding:
    """A disk that is busy answers, but for one that is broken."""
    return Finding(
        id="disk",
        grade=Grade.NOTE,
        title=f"{names(tasks)}: waits for a disk, and did so half a second later",
        evidence=(
            *(_where(seen, t) for t in tasks[:NAMES]),
            "if the disk never answers, it would refuse to freeze",
        ),
    )


def _given_up(timeout: float) -> str:
    return f"{timeout / 1e3:.3g} s until a suspend is given up (pm_freeze_timeout)"


def _stays(seen: Seen, task: Task) -> bool:
    """In D, and half a second later still, at the same place."""
    return task.state == "D" and seen.again.get(task.tid) == task.wchan


def _in(seen: Seen, task: Task) -> str:
    wait = wait_of(task, seen.manifest.machine) if not task.kthread else None
    return wait.name if wait else ""


def _where(seen: Seen, task: Task) -> str:
    there = container(task.cgroup or seen.leaders.get(task.tgid, task).cgroup)
    also = f", {there}" if there else ""
    call = f", system call {task.syscall.partition(':')[0]}" if task.syscall else ""
    return (
        f"{task.name}{also}: state {task.state}, in "
        f"{' < '.join(task.frames[:6]) or 'unknown'}{call}"
    )


def _waits_in(seen: Seen, task: Task, mount: Mount) -> bool:
    """By the file of the system call, else by any file or the folder of the task."""
    if _in(seen, task) == "FUSE" and not mount.fuse:
        return False
    if _in(seen, task) == "network file system" and not mount.nfs:
        return False
    paths = [path for _, path in task.fds] + [task.cwd]
    if any(_below(path, mount.at) for path in paths):
        return True
    # A path that is being looked up is no file yet: where there is one mount only,
    # it is that.
    alike = [m for m in seen.mounts if (m.fuse, m.nfs) == (mount.fuse, mount.nfs)]
    busy = [m for m in alike if m.waiting]
    named = any(_below(path, m.at) for path in paths for m in alike)
    return not named and (alike == [mount] or busy == [mount])


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _daemons(seen: Seen, mount: Mount) -> list[Task]:
    """Who serves a FUSE mount: who has /dev/fuse open, by name where there are more.

    Which connection a descriptor is of is not said by kernels of today."""
    serving = [
        t
        for t in seen.leaders.values()
        if any(target == "/dev/fuse" for _, target in t.fds)
    ]
    kind = mount.fstype.partition(".")[2]
    named = [t for t in serving if _alike(t.comm, kind) or _alike(t.comm, mount.source)]
    if named:
        return named
    fuses = [m for m in seen.mounts if m.fuse]
    return serving if len(fuses) == 1 or len(serving) == 1 else []


def _alike(comm: str, name: str) -> bool:
    name = name.rsplit("/", 1)[-1]
    return bool(name) and (comm == name[:15] or comm.startswith(name[:15]))


def _mount(
    seen: Seen, mount: Mount, waiting: Sequence[Task], timeout: float
) -> Finding | None:
    if mount.nfs:
        if not waiting:
            return None
        what = f"{mount.at} ({mount.fstype}, server {mount.source})"
        title = f"{what} does not answer: {names(waiting)} would refuse to freeze"
    else:
        daemons = _daemons(seen, mount)
        stopped = [t for t in daemons if t.state in "TtDZ"]
        what = f"{mount.at} ({mount.fstype})"
        if stopped:
            state = "is stopped" if stopped[0].state in "Tt" else "is stuck itself"
            title = f"{what}: its daemon {names(stopped)} {state}"
            title += f", and {names(waiting)} waits in it" if waiting else ""
        elif waiting:
            who = f"its daemon {names(daemons)}" if daemons else "whoever serves it"
            title = f"{what}: {who} does not answer {names(waiting)}"
        else:
            return None
    evidence = [_where(seen, t) for t in waiting[:NAMES]]
    if mount.waiting is not None:
        evidence.append(f"unanswered requests of that mount: {mount.waiting}")
    if not waiting:
        evidence.append("nobody was seen to wait in it: who comes next would")
    return Finding(
        id=f"mount-{mount.at}",
        grade=Grade.FAILS,
        title=title,
        cost_ms=timeout,
        cost=_given_up(timeout),
        evidence=tuple(evidence),
        vain=(vain("freeze_cgroups"),),
    )


def serving(seen: Seen) -> Iterable[tuple[Mount, list[Task]]]:
    """FUSE and network mounts, with the daemons of the former."""
    for mount in seen.mounts:
        if mount.fuse or mount.nfs:
            yield mount, _daemons(seen, mount) if mount.fuse else []
