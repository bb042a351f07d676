# SPDX-License-Identifier: GPL-2.0-only
"""A run: kernels, boots, samples, and the folder that holds them.

The modes of a feature are interleaved inside each boot; a boot is a seed. The
untouched kernel boots with the same seeds where an expectation compares with
it (the A/A control).
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lull.ask.plan import PlannedBoot, Request, plan, repeat_command
from lull.errors import CannotRun, GuestFailed, LullError
from lull.host.files import repo_root, shown_path
from lull.host.process import run_alone
from lull.host.progress import Progress
from lull.host.resources import MB, available_mb, require_disk
from lull.kernels.build import build
from lull.kernels.record import Kernel
from lull.model import Arm, Clock, Sample, Summary
from lull.report import ablation, growth, histogram, published, thread_table
from lull.report.answer import answer
from lull.report.answer_text import render as render_answer
from lull.report.summary import RunMeta, summarise
from lull.report.table import THREAD_TABLE, render
from lull.runs.again import boot_again
from lull.runs.boot import MEMORY_MB, Boot, boot
from lull.runs.rundir import Env, RunDir, commit, host, kernel_facts
from lull.vm import machine
from lull.vm.accel import choose, qemu_version
from lull.vm.command import OVERHEAD_MB, Accel

#: What a run's folder may take, console logs included.
_NEED_DISK = 200 * MB


@dataclass(frozen=True)
class RunResult:
    """What came out: the summary, all tables as text, and where both are."""

    summary: Summary
    tables: str
    folder: Path


def run(request: Request, progress: Progress) -> RunResult:
    """Do all of it. What was measured is on disk after every boot.

    Raises what building and booting raise, and GuestFailed for a check that
    does not hold; the folder keeps the boots that were made before.
    """
    planned = plan(request)
    if not planned:
        raise CannotRun("there is nothing to measure", hint="lull list NAME")
    machine.require_qemu()
    kernels = {}
    # The untouched one first: the other starts from its objects.
    for arm in sorted({p.arm for p in planned}, key=list(Arm).index):
        progress.step(f"{request.base} {arm} kernel, built unless it was")
        kernels[arm] = build(request.base, arm, progress.update)
    accel = decide_accel(request.clock, kernels[Arm.LULL], progress)
    folder = RunDir.create(
        [f.name for f in request.features], request.clock, request.output
    )
    require_disk(folder.path, _NEED_DISK, "a run's folder", "-o DIR on another disk")
    env = _environment(request, kernels.values(), accel)
    folder.write_env(env)

    boots = run_alone(_boots(planned, kernels, request, accel, folder, progress))
    env = _seen(env, boots[0])
    samples = [sample for done in boots for sample in done.stream.samples]
    return _report(request, samples, env, folder)


def side_by_side(clock: Clock) -> int:
    """How many machines may run at once.

    Time is what one machine at a time measures. A count of instructions is
    the same whoever else runs, and such a machine keeps one processor busy.
    """
    if clock is Clock.WALL:
        return 1
    need = MEMORY_MB + OVERHEAD_MB
    free = available_mb() or need
    return max(1, min(os.cpu_count() or 1, free // need))


async def _boots(
    planned: Sequence[PlannedBoot],
    kernels: Mapping[Arm, Kernel],
    request: Request,
    accel: Accel,
    folder: RunDir,
    progress: Progress,
) -> list[Boot]:
    """All boots, in the order of the plan; the first that fails ends the rest."""
    places = asyncio.Semaphore(side_by_side(request.clock))

    async def one(number: int, item: PlannedBoot) -> Boot:
        async with places:
            progress.step(
                f"boot {number + 1} of {len(planned)}: {item.title}, "
                f"{request.clock} clock"
            )
            return await _one(item, kernels, request, accel, folder, number, progress)

    tasks = [asyncio.create_task(one(*pair)) for pair in enumerate(planned)]
    boots: list[Boot] = []
    try:
        for number, task in enumerate(tasks):
            done = await task
            _keep(folder, number, done)
            boots.append(done)
            _judge(done, folder.path, progress)
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        # What others had measured when one failed is not lost with it.
        for number, end in enumerate(ended[len(boots) :], len(boots)):
            if isinstance(end, Boot):
                _keep(folder, number, end)
    return boots


def _keep(folder: RunDir, number: int, done: Boot) -> None:
    folder.append(done.stream.samples)
    folder.add_recordings(number, done.stream.recordings)


def decide_accel(clock: Clock, kernel: Kernel, progress: Progress) -> Accel:
    """KVM for the wall clock where a guest runs under it; says why where not."""
    if clock is Clock.INSN:
        return "tcg"
    decision = choose(kernel.bzimage)
    progress.note(f"wall clock under {decision.accel}: {decision.reason}")
    return decision.accel


async def _one(
    item: PlannedBoot,
    kernels: Mapping[Arm, Kernel],
    request: Request,
    accel: Accel,
    folder: RunDir,
    number: int,
    progress: Progress,
) -> Boot:
    rounds = sum(len(case.order) for case in item.job.cases)
    seen = 0

    def line(data: bytes) -> None:
        nonlocal seen
        if data.startswith(b'{"t":"sample"'):
            seen += 1
            progress.update(f"seed {item.job.seed}", seen, max(rounds, seen))

    try:
        with folder.boot_folder(number, item.arm, item.job.seed) as place:

            async def start() -> Boot:
                return await boot(
                    kernels[item.arm],
                    item.job,
                    clock=request.clock,
                    accel=accel,
                    folder=place,
                    number=number,
                    on_line=line,
                    append=item.words,
                    parallel=item.parallel,
                )

            return await boot_again(start, progress.warn, parallel=item.parallel)
    except LullError as error:
        if not error.hint:
            error.hint = f"{shlex.join(repeat_command(request))} repeats the run"
        raise


def _judge(done: Boot, folder: Path, progress: Progress) -> None:
    bad = done.stream.bad
    if bad.count:
        progress.warn(f"{bad.count} result lines could not be read: {bad.first}")
    for check in done.stream.checks:
        if not check.ok:
            raise GuestFailed(f"{check.name}: {check.text}", where=str(folder))


def _report(
    request: Request, samples: list[Sample], env: Env, folder: RunDir
) -> RunResult:
    features = request.measured
    meta = RunMeta(
        base=request.base,
        kernel=env.kernels[Arm.LULL].version,
        clock=request.clock,
        accel=env.accel,
        cpus=env.cpus,
        quick=request.quick,
        modes=request.modes,
        control=request.control,
        native=request.native,
        absent=request.absent,
    )
    summary = summarise(features, samples, meta)
    if request.ablate:
        summary = ablation.with_shares(summary, features, samples)
    parts = [ablation.render(summary), render(summary, features)]
    for feature in features:
        total = [e.metric for e in feature.expectations][:1]
        lines = growth.slopes(feature, samples, request.clock, total)
        rounds = thread_table.rounds(s for s in samples if s.workload == THREAD_TABLE)
        parts += [growth.render(lines), thread_table.render(rounds, feature)]
    parts.append(published.render(summary, features))
    parts.append(histogram.render(samples, features))
    tables = "\n".join(part for part in parts if part)
    text = render_answer(answer([summary], features), [shown_path(folder.path)])
    folder.finish(summary, tables, text, env)
    return RunResult(summary, tables, folder.path)


def _environment(request: Request, kernels: Iterable[Kernel], accel: Accel) -> Env:
    return Env(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        base=request.base,
        clock=request.clock,
        accel=accel,
        cpus=0,
        seeds=request.seeds,
        features=tuple(f.name for f in request.features),
        quick=request.quick,
        kernels={str(kernel.arm): kernel_facts(kernel) for kernel in kernels},
        qemu=qemu_version(),
        commands=(tuple(repeat_command(request)),),
        commit=commit(repo_root()),
        host=host(),
    )


def _seen(env: Env, first: Boot) -> Env:
    """Complete the environment with what the first boot tells."""
    hello = first.stream.hello
    return env.model_copy(
        update={
            "cpus": hello.cpus if hello else 0,
            "qemu_command": first.outcome.command,
        }
    )
