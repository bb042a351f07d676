# SPDX-License-Identifier: GPL-2.0-only
"""A boot's end held against what was wanted."""

from __future__ import annotations

import re

import pytest

from lull.errors import (
    GuestFailed,
    GuestPanic,
    Killed,
    Late,
    LostVM,
    LullError,
    TimedOut,
    Unmet,
)
from lull.model import Check
from lull.proof.faults import WAYS, Result, judge, known_ways
from lull.proof.trial import Fault, Trial
from lull.vm.console import scan

INTACT = Trial.model_validate(
    {
        "name": "A",
        "text": "",
        "cases": [{"run": "w", "modes": "lull"}],
        "checks": {"A": 2},
        "fails": {"B": 1},
    }
)


def broken(**fault: object) -> Trial:
    return INTACT.model_copy(
        update={"checks": {}, "fails": {}, "fault": Fault.model_validate(fault)}
    )


def check(name: str, ok: bool, text: str = "") -> Check:
    return Check(case=0, name=name, ok=ok, text=text)


def panic(line: str) -> GuestPanic:
    """As a line of the console becomes one."""
    (first, *_) = scan(f"[    1.000000] {line}\n".encode())
    return GuestPanic("bug", report=f"{first.kind}: {first.text}")


GOOD = (check("A", True), check("A", True), check("B", False))


@pytest.mark.parametrize(
    ("checks", "result"),
    [
        (GOOD, Result.PASS),
        (GOOD[:2], Result.FAIL),
        (GOOD[1:], Result.FAIL),
        ((*GOOD, check("C", True)), Result.FAIL),
        ((check("A", True), check("A", False), check("B", False)), Result.FAIL),
        ((check("A", True), check("A", True), check("B", True)), Result.FAIL),
        ((), Result.FAIL),
    ],
)
def test_what_holds_has_all_checks_as_wanted(
    checks: tuple[Check, ...], result: Result
) -> None:
    assert judge(INTACT, checks).result is result


def test_a_fault_is_seen_by_the_check_that_is_its_own() -> None:
    trial = broken(checks={"A": "early"})
    assert judge(trial, (check("A", False, "3 early"),)).result is Result.PASS
    assert judge(trial, (check("A", False, "3 late"),)).result is Result.FAIL
    assert judge(trial, (check("B", False, "3 early"),)).result is Result.FAIL
    assert judge(trial, (check("A", True, "0 early"),)).result is Result.LUCKY
    assert judge(trial, ()).result is Result.NONE


@pytest.mark.parametrize(
    ("error", "intact", "fault"),
    [
        (Unmet("nobody forked"), Result.NONE, Result.NONE),
        (Late("late"), Result.NONE, Result.NONE),
        (LostVM("gone"), Result.FAIL, Result.NONE),
        (Killed("by the host"), Result.NONE, Result.NONE),
        (GuestFailed("no file"), Result.FAIL, Result.NONE),
        (GuestFailed("it does not go on"), Result.FAIL, Result.PASS),
        (TimedOut("hang"), Result.FAIL, Result.NONE),
        (panic("WARNING: CPU: 1 PID: 1 at fs/x.c:1 f+0x1/2"), Result.FAIL, Result.FAIL),
        (panic("rcu: INFO: rcu_sched self-detected stall"), Result.FAIL, Result.NONE),
    ],
)
def test_what_ended_a_boot_early(
    error: LullError, intact: Result, fault: Result
) -> None:
    """A precondition is no verdict; a hang is one for who was to hold alone."""
    assert judge(INTACT, error).result is intact
    assert judge(broken(guest="does not go on"), error).result is fault


def test_a_check_that_was_bad_is_not_forgotten_by_what_came_later() -> None:
    """In the cases before, of a boot that another one then ended."""
    bad, good = check("A", False, "left behind"), check("A", True)
    later = Unmet("nobody forked")
    assert judge(INTACT, later, (good,)).result is Result.NONE
    assert judge(INTACT, later, (good, bad)).result is Result.FAIL
    assert judge(INTACT, later, (good, check("B", False))).result is Result.NONE
    assert judge(broken(checks={"A": ""}), later, (bad,)).result is Result.NONE


STALL = panic("rcu: INFO: rcu_sched self-detected stall")
WARNING = panic("WARNING: CPU: 1 PID: 1 at fs/x.c:1 f+0x1/2")


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (GuestFailed("cannot be killed"), Result.PASS),
        (TimedOut("hang"), Result.PASS),
        (STALL, Result.PASS),
        # Before or after: nobody knows what of it is the fault's.
        (WARNING, Result.FAIL),
        (Unmet("nobody forked"), Result.NONE),
        (Killed("by the host"), Result.NONE),
    ],
)
def test_a_fault_that_was_told_is_told(error: LullError, result: Result) -> None:
    bad, good = check("A", False, "left behind"), check("A", True)
    trial = broken(checks={"A": "behind"})
    assert judge(trial, error, (good, bad)).result is result
    for said in ((good,), (check("A", False, "early"),), ()):
        assert judge(trial, error, said).result is not Result.PASS


