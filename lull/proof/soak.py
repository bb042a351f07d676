# SPDX-License-Identifier: GPL-2.0-only
"""Tries of what is random, with new seeds, until the time is over."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from lull.host.files import repo_root
from lull.kernels.cache import Cache
from lull.kernels.record import Kernel
from lull.proof import repeat
from lull.proof.attempt import attempt, keep_failed
from lull.proof.faults import Result
from lull.proof.key import key_of, parts_of
from lull.proof.ledger import Count, Ledger, count, entry
from lull.proof.store import Store
from lull.proof.trial import Size, Trial
from lull.vm.standby import Standby

#: Above the seeds that anybody names; of ten years of seconds.
_SEEDS = range(10**4, 3 * 10**8)


@dataclass
class Soaked:
    """What a soak came to: attempts by result, and what failed."""

    tries: int = 0
    failed: list[str] = field(default_factory=list)
    without: int = 0  #: of these no boot had a verdict


def soakable(found: Iterable[Trial]) -> tuple[Trial, ...]:
    """Those that have to hold, and try something else with another seed."""
    return tuple(t for t in found if t.random and t.fault is None)


def counts(found: Iterable[Trial], base: str) -> tuple[Count, ...]:
    """The ledger by trial, as the checkout is now."""
    root = repo_root()
    current = {t.id: key_of(parts_of(t, Size.PROOF, base, root)) for t in found}
    return count(Ledger().lines(), current, base)


async def soak(
    found: tuple[Trial, ...],
    kernels: Mapping[str, Kernel],
    standbys: Mapping[str, Standby | None],
    base: str,
    minutes: float,
    say: Callable[[str], None],
) -> Soaked:
    """Try those of ``found`` that were tried least, as many at once as CPUs.

    ``kernels`` are by arm, and so are the machines that
    stand by. What has begun when the time is over comes to its end.
    Every attempt is in the ledger when the next one begins, and so is who has come
    back when Ctrl-C or SIGTERM ends all.
    """
    until = time.monotonic() + 60 * minutes
    draw = random.SystemRandom()
    tried = {one.id: one.now for one in counts(found, base)}
    # Of the kernels that are booted, whatever is edited meanwhile.
    root = repo_root()
    tried_parts = {t.id: parts_of(t, Size.PROOF, base, root) for t in found}
    soaked = Soaked()

    async def one(trial: Trial) -> None:
        seed = draw.choice(_SEEDS)
        with Cache().temp("soak") as folder:
            kernel = kernels[trial.arm]
            done = await attempt(
                trial, Size.PROOF, seed, kernel, folder, standby=standbys[trial.arm]
            )
            Ledger().add(entry(trial, base, tried_parts[trial.id], done))
            soaked.tries += done.tries
            if done.result is Result.FAIL:
                failed = repeat.last_seed(done)
                words = repeat.command(
                    trial,
                    repeat.file_of(trial, root),
                    Size.PROOF,
                    base,
                    failed,
                    boot_each=False,
                )
                _doubt(trial, base, failed)
                kept = keep_failed(f"{trial.id} {failed}", folder)
                where = f"{trial.id}, seed {failed}"
                soaked.failed.append(f"{where}: {kept}\n  again: {words}")
                say(f"FAILED: {where}: {done.how}\n  again: {words}")
            elif done.result is not Result.PASS:
                soaked.without += 1

    async def worker() -> None:
        while time.monotonic() < until:
            trial = min(found, key=lambda t: tried[t.id])
            tried[trial.id] += 1
            say(f"{trial.id}: try {tried[trial.id]}")
            await one(trial)

    places = os.cpu_count() or 1
    try:
        with _sigterm_cancels():
            async with asyncio.TaskGroup() as group:
                for _ in range(places):
                    group.create_task(worker())
    except ExceptionGroup as errors:
        # The first has ended the others; who called knows what to do with one.
        raise errors.exceptions[0] from errors
    return soaked


@contextmanager
def _sigterm_cancels() -> Iterator[None]:
    """While in here SIGTERM cancels the task that we are in, as asyncio has Ctrl-C do;
    then SystemExit(143).

    Raised where it comes, it would get between a try that has come back and its count,
    and asyncio prints what is raised in a task while it ends the others.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGTERM)
    main = threading.current_thread() is threading.main_thread()
    if task is None or not main or before in (signal.SIG_IGN, None):
        yield
        return
    told = False

    def tell(signum: int, frame: FrameType | None) -> None:
        nonlocal told
        told = True
        task.cancel()
        # It may sleep until a guest has something to say.
        loop.call_soon_threadsafe(lambda: None)

    signal.signal(signal.SIGTERM, tell)
    try:
        yield
    except asyncio.CancelledError:
        if not told:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if told:
        raise SystemExit(128 + signal.SIGTERM)


def _doubt(trial: Trial, base: str, seed: int) -> None:
    """Have the next session of tests begin with that seed."""
    name = repeat.verdict_name(base, trial)
    repeat.doubt(Store(), trial, name, Size.PROOF, seed, boot_each=False)
