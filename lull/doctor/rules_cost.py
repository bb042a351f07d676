# SPDX-License-Identifier: GPL-2.0-only
"""What takes time here, what is wrong, and which switches decide it. Pure."""

from __future__ import annotations

import shlex

from lull.doctor import estimates
from lull.doctor.model import Finding, Grade, Remedy
from lull.doctor.own import why_less
from lull.doctor.read_mounts import Mount
from lull.doctor.remedies import remedy, vain
from lull.doctor.rules_fail import NAMES, names, serving, some
from lull.doctor.seen import Seen
from lull.doctor.waits import release

#: So many dead children of one parent are no accident.
ZOMBIES = 50
#: Less than that is not worth a line, in milliseconds.
SYNC_MS = 100.0
#: A process with less swapped out is gone before anybody looks.
SWAP_MIB = 16
SWAPPED = 5
#: Forks a second from which a lock of all forks is worth a thought.
FORKS_S = 50.0


def costs(seen: Seen) -> list[Finding]:
    """All of them."""
    found = [*_zombies(seen), *_traced(seen)]
    found += [*_resume(seen), *_sync(seen), *_freeze(seen), *_thaw(seen)]
    found += [*_swapped(seen), *_moves(seen), *_async(seen), *_lull(seen)]
    return [*found, *_guests(seen), *_mounts(seen), *_printed(seen), *_never(seen)]


def _zombies(seen: Seen) -> list[Finding]:
    found: list[Finding] = []
    estimate = estimates.freeze(seen.dead, seen.alive, seen.times.get("freeze"))
    for each in seen.zombies:
        if each.count < ZOMBIES:
            continue
        where = f" in {each.container}" if each.container else ""
        cost = estimates.zombies_ms(each.count)
        found.append(
            Finding(
                id=f"zombies-{each.pid}",
                grade=Grade.WRONG,
                title=f"{each.count:,} zombies of {each.parent} ({each.pid}){where}",
                cost_ms=cost,
                cost=f"about {cost:.2g} ms of each freeze (insn, not this machine's)",
                evidence=(
                    f"{some(seen.dead, 'zombie')} in all, "
                    f"{some(seen.alive, 'live thread')}",
                ),
                estimates=(estimate,) if not found else (),
                remedies=(remedy("zombie_parent", parent=each.parent, pid=each.pid),),
                vain=(vain("reap_others"),),
            )
        )
    return found


def _traced(seen: Seen) -> list[Finding]:
    found = []
    for task in seen.tasks:
        if task.state != "t" and not (task.tracer and task.state == "T"):
            continue
        tracer = seen.leaders.get(task.tracer)
        by = tracer.name if tracer else "a tracer that was not seen"
        found.append(
            Finding(
                id=f"traced-{task.tid}",
                grade=Grade.WRONG,
                title=f"{task.name} is stopped by {by}, which traces it",
                cost="nothing by itself: it is frozen as it stands, but who waits for "
                "it waits on",
                evidence=(f"state {task.state}, TracerPid {task.tracer}",),
            )
        )
    return found


def _resume(seen: Seen) -> list[Finding]:
    times = seen.times.get("resume")
    if times is None:
        return []
    return [
        Finding(
            id="resume",
            grade=Grade.COSTS,
            title=f"the kernel takes {times.median:,.0f} ms to resume",
            cost_ms=times.median,
            cost=f"{times.median:,.0f} ms, {times.longest:,.0f} at most, of "
            f"{times.n} in the log",
            evidence=("from its first word after the sleep to: PM: suspend exit",),
            estimates=(estimates.devices(seen.times.get("devices")),),
            vain=(vain("print_times"),),
        )
    ]


def _sync(seen: Seen) -> list[Finding]:
    times = seen.times.get("sync")
    if times is None or times.longest < SYNC_MS:
        return []
    return [
        Finding(
            id="sync",
            grade=Grade.COSTS,
            title=f"the sync before a suspend takes {times.median:,.0f} ms",
            cost_ms=times.median,
            cost=f"{times.median:,.0f} ms, {times.longest:,.0f} at most, of "
            f"{times.n} in the log",
            evidence=("log: Filesystems sync",),
            remedies=(remedy("sync_on_suspend"),),
        )
    ]


