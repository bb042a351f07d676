# SPDX-License-Identifier: GPL-2.0-only
"""What each fault's pattern takes of what its workload can say.

Texts are a boot's, or what the same line of the workload would have said of
something else that goes wrong.
"""

from __future__ import annotations

import pytest

from lull.model import Check
from lull.proof.faults import Result, judge
from lull.proof.trial import trials

TRIALS = {trial.id: trial for trial in trials()}


def moved(behind: int = 0, wrong: int = 0, error: int = 0, more: str = "") -> str:
    return (
        "lull: 100 moves of 1 that made 956 threads, 55 at the end; left behind"
        f" {behind} times, pids.current wrong {wrong} times, errno {error}{more}"
    )


def singles(astray: int = 0, error: int = 0) -> str:
    return (
        f"; 68 times a thread moved itself, {astray} astray, 77 times another moved"
        f" one, errno {error}"
    )


def visible(astray: int, left: int, there: int, lost: int = 0) -> str:
    return (
        f"lull: 1000 children, 552 moved before fork() was back; {astray} not where"
        f" they belong, pids.current {left} and {there}, {lost} lost"
    )


def emptied(deleted: int, at_rest: int, status: int) -> str:
    return (
        f"lull: 30 moves, 411 forks, {deleted} children in a removed cgroup,"
        f" pids.current {at_rest}, status {status}"
    )


def hierarchy(says: int, there: int) -> str:
    return (
        f"lull: 2 times on and off, 9 forks; at the end pids.current {says} of {there}"
    )


def storm(wrong: int, lost: str) -> str:
    return (
        "lull, safeguards off saved: 605 wakeups of 25 kinds (at least 8 of each), 3"
        " cycles held up 16 (at least 0 of each; 0 came to a frozen system),"
        f" {wrong} in wrong order, 0 times EINTR; lost: {lost}"
    )


def timeouts(late: str = "none", early: str = "none", other: str = "none") -> str:
    return (
        f"lull, safeguards off saved: never or late: {late}; early: {early}; with"
        f" another result: {other}; at most 313254 us late (udp)"
    )


def killed(alive: str, when: str = "while frozen", ran: str = "0") -> str:
    return (
        f"lull, safeguards off saved, killed {when}: {ran} ran before the thaw; alive"
        f" after it: {alive}"
    )


def orders(what: str) -> str:
    return f"lull, safeguards off reasons: 18 tasks, 16 steps, 3 faults: {what}"


def toggled(what: str) -> str:
    return (
        "lull, safeguards off reasons: 1 cycles, 1 with the cgroup frozen after it:"
        f" {what}"
    )


def beside(when: str, kind: str) -> str:
    return f"lull, safeguards off leave, {when}: a wakeup was swallowed in {kind}"


def queue(rest: str) -> str:
    return f"lull, safeguards off pm-only, pipe-read: the second waiter slept on{rest}"


def at_rest(more: int, compressed: int, used: int, zswap: int = 0) -> str:
    return (
        f"lull: at rest {more} bytes more, {compressed} compressed, {used} used,"
        f" 0 missed, {zswap} pages in zswap"
    )


def waited(what: str, after: int) -> str:
    return f"{what}: 512 objects waited, {after} after it"


RAN = "unix-stream ran though to be frozen, order cpCP after C"
NEVER = "unix-stream never ran again, order cpCP after P"
IN_PM = "cgroup frozen within PM's freeze"
IN_PM_WOKEN = "cgroup frozen, and a wakeup, within PM's freeze"
#: Objects are freed wrongly: zram's sums are right, and the pool's pages are not.
POOL = (
    "ZS2 without reread",
    "ZS3 without page-locks",
    "ZS7 without publish",
    "ZS11 readers without slot-lock",
    "ZS11 without group",
)
#: A count that has gone below 0.
BELOW = 2**64 - 1


def texts(id: str, check: str, *all_of: str) -> list[tuple[str, str, str]]:
    return [(id, check, text) for text in all_of]


