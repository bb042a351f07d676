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


def at_rest(more: int, compressed: int, used: int, zswap: int = 0) -> str:
    return (
        f"lull: at rest {more} bytes more, {compressed} compressed, {used} used,"
        f" 0 missed, {zswap} pages in zswap"
    )


def waited(what: str, after: int) -> str:
    return f"{what}: 512 objects waited, {after} after it"


#: A count that has gone below 0.
BELOW = 2**64 - 1


def texts(id: str, check: str, *all_of: str) -> list[tuple[str, str, str]]:
    return [(id, check, text) for text in all_of]


SHOWN = [
    *texts("zfree: ZS4 without settle", "ZS4", at_rest(1056768, 240013, 0)),
    *texts(
        "zfree: ZS5 without under-wb",
        "ZS5",
        "lull: 1 slots changed meanwhile, 1 pages wrong",
    ),
    *texts(
        "zfree: ZS9 without limit",
        "ZS9",
        waited("bytes taken at the limit", 0),
        waited("bytes taken at the limit", 262144),
        waited("bytes taken at the limit", 1703936),
    ),
    *texts("zfree: ZS9 without pressure", "ZS9", waited("memory was short", 512)),
    *texts(
        "zfree: ZS9 zswap without possible",
        "ZS9",
        "zswap at its limit of 9000 pages, 512 objects waited: 0 of 256 pages taken,"
        " 256 refused",
    ),
    *(
        (f"zfree: ZS9 full {name}", "ZS9", "one waits, and another is refused")
        for name in ("without limit", "shared without limit", "in place")
    ),
]

NOT_SHOWN = [
    *texts(
        "zfree: ZS4 without settle",
        "ZS4",
        at_rest(-4096, -700, 0),
        at_rest(4096, 700, 8192),
        at_rest(0, 0, 0, zswap=3),
    ),
    *texts("zfree: ZS4 without settle", "ZS1", "lull: 9 areas out, 4 pages wrong"),
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