def _freeze(seen: Seen) -> list[Finding]:
    times = seen.times.get("freeze")
    if times is None:
        return []
    estimate = estimates.freeze(seen.dead, seen.alive, times)
    return [
        Finding(
            id="freeze",
            grade=Grade.COSTS,
            title=f"freezing takes {times.median:,.0f} ms",
            cost_ms=times.median,
            cost=f"{times.median:,.0f} ms, {times.longest:,.0f} at most, of "
            f"{times.n} in the log",
            evidence=(
                f"{seen.alive:,} threads of user space, {seen.dead:,} zombies now",
            ),
            estimates=(estimate,),
        )
    ]


def _thaw(seen: Seen) -> list[Finding]:
    known, unknown = seen.waits
    woken = [w for w in known if w.stock == "woken"]
    total = sum(w.count for w in woken)
    if not total or not seen.power.can_suspend:
        return []
    times = seen.times.get("thaw")
    estimate = estimates.thaw(seen.spared, times)
    cost = estimate.saved_ms[1] if estimate.saved_ms else None
    if times is not None:
        cost = times.median
    kinds = ", ".join(f"{w.count} in {w.name}" for w in woken[:NAMES])
    rest = sum(w.count for w in known if w.stock in ("rests", "passed"))
    return [
        Finding(
            id="thaw",
            grade=Grade.COSTS,
            title=f"a thaw wakes {some(total, 'sleeper')} for nothing",
            cost_ms=cost,
            cost=f"{times.median:,.1f} ms, of {times.n} in the log"
            if times
            else f"{cost:.2g} ms at most (insn, not this machine's)"
            if cost
            else "",
            evidence=(
                kinds,
                f"{rest:,} more are not woken; of {unknown:,} the wait is not known",
            ),
            estimates=(estimate,),
        )
    ]


def _swapped(seen: Seen) -> list[Finding]:
    if not seen.swap.compressed:
        return []
    big = [task for task in seen.swapped if (task.swap_kb or 0) >= SWAP_MIB << 10]
    found = []
    for task in big[:SWAPPED]:
        mib = (task.swap_kb or 0) / 1024
        low, high = estimates.exit_ms(mib)
        if not seen.swap.all_zram:
            # What of it is on a disk, or behind zswap, is not said by process.
            low = 0.0
        # The lab's costs are not of a kernel that has a part of it itself.
        known = not why_less(seen.manifest.kernel, "zfree")
        found.append(
            Finding(
                id=f"swap-{task.tgid}",
                grade=Grade.COSTS,
                title=f"{task.name} has {mib:,.0f} MiB in compressed swap: when it "
                "ends, they are freed page by page",
                cost_ms=high if known else None,
                cost=f"{low:,.0f} to {high:,.0f} ms at its end (by the lab's costs)"
                if known
                else "",
                evidence=tuple(
                    f"{z.name}: {z.stored >> 20:,} MiB stored in {z.takes >> 20:,}"
                    for z in seen.swap.zrams
                    if z.stored
                ),
                estimates=(estimates.zfree(mib),),
            )
        )
    return found


def _moves(seen: Seen) -> list[Finding]:
    """Before 6.0 a move did not wait for a grace period."""
    mount = seen.cgroup2
    busy = len(seen.containers) > 0 or (seen.forks_s or 0.0) >= FORKS_S
    if mount is None or not busy or release(seen.manifest.kernel) < (6, 0):
        return []
    if "favordynmods" in mount.options or seen.power.rcu_expedited:
        return []
    forks = f"{seen.forks_s:.0f} forks a second" if seen.forks_s is not None else ""
    return [
        Finding(
            id="moves",
            grade=Grade.SETTING,
            title="a process that moves to a cgroup waits for a grace period, and "
            "keeps all others from forking",
            cost="some 20 ms a move in the lab; how many there are was not counted",
            evidence=(
                f"cgroup v2 at {mount.at} without favordynmods; rcu_expedited is off",
                ", ".join(
                    filter(None, (some(len(seen.containers), "container"), forks))
                ),
            ),
            estimates=(estimates.attach(),),
            remedies=move_remedies(mount),
        )
    ]


