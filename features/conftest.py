# SPDX-License-Identifier: GPL-2.0-only
"""Boots of the debug kernel, for the safety tests of all features."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from features.boots import BROKEN, TRIES, Boots, Outcome, boot_cases, is_seen
from lull.errors import LullError, TimedOut
from lull.kernels.build import build
from lull.kernels.record import Kernel
from lull.model import Arm, Case, Check
from lull.vm.process import run_alone


@pytest.fixture(scope="session")
def debug_kernel() -> Kernel:
    """Built once, unless it was."""
    return build("6.12", Arm.DEBUG)


@pytest.fixture
def run_debug(debug_kernel: Kernel, tmp_path: Path) -> Callable[..., tuple[Check, ...]]:
    """Run cases in one boot, all of which hold, and return the verdicts."""

    def run(*cases: Case) -> tuple[Check, ...]:
        done = run_alone(boot_cases(debug_kernel, cases, tmp_path))
        said = "\n".join(check.text for check in done.stream.checks)
        assert done.stream.ok, said
        return done.stream.checks

    return run


@pytest.fixture
def run_kcsan(tmp_path: Path) -> Callable[..., tuple[Check, ...]]:
    """Run cases on the kernel that watches for data races, and return the verdicts.

    A report in a function that the pattern ``about`` finds fails the boot, unless
    one of ``known`` finds it, too. Others are left to the kernel: it has races of
    its own in timers, workqueues and statistics, which come by chance.
    """

    def run(*cases: Case, about: str, known: Sequence[str] = ()) -> tuple[Check, ...]:
        kernel = build("6.12", Arm.KCSAN)
        allow = (rf"KCSAN: data-race in (?!.*({about}))", *known)
        done = run_alone(boot_cases(kernel, cases, tmp_path, allow=allow))
        assert "kcsan: enabled" in (tmp_path / "console.log").read_text("utf-8")
        return done.stream.checks

    return run


@pytest.fixture(scope="session")
def run_boots(debug_kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Boots:
    """Run a boot for each name, side by side, and return how each ended."""
    folder = tmp_path_factory.mktemp("boots")

    async def one(
        places: asyncio.Semaphore, name: str, cases: tuple[Case, ...]
    ) -> Outcome:
        async with places:
            try:
                done = await boot_cases(debug_kernel, cases, folder / name)
            except LullError as error:
                return error
        return done.stream.checks

    async def seen(
        places: asyncio.Semaphore, name: str, cases: tuple[Case, ...]
    ) -> Outcome:
        outcome = await one(places, name, cases)
        for again in range(1, TRIES if name.endswith(BROKEN) else 1):
            # A fault that makes the guest hang is no proof: it may be slow.
            hangs = isinstance(outcome, TimedOut)
            if not hangs and (isinstance(outcome, LullError) or is_seen(outcome)):
                break
            warnings.warn(f"{name}: not seen by boot {again}", stacklevel=1)
            outcome = await one(places, f"{name} {again + 1}", cases)
        return outcome

    async def gather(jobs: Mapping[str, tuple[Case, ...]]) -> dict[str, Outcome]:
        # One more than CPUs: a guest that hangs, to be seen to, needs none for minutes.
        places = asyncio.Semaphore((os.cpu_count() or 1) + 1)
        found = await asyncio.gather(*(seen(places, *job) for job in jobs.items()))
        return dict(zip(jobs, found, strict=True))

    return lambda jobs: run_alone(gather(jobs))