def test_a_check_that_is_bad_by_something_else_is_not_passed_over() -> None:
    trial = broken(checks={"A": "early", "C": "left"}, kernel=["memory"])
    early, left = check("A", False, "3 early"), check("C", False, "1 left")
    assert judge(trial, (early, left)).result is Result.PASS
    assert judge(trial, (early, check("B", True))).result is Result.PASS
    for other in (check("A", False, "2 late"), check("B", False, "1 left")):
        for said in ((early, other), (other, early)):
            assert judge(trial, said).result is Result.FAIL
            for error in (GuestFailed("cannot be killed"), STALL, Unmet("nobody")):
                assert judge(trial, error, said).result is Result.FAIL


def test_what_a_guest_says_after_the_kernel_told_of_the_fault_may_come_of_it() -> None:
    trial = broken(checks={"A": "early"}, kernel=["memory"])
    told = panic("BUG: KASAN: slab-use-after-free in zs_free+0x1/0x2")
    said = (check("A", False, "2 late"), check("B", False, "1 left"))
    assert judge(trial, told, said).result is Result.PASS


#: A fault of memory that was once missed: freed twice, and told by a spinlock.
@pytest.mark.parametrize(
    ("way", "line"),
    [
        ("memory", "BUG: spinlock bad magic on CPU#0, init/49"),
        ("memory", "BUG: KASAN: slab-use-after-free in zs_free+0x1/0x2"),
        ("memory", "BUG: unable to handle page fault for address: ffff888100000000"),
        ("memory", "Oops: general protection fault, probably for non-canonical"),
        ("memory", "list_del corruption. prev->next should be ffff8881, but was 0"),
        ("memory", "kernel BUG at mm/zsmalloc.c:1234!"),
        ("memory", "WARNING: CPU: 0 PID: 49 at lib/refcount.c:28 refcount_warn+0x1/2"),
        ("swap", "BUG: Bad rss-counter state mm:ffff8881 type:MM_SWAPENTS val:-1"),
        ("swap", "WARNING: CPU: 0 PID: 1 at mm/swapfile.c:1 f+0x1/0x2"),
        ("sleep", "BUG: sleeping function called from invalid context at x.c:1"),
        ("leak", "BUG zspage (Tainted: G): Objects remaining on __kmem_cache_shutdown"),
        ("lockdep", "WARNING: possible circular locking dependency detected"),
        ("cgroup", "WARNING: CPU: 0 PID: 1 at kernel/cgroup/pids.c:1 f+0x1/0x2"),
        ("memory", "WARNING: lib/refcount.c:28 at refcount_warn+0x1/0x2, CPU#0: sh/49"),
        ("memory", "WARNING: kernel/workqueue.c:1 at __queue+0x1/0x2, CPU#1: sh/9"),
        ("swap", "WARNING: drivers/block/zram/zram_drv.c:1 at f+0x1/0x2, CPU#0: sh/1"),
        ("lockdep", "WARNING: kernel/locking/mutex.c:1 at f+0x1/0x2, CPU#0: sh/1"),
        ("cgroup", "WARNING: kernel/cgroup/cgroup.c:1 at f+0x1/0x2, CPU#0: sh/1"),
        ("hang", "Kernel panic - not syncing: Software Watchdog Timer expired"),
        ("hang", "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck!"),
        ("memory", "WARNING: CPU: 1 PID: 9 at kernel/workqueue.c:2329 __queue+0x1/2"),
        ("hang", "INFO: task init:1 blocked for more than 120 seconds."),
        ("blocked", "Kernel panic - not syncing: Software Watchdog Timer expired"),
        ("blocked", "Kernel panic - not syncing: softdog: Initiating panic"),
        ("blocked", "INFO: task init:1 blocked for more than 120 seconds."),
    ],
)
def test_a_way_knows_its_reports(way: str, line: str) -> None:
    assert judge(broken(kernel=[way]), panic(line)).result is Result.PASS


@pytest.mark.parametrize("way", ["memory", "swap", "leak", "cgroup", "sleep"])
@pytest.mark.parametrize(
    "line",
    [
        "Kernel panic - not syncing: softdog: Initiating panic",
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "watchdog: BUG: soft lockup - CPU#0 stuck for 60s!",
        "INFO: task init:1 blocked for more than 120 seconds.",
        "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 120s!",
        "WARNING: CPU: 0 PID: 1 at kernel/time/tick.c:1 f+0x1/0x2",
        "WARNING: kernel/time/tick.c:1 at f+0x1/0x2, CPU#0: sh/1",
    ],
)
def test_a_slow_host_is_none_of_them(way: str, line: str) -> None:
    """Who lacks a safeguard of memory may hang, which says nothing of it."""
    hangs = re.match(WAYS["hang"], panic(line).report)
    wanted = Result.NONE if hangs else Result.FAIL
    assert judge(broken(kernel=[way]), panic(line)).result is wanted
    assert judge(INTACT, panic(line)).result is Result.FAIL


@pytest.mark.parametrize(
    "line",
    [
        "rcu: INFO: rcu_sched self-detected stall on CPU",
        "watchdog: BUG: soft lockup - CPU#1 stuck for 134s! [init:1]",
        "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 120s!",
    ],
)
def test_where_all_sleep_nobody_spins(line: str) -> None:
    """A slow host's kernel says that of what takes long before anything is missing."""
    assert judge(broken(kernel=["blocked"]), panic(line)).result is Result.NONE
    assert judge(broken(kernel=["hang"]), panic(line)).result is Result.PASS


def test_every_way_is_an_expression() -> None:
    for way in WAYS:
        assert known_ways([way]).match("nothing at all") is None
