# SPDX-License-Identifier: GPL-2.0-only
"""Boots for a trial, until one of them says something."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lull.errors import GuestFailed, GuestPanic, LostVM, TimedOut, Unmet
from lull.host.files import cache_root, slug
from lull.kernels.record import Kernel
from lull.model import Check, Record
from lull.proof.faults import Ended, Result, judge
from lull.proof.trial import Size, Trial
from lull.runs.again import booted
from lull.runs.samples import parse_stream
from lull.vm.machine import RESULTS
from lull.vm.standby import Standby

#: Boots of a trial: who misses a fault by luck, or had no verdict, gets another.
TRIES = 6

#: Of these so many at most that hang or that the host has ended, which takes minutes.
DEAR = 3

#: What leaves the question open: another boot may answer it.
_OPEN = frozenset({Result.LUCKY, Result.NONE})


class Attempt(Record):
    """What came of a trial: the last boot's result, and all boots' number."""

    result: Result
    how: str
    tries: int
    seed: int
    seconds: float


async def attempt(
    trial: Trial,
    size: Size,
    seed: int,
    kernel: Kernel,
    folder: Path,
    say: Callable[[str], None] = lambda text: None,
    tries: int = TRIES,
    standby: Standby | None = None,
) -> Attempt:
    """Boot the trial up to ``tries`` times, with seeds from ``seed`` on, or resume
    ``standby``.

    What each boot leaves is below ``folder``. ``say`` is told why there is
    another one.
    """
    begun = time.monotonic()
    number = dear = 0
    while True:
        job = trial.job(size, seed + number)
        place = folder / f"boot-{number}"
        number += 1
        ended: Ended
        said: tuple[Check, ...] = ()
        try:
            done = await booted(
                kernel,
                job.cases,
                place,
                seed=job.seed,
                allow=trial.allow,
                seen=trial.seen,
                rooms=(trial.feature,),
                standby=standby,
                say=say,
            )
            ended = done.stream.checks
        except (GuestPanic, GuestFailed, LostVM, TimedOut) as error:
            ended = error
            said = _said(place)
        judged = judge(trial, ended, said)
        if judged.result is Result.NONE and not isinstance(ended, Unmet):
            dear += 1
        if judged.result not in _OPEN or number == tries or dear == DEAR:
            break
        say(f"{trial.id}: {judged.result} in boot {number}: {judged.how}")
    return Attempt(
        result=judged.result,
        how=judged.how,
        tries=number,
        seed=seed,
        seconds=round(time.monotonic() - begun, 1),
    )


def _said(place: Path) -> tuple[Check, ...]:
    """The checks of a boot that did not come to its end."""
    try:
        data = (place / RESULTS).read_bytes()
    except OSError:
        return ()
    return parse_stream(data).checks


def keep_failed(id: str, folder: Path) -> Path:
    """Keep what the boots of a trial have left, in place of the last; where."""
    kept = cache_root() / "failed" / slug(id)
    shutil.rmtree(kept, ignore_errors=True)
    with suppress(OSError):
        shutil.copytree(folder, kept)
    return kept