SHOWN = [
    *(
        one
        for name in ("CG2 without child", "CG2 threadgroup without child")
        for one in texts(
            f"attach: {name}",
            "CG2",
            visible(3, 0, 0),
            visible(0, 0, 7),
            visible(0, 2, 0),
        )
    ),
    *texts("attach: CG8 without switch", "CG2", visible(1, 0, 1), visible(0, 1, 0)),
    *texts("attach: CG2 without linked", "CG2", visible(274, 0, 0)),
    *texts("attach: CG3 without readers", "CG3", emptied(3, 0, 0)),
    *texts("attach: CG5 without readers", "CG5", moved(behind=1), moved(wrong=1)),
    *texts(
        "attach: CG5 singles without readers",
        "CG5",
        moved(wrong=1, more=singles()),
        moved(more=singles(error=95)),
    ),
    *texts(
        "attach: CG6 without hierarchy",
        "CG6",
        hierarchy(6, 9),
        hierarchy(9, 6),
        hierarchy(6, 66),
        hierarchy(66, 6),
        hierarchy(BELOW, 3),
    ),
    *texts(
        "thaw: FZ8 without saved",
        "FZ8",
        storm(0, "epoll-timer 49, epoll-edge-timer 9, select-timer 49"),
        storm(0, "poll-timer 14, tcp 26, signalfd-timer 18"),
        storm(0, "futex 3, unix-dgram 26"),
    ),
    *texts(
        "thaw: FZ10 without saved",
        "timeouts",
        timeouts("epoll, poll, select, io_uring, tcp, udp"),
        timeouts("futex, unix-accept"),
    ),
    *texts(
        "thaw: FZ11 without saved",
        "FZ11",
        killed("epoll, pipe-read, io_uring"),
        killed("io_uring"),
        killed("epoll, futex"),
    ),
    *texts("thaw: FZ11 without victim", "victim", "the victim in epoll stays frozen"),
    *texts(
        "thaw: FZ8 queue without pm-only",
        "queue",
        queue(", the first had it when its cgroup was thawed"),
    ),
    *texts(
        "thaw: FZ8 passed without settle",
        "FZ8",
        "lull, safeguards off settle: passed over 1 times, never ran again",
    ),
    *texts("thaw: FZ8 exiting without leave", "FZ8", "who exits never ran again"),
    *texts("thaw: FZ9 orders on stock", "FZ9", orders(RAN)),
    *texts("thaw: FZ9 orders without reasons", "FZ9", orders(RAN)),
    *texts(
        "thaw: FZ9 left without reasons",
        "FZ9",
        orders("epoll ran though to be frozen, order pcCP after C"),
    ),
    *texts(
        "thaw: FZ9 toggled without reasons",
        "FZ9",
        toggled("unix-stream ran though its cgroup is frozen"),
        toggled("naps ran though its cgroup is frozen"),
    ),
    *texts(
        "thaw: FZ9 beside without leave",
        "FZ9",
        beside(IN_PM, "pipe-read"),
        beside(IN_PM_WOKEN, "unix-dgram"),
    ),
    *texts(
        "thaw: FZ9 beside without pm-only", "FZ8", beside("cgroup frozen", "pipe-read")
    ),
    *texts(
        "thaw: FZ12 spurious on stock",
        "FZ12",
        "stock: 13 kinds, returned with nothing: none; with EINTR: epoll epoll-edge",
    ),
    *texts(
        "freeze: FZ5 without revisit", "FZ5", "lull: 20 cycles, 19 escapes, last exe"
    ),
    *texts("freeze: FZ6 iii too early", "load", "no signal is pending while"),
    *texts("zfree: ZS1 without pieces", "ZS4", at_rest(8192, 1300, 4096)),
    *(
        one
        for name in POOL
        for one in texts(f"zfree: {name}", "ZS4", at_rest(0, 0, 4096))
    ),
    *texts("zfree: ZS2 without reread", "ZS4", at_rest(0, 0, -8192)),
    *texts("zfree: ZS1 without detach", "ZS4", at_rest(-4096, 0, -8192)),
    *texts("zfree: ZS11 without slot-lock", "ZS4", at_rest(4096, 700, 0)),
    *texts("zfree: ZS4 without settle", "ZS4", at_rest(1056768, 240013, 0)),
    *texts(
        "zfree: ZS5 without under-wb",
        "ZS5",
        "lull: 1 slots changed meanwhile, 1 pages wrong",
    ),
    *texts("zfree: ZS8 without destroy", "ZS8", waited("the device was reset", 513)),
    *texts("zfree: ZS8 without possible", "ZS8", waited("its CPU is off", 512)),
    *texts(
        "zfree: ZS9 without limit",
        "ZS9",
        waited("bytes taken at the limit", 0),
        waited("bytes taken at the limit", 262144),
        waited("bytes taken at the limit", 1703936),
        waited("bytes taken at the limit", 2**64 - 36864),
    ),
    *texts("zfree: ZS9 without pressure", "ZS9", waited("memory was short", 512)),
    *texts(
        "zfree: ZS9 zswap without possible",
        "ZS9",
        "zswap at its limit of 9000 pages, 512 objects waited: 0 of 256 pages taken,"
        " 256 refused",
    ),
    *texts(
        "zfree: ZS9 rewritten in place",
        "ZS9",
        "12 of 12 pages behind it are wrong, the page itself is right",
        "1 of 12 pages behind it are wrong, the page itself is wrong",
    ),
    *(
        (f"zfree: ZS9 full {name}", "ZS9", "one waits, and another is refused")
        for name in ("without limit", "shared without limit", "in place")
    ),
]

