# SPDX-License-Identifier: GPL-2.0-only
"""The step ``sleep-hooks``: what systemd did around the last suspend. Pure.

Lines ``hook PATH``, and the journal's JSON of systemd's own messages, whose IDs are
those of sd-messages.h.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lull.doctor.bundle import number

_SLEEP = "6bbd95ee977941e497c48be27c254128"
_AWAKE = "8811e6df2a8e40f58a94cea26f8ebf14"
#: What begins a job of a unit, and what may end it.
_STARTING = "7d4958e842da4a758f6c1cdc7b36dcc5"
_STOPPING = "de5b426a63be47a7b6ac3eaac82e2f6f"
_ENDS = {
    "39f53479d3a045ac8e11786248231fbf": _STARTING,
    "be02cf6855d2428ba40df7e9d022f03d": _STARTING,
    "9d1aaa27d60140bd96365438aad20286": _STOPPING,
}
_UNIT = re.compile(
    r"^systemd-(?:suspend|hibernate|hybrid-sleep|suspend-then-hibernate)\.service$"
)
#: Who ended so shortly before the next one began was waited for by it.
_TOUCH_US = 50_000
#: What begins later after the end of a suspend is not of it.
_AFTER_US = 2_000_000
_MOST = 50


@dataclass(frozen=True)
class UnitRun:
    """A unit that started, or stopped, and the milliseconds that it took."""

    unit: str
    what: str
    ms: float


@dataclass(frozen=True)
class SleepHooks:
    """The last suspend of the journal, in milliseconds; None where it has no end.

    ``before_ms`` is from the first unit that it waited for to the sleep, ``pre_ms``
    the last of it, systemd-sleep with the hooks; ``post_ms`` is from the end of sleep
    to the end of that. Hooks run at once, so that no hook has a time of its own.
    """

    at: int
    state: str
    before_ms: float
    pre_ms: float
    post_ms: float | None
    before: tuple[UnitRun, ...]
    after: tuple[UnitRun, ...]
    hooks: tuple[str, ...]


@dataclass(frozen=True)
class _Said:
    at: int
    id: str
    unit: str
    state: str


@dataclass(frozen=True)
class _Job:
    unit: str
    id: str
    begin: int
    end: int

    def run(self) -> UnitRun:
        what = "starts" if self.id == _STARTING else "stops"
        return UnitRun(self.unit, what, (self.end - self.begin) / 1e3)


def read_hooks(text: str) -> SleepHooks | None:
    """None where the journal has no sleep that systemd made."""
    hooks = tuple(
        line.removeprefix("hook\t")
        for line in text.splitlines()
        if line.startswith("hook\t")
    )
    said = _records(text.splitlines())
    sleeps = [n for n, each in enumerate(said) if each.id == _SLEEP]
    if not sleeps:
        return None
    asleep = said[sleeps[-1]]
    jobs = _jobs(said)
    mine = next(
        (s for s in reversed(said[: sleeps[-1]]) if _of_sleep(s) and s.id == _STARTING),
        asleep,
    )
    begin, before = _waited_for(jobs, mine.at)
    awake = next((s.at for s in said[sleeps[-1] :] if s.id == _AWAKE), None)
    done = next(
        (s.at for s in said[sleeps[-1] :] if _of_sleep(s) and s.id in _ENDS), None
    )
    after: tuple[UnitRun, ...] = ()
    if awake is not None and done is not None:
        after = tuple(
            job.run()
            for job in jobs
            if awake <= job.begin <= done + _AFTER_US and not _UNIT.match(job.unit)
        )
    return SleepHooks(
        at=asleep.at // 1_000_000,
        state=asleep.state,
        before_ms=(asleep.at - begin) / 1e3,
        pre_ms=(asleep.at - mine.at) / 1e3,
        post_ms=(done - awake) / 1e3 if awake and done and done >= awake else None,
        before=before[:_MOST],
        after=after[:_MOST],
        hooks=hooks[:_MOST],
    )


def _records(lines: Iterable[str]) -> list[_Said]:
    """In the order of time: the sender's where the journal has it, else when it came.

    Both ends of each interval lie on one side of the sleep: the clock that goes on in
    it is good enough."""
    found = []
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue

        def text(name: str, fields: dict[str, object] = fields) -> str:
            value = fields.get(name)
            return value if isinstance(value, str) else ""

        at = number(text("_SOURCE_REALTIME_TIMESTAMP"))
        at = at or number(text("__REALTIME_TIMESTAMP"))
        if at > 0:
            found.append(_Said(at, text("MESSAGE_ID"), text("UNIT"), text("SLEEP")))
    return sorted(found, key=lambda each: each.at)


def _of_sleep(said: _Said) -> bool:
    return _UNIT.match(said.unit) is not None


def _jobs(said: Sequence[_Said]) -> list[_Job]:
    """Those that have both ends; of two begins without an end the later one counts."""
    begun: dict[tuple[str, str], int] = {}
    found = []
    for each in said:
        if not each.unit:
            continue
        if each.id in (_STARTING, _STOPPING):
            begun[each.unit, each.id] = each.at
        elif each.id in _ENDS:
            key = each.unit, _ENDS[each.id]
            if key in begun:
                found.append(_Job(*key, begun.pop(key), each.at))
    return found


def _waited_for(jobs: Sequence[_Job], start: int) -> tuple[int, tuple[UnitRun, ...]]:
    """When the first of a chain of jobs began, each of which ended as the next one, or
    at last systemd-suspend.service, began; and all that ran from then on."""
    begin = start
    while True:
        ended = [j.begin for j in jobs if 0 <= begin - j.end <= _TOUCH_US]
        if not ended or min(ended) >= begin:
            break
        begin = min(ended)
    ran = [job for job in jobs if begin <= job.begin and job.end <= start]
    return begin, tuple(job.run() for job in sorted(ran, key=lambda j: j.begin - j.end))
