# SPDX-License-Identifier: GPL-2.0-only
"""How many boots a trial gets, and with which seeds."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lull.errors import CannotRun, GuestFailed, LullError, TimedOut, Unmet
from lull.kernels.record import Kernel
from lull.model import Check
from lull.proof import attempt as attempt_module
from lull.proof.attempt import DEAR, TRIES, Attempt, attempt
from lull.proof.faults import Result
from lull.proof.trial import Size, Trial

COMMON = {"name": "A", "text": "", "feature": "f"}
CASES = [{"run": "w", "modes": "lull"}]
INTACT = Trial.model_validate({**COMMON, "cases": CASES, "checks": {"A": 1}})
BROKEN = Trial.model_validate(
    {**COMMON, "cases": CASES, "fault": {"checks": {"A": ""}}}
)
GOOD = Check(case=0, name="A", ok=True, text="fine")
BAD = Check(case=0, name="A", ok=False, text="left behind")


class Boots:
    """Ends boots in the way that is next, and notes their seeds and places."""

    def __init__(self, *ends: Check | LullError) -> None:
        self.ends = list(ends)
        self.seeds: list[int] = []
        self.rooms: set[tuple[str, ...]] = set()
        self.seen: list[re.Pattern[str] | None] = []

    async def booted(
        self, kernel: Kernel, cases: object, folder: Path, **more: Any
    ) -> object:
        self.seeds.append(more["seed"])
        self.rooms.add(more["rooms"])
        self.seen.append(more["seen"])
        end = self.ends.pop(0)
        if isinstance(end, LullError):
            raise end
        return SimpleNamespace(stream=SimpleNamespace(checks=(end,)))


def tried(
    trial: Trial, boots: Boots, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Attempt, list[str]]:
    monkeypatch.setattr(attempt_module, "booted", boots.booted)
    said: list[str] = []
    kernel = cast(Kernel, None)
    work = attempt(trial, Size.TEST, 5, kernel, folder, said.append)
    return asyncio.run(work), said


@pytest.mark.parametrize(
    ("trial", "ends", "result"),
    [
        (INTACT, [GOOD], Result.PASS),
        (INTACT, [BAD], Result.FAIL),
        (INTACT, [TimedOut("hang")], Result.FAIL),
        (INTACT, [GuestFailed("no")], Result.FAIL),
        (INTACT, [Unmet("nobody"), GOOD], Result.PASS),
        (INTACT, [Unmet("nobody"), BAD], Result.FAIL),
        (INTACT, [Unmet("nobody")] * TRIES, Result.NONE),
        (BROKEN, [BAD], Result.PASS),
        (BROKEN, [GOOD, BAD], Result.PASS),
        (BROKEN, [GOOD, TimedOut("slow"), BAD], Result.PASS),
        (BROKEN, [GOOD] * TRIES, Result.LUCKY),
        (BROKEN, [TimedOut("slow")] * DEAR, Result.NONE),
    ],
)
def test_only_an_open_question_gets_another_boot(
    trial: Trial,
    ends: list[Check | LullError],
    result: Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was to hold and did not is no matter of luck."""
    boots = Boots(*ends)
    done, said = tried(trial, boots, tmp_path, monkeypatch)
    assert (done.result, done.tries) == (result, len(ends))
    assert boots.seeds == [5 + n for n in range(len(ends))]
    assert boots.rooms == {("f",)}
    assert len(said) == len(ends) - 1


def test_a_boot_knows_the_report_that_it_is_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = {"checks": {"A": ""}, "kernel": ["sleep"]}
    shown = Trial.model_validate({**COMMON, "cases": CASES, "fault": fault})
    for trial in (INTACT, BROKEN, shown):
        boots = Boots(BAD)
        tried(trial, boots, tmp_path, monkeypatch)
        (seen,) = boots.seen
        if trial is shown:
            assert seen and seen.match("atomic sleep: in a lock")
            assert not seen.match("lockdep: in a lock")
        else:
            assert seen is None


def test_what_the_machine_lacks_is_no_verdict_of_a_boot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CannotRun):
        tried(INTACT, Boots(CannotRun("no QEMU")), tmp_path, monkeypatch)
