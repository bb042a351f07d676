# SPDX-License-Identifier: GPL-2.0-only
"""Boots of the debug kernel, for the safety tests of all features."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from features.boots import Boots, Outcome, boot_cases
from lull.errors import LullError
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

    async def gather(jobs: Mapping[str, tuple[Case, ...]]) -> dict[str, Outcome]:
        places = asyncio.Semaphore(os.cpu_count() or 1)
        found = await asyncio.gather(*(one(places, *job) for job in jobs.items()))
        return dict(zip(jobs, found, strict=True))

    return lambda jobs: run_alone(gather(jobs))