NOT_SHOWN = [
    *texts(
        "attach: CG2 without child", "CG2", visible(0, 0, 0, 9), visible(0, BELOW, 0)
    ),
    *texts("attach: CG2 without linked", "CG2", visible(0, 1, 0), visible(0, 0, 1)),
    *texts("attach: CG3 without readers", "CG3", emptied(0, 0, 256), emptied(0, 2, 0)),
    *texts("attach: CG5 without readers", "CG5", moved(error=16), moved()),
    *texts(
        "attach: CG5 singles without readers",
        "CG5",
        moved(more=singles(astray=1)),
        moved(more=singles(error=16)),
        moved(error=95, more=singles()),
    ),
    *texts("attach: CG6 without hierarchy", "CG6", hierarchy(9, 9), hierarchy(66, 66)),
    *texts(
        "thaw: FZ8 without saved",
        "FZ8",
        storm(1, "none"),
        storm(0, "futex 3, sigtimedwait-timer 2"),
        storm(2, "epoll-timer 49"),
    ),
    *texts(
        "thaw: FZ10 without saved",
        "timeouts",
        timeouts(early="epoll"),
        timeouts(other="tcp"),
        timeouts("futex, nanosleep"),
        timeouts("epoll", early="poll"),
    ),
    *texts(
        "thaw: FZ11 without saved",
        "FZ11",
        killed("futex"),
        killed("epoll", when="just before"),
        killed("epoll", ran="1"),
        killed("none", ran="1"),
    ),
    *texts("thaw: FZ8 queue without pm-only", "queue", queue("")),
    *texts(
        "thaw: FZ8 passed without settle",
        "FZ8",
        "lull, safeguards off settle: passed over 0 times, never ran again",
    ),
    *(
        one
        for name in ("on stock", "without reasons")
        for one in texts(
            f"thaw: FZ9 orders {name}",
            "FZ9",
            orders(NEVER),
            orders("busy ran though to be frozen, order cpCP after C"),
        )
    ),
    *texts("thaw: FZ9 left without reasons", "FZ9", orders(NEVER)),
    *texts(
        "thaw: FZ9 toggled without reasons",
        "FZ9",
        toggled("unix-stream never ran again"),
        toggled("busy ran though its cgroup is frozen"),
    ),
    *texts(
        "thaw: FZ9 beside without leave",
        "FZ9",
        beside(IN_PM, "pipe-read (never woke again)"),
    ),
    *texts("thaw: FZ9 beside without leave", "FZ8", beside("cgroup frozen", "udp")),
    *texts("thaw: FZ9 beside without pm-only", "FZ9", beside(IN_PM, "pipe-read")),
    *texts(
        "thaw: FZ12 spurious on stock",
        "FZ12",
        "stock: 13 kinds, returned with nothing: tcp; with EINTR: none",
        "stock: 13 kinds, returned with nothing: tcp; with EINTR: epoll",
    ),
    *texts(
        "zfree: ZS1 without pieces", "ZS4", at_rest(-4096, 0, 0), at_rest(0, 0, 4096)
    ),
    *texts("zfree: ZS1 without hold", "ZS4", at_rest(4096, 700, 0)),
    *(
        one
        for name in POOL
        for one in texts(
            f"zfree: {name}", "ZS4", at_rest(4096, 0, 4096), at_rest(0, -3, 0)
        )
    ),
    *texts(
        "zfree: ZS4 without settle",
        "ZS4",
        at_rest(-4096, -700, 0),
        at_rest(4096, 700, 8192),
        at_rest(0, 0, 0, zswap=3),
    ),
    *texts("zfree: ZS4 without settle", "ZS1", "lull: 9 areas out, 4 pages wrong"),
    *texts("zfree: ZS8 without destroy", "ZS8", waited("the device was reset", BELOW)),
    *texts(
        "zfree: ZS9 without limit", "ZS9", waited("bytes taken at the limit", 2359296)
    ),
    *texts("zfree: ZS9 without pressure", "ZS9", waited("memory was short", BELOW)),
]


def told(id: str, check: str, text: str) -> Result:
    bad = Check(case=0, name=check, ok=False, text=text)
    return judge(TRIALS[id], (bad,)).result


@pytest.mark.parametrize(("id", "check", "text"), SHOWN)
def test_each_way_in_which_a_fault_shows_is_taken(
    id: str, check: str, text: str
) -> None:
    assert told(id, check, text) is Result.PASS


@pytest.mark.parametrize(("id", "check", "text"), NOT_SHOWN)
def test_another_failure_of_the_same_check_is_not(
    id: str, check: str, text: str
) -> None:
    assert told(id, check, text) is Result.FAIL


#: Where a check that is bad has one thing to say, or any of it may be the fault's.
ANY_TEXT = {
    ("freeze: FZ5 without revisit", "FZ5"),
    ("freeze: FZ6 iii too early", "load"),
    ("thaw: FZ11 without victim", "victim"),
    ("thaw: FZ8 exiting without leave", "FZ8"),
    ("zfree: ZS1 without detach", "ZS4"),
    ("zfree: ZS11 without slot-lock", "ZS4"),
}


def test_few_take_any_text() -> None:
    found = {
        (trial.id, check)
        for trial in TRIALS.values()
        if trial.fault
        for check, pattern in trial.fault.checks.items()
        if not pattern
    }
    assert found == ANY_TEXT