def move_remedies(mount: Mount) -> tuple[Remedy, ...]:
    """What makes moves faster without Lull, for cgroup v2 as it is mounted."""
    place = shlex.quote(mount.at)
    options = shlex.quote(",".join(o for o in mount.options if o not in ("ro", "rw")))
    options = f"rw,{options}" if options != "''" else "rw"
    return (
        remedy("favordynmods", mount=place, options=options),
        remedy("rcu_expedited"),
        remedy("clone_into_cgroup"),
    )


def _async(seen: Seen) -> list[Finding]:
    if seen.power.pm_async is not False:
        return []
    many = sum(d.async_ for d in seen.devices)
    asked = f"{many} devices ask to be async" if many else "no device was seen to ask"
    return [
        Finding(
            id="pm-async",
            grade=Grade.SETTING,
            title="pm_async is off: all devices are suspended one after the other",
            cost="not known without a recording of both",
            evidence=(
                asked,
                "if one device made somebody do that, lull graph --suspect SYNC ASYNC "
                "names it, and power/async of that one is enough",
                "to take it back: echo 1 > /sys/power/pm_async",
            ),
        )
    ]


def _lull(seen: Seen) -> list[Finding]:
    stock = [name for name, mode in seen.lull.items() if mode == "stock"]
    if not stock:
        return []
    return [
        Finding(
            id="lull-stock",
            grade=Grade.SETTING,
            title=f"Lull is in this kernel, and in its mode stock: {', '.join(stock)}",
            evidence=tuple(
                f"echo lull | sudo tee /sys/module/lull/parameters/{name}"
                "   # back: echo stock"
                for name in stock
            ),
        )
    ]


def _guests(seen: Seen) -> list[Finding]:
    guests = [
        t
        for t in seen.leaders.values()
        if any(target.startswith("anon_inode:kvm") for _, target in t.fds)
    ]
    if not guests:
        return []
    return [
        Finding(
            id="guests",
            grade=Grade.NOTE,
            title=f"{some(len(guests), 'KVM guest')}: {names(guests)}",
            evidence=("they stand still with the host, and their clocks notice",),
        )
    ]


def _mounts(seen: Seen) -> list[Finding]:
    lines = []
    for mount, daemons in serving(seen):
        by = mount.source if mount.nfs else names(daemons) or "a program not seen"
        lines.append(f"{mount.at} ({mount.fstype}), served by {by}")
    if not lines:
        return []
    return [
        Finding(
            id="mounts",
            grade=Grade.NOTE,
            title=f"{some(len(lines), 'file system')} served by a program or a server",
            evidence=(
                *lines[: 2 * NAMES],
                "who waits in one when its daemon is frozen first refuses to freeze",
            ),
        )
    ]


def _never(seen: Seen) -> list[Finding]:
    states = seen.power.states
    if states is None or seen.power.can_suspend:
        return []
    return [
        Finding(
            id="no-suspend",
            grade=Grade.NOTE,
            title="this kernel cannot suspend: nothing freezes, thaws or resumes",
            evidence=(f"/sys/power/state has: {' '.join(states) or 'nothing'}",),
        )
    ]


def _printed(seen: Seen) -> list[Finding]:
    if not seen.power.print_times:
        return []
    return [
        Finding(
            id="print-times",
            grade=Grade.SETTING,
            title="pm_print_times is on: each callback of a device is printed",
            evidence=("to take it back: echo 0 > /sys/power/pm_print_times",),
            vain=(vain("print_times"),),
        )
    ]
