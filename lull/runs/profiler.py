# SPDX-License-Identifier: GPL-2.0-only
"""The profile instrument: boots a workload with the plugin that counts."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.ask.catalog import check_mode, check_side, check_workload, full_params
from lull.ask.job import STOCK
from lull.ask.steps import is_set, sets_of
from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.host.process import run_alone
from lull.host.progress import Progress
from lull.kernels.build import build
from lull.kernels.record import Kernel
from lull.model import UNTOUCHED, Arm, Case, Clock, Feature, Job, Value
from lull.report.counted import counted, keep
from lull.report.profile import Profile, parse, render
from lull.runs.boot import boot
from lull.runs.experiment import side_by_side
from lull.runs.rundir import ENV
from lull.vm import machine
from lull.vm.accel import qemu_version
from lull.vm.plugin_build import build_plugin
from lull.vm.probe_build import build_probe

MARKS = ("mark_begin", "mark_end")


@dataclass(frozen=True)
class ProfileRequest:
    """What to profile; ``vs`` is a mode to compare with, ``UNTOUCHED`` for a
    kernel without Lull, or None."""

    feature: Feature
    workload: str
    mode: str
    vs: str | None
    base: str
    params: Mapping[str, Value]
    rounds: int = 2
    seed: int = 1
    top: int = 25
    into: Path | None = None  #: a run's folder that keeps it, for the page


def profile(request: ProfileRequest, progress: Progress) -> str:
    """Boot each side once and return the table.

    Raises UsageError for unknown names and folders, and what building and
    booting raise.
    """
    if request.into is not None and not (request.into / ENV).is_file():
        raise UsageError(
            f"no folder of a run: {request.into}", hint="name one below runs/"
        )
    of, vs = profiles(request, progress)
    feature = request.feature
    params = full_params(feature, request.workload, request.params)
    work = feature.workloads[request.workload].work
    words = " ".join(f"{name}={value}" for name, value in params.items())
    title = f"{feature.name} {request.workload} {words}, kernel {of.kernel}"
    unit = f"unit of {work}" if work else "round"
    if request.into is not None:
        keep(request.into, counted(of, vs, title, unit))
    return render(of, vs, title, unit, request.top)


def profiles(
    request: ProfileRequest, progress: Progress
) -> tuple[Profile, Profile | None]:
    """What ``profile`` prints: of the mode, and of the one it is compared with."""
    feature = request.feature
    check_workload(feature, request.workload)
    sides = [request.mode]
    if not is_set(request.mode):
        check_mode(feature, request.mode)
    if request.vs is not None:
        if request.vs == request.mode:
            raise UsageError(
                f"{request.mode} to itself: nothing to compare",
                hint=f"--vs {STOCK}" if request.mode != STOCK else f"--vs {UNTOUCHED}",
            )
        sides.append(request.vs)
        if not is_set(request.vs):
            check_side(feature, request.vs)
    # Before anything is built: whether there are such steps.
    sets_of(feature, sides)
    machine.require_qemu()
    kernels = {}
    # The untouched one first: the other starts from its objects.
    for arm in sorted({_arm(side) for side in sides}, key=list(Arm).index):
        progress.step(f"{request.base} {arm} kernel, built unless it was")
        kernels[arm] = build(request.base, arm, progress.update)
    progress.step(f"{' and '.join(sides)}, under the plugin")
    found = run_alone(_boots(request, sides, kernels))
    return found[0], found[1] if len(found) > 1 else None


def _arm(side: str) -> Arm:
    return Arm.STOCK if side == UNTOUCHED else Arm.LULL


async def _boots(
    request: ProfileRequest, sides: Sequence[str], kernels: Mapping[Arm, Kernel]
) -> list[Profile]:
    places = asyncio.Semaphore(side_by_side(Clock.INSN))

    async def one(side: str) -> Profile:
        async with places:
            with tempfile.TemporaryDirectory(prefix="lull-profile-") as name:
                return await _boot(request, side, kernels[_arm(side)], Path(name))

    return await asyncio.gather(*(one(side) for side in sides))


async def _boot(
    request: ProfileRequest, side: str, kernel: Kernel, folder: Path
) -> Profile:
    out = folder / "profile.txt"
    mode = STOCK if side == UNTOUCHED else side
    case = Case(
        feature=request.feature.name,
        workload=request.workload,
        params=request.params,
        order=(mode,) * request.rounds,
        steps=sets_of(request.feature, (mode,)),
    )
    done = await boot(
        kernel,
        Job(seed=request.seed, cases=(case,)),
        clock=Clock.INSN,
        accel="tcg",
        folder=folder / "boot",
        plugin=plugin_option(repo_root(), kernel, out),
    )
    text = out.read_text("utf-8") if out.exists() else ""
    windows, functions = parse(text, str(out))
    if windows != request.rounds:
        raise LabError(
            f"the workload passed its marks {windows} times in {request.rounds} rounds",
            where=f"{request.feature.name} {request.workload}",
            hint="a workload that can be profiled calls mark_begin() and mark_end()",
        )
    metric = request.feature.workloads[request.workload].work
    units = sum(s.metrics[metric] for s in done.stream.samples) if metric else windows
    return Profile(side, kernel.version, windows, units, functions)


def plugin_option(root: Path, kernel: Kernel, out: Path) -> str:
    """What ``-plugin`` takes, with the plugin and the probe built."""
    begin, end = mark_addresses(build_probe(root))
    plugin = build_plugin(root, qemu_version())
    words = {
        "symbols": kernel.system_map,
        "begin": hex(begin),
        "end": hex(end),
        "out": out,
    }
    return ",".join([str(plugin), *(f"{name}={word}" for name, word in words.items())])


def mark_addresses(probe: Path) -> tuple[int, int]:
    """Where the two marks are in a probe, which is not relocated."""
    done = subprocess.run(
        ["nm", "-P", str(probe)], capture_output=True, text=True, check=True
    )
    found = {
        words[0]: int(words[2], 16)
        for words in (line.split() for line in done.stdout.splitlines())
        if words and words[0] in MARKS
    }
    if len(found) != len(MARKS):
        raise LabError("the probe has no marks", where=str(probe))
    return found[MARKS[0]], found[MARKS[1]]
