# SPDX-License-Identifier: GPL-2.0-only
"""A run of real programs: an image, its boots, and the folder of any run.

A scenario that fails ends its own boots and no other's; the run says so at its end.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lull.ask.job import job_text
from lull.deb import build as builder
from lull.deb.flavour import Flavour
from lull.deb.tools import build_tools
from lull.errors import CannotRun, LullError
from lull.guest.boot import Start, boot, bytes_of, guest_command
from lull.guest.image import Image, base_image
from lull.guest.installed import find_packages, installed
from lull.host.files import repo_root, shown_path
from lull.host.progress import Progress
from lull.host.resources import MB, require_disk
from lull.kernels.cache import Cache
from lull.kernels.record import sha256
from lull.model import Arm, Clock, Hello, Sample, Summary
from lull.real import plan as asked
from lull.real.catalog import MEASURE, more
from lull.real.plan import Planned, Request, repeat_command
from lull.real.programs import DRIVER, files_of
from lull.real.said import (
    Failure,
    differences,
    failed,
    left_out,
    named,
    samples_of,
    stream_of,
)
from lull.report.answer import DEBIAN, answer
from lull.report.answer_text import render as render_answer
from lull.report.summary import RunMeta, case_name, summarise
from lull.report.table import render
from lull.runs.rundir import Env, KernelFacts, RunDir, commit, host
from lull.vm.accel import choose, qemu_version
from lull.vm.command import PLACEHOLDERS
from lull.vm.machine import RESULTS, require_qemu
from lull.vm.timeouts import host_factor

PACKAGES = "packages.txt"  #: in the run's folder: versions of all in the guest

#: Of the time that a boot has: after that the guest itself says what hangs.
_SAID_BY = 0.8
_NEED_DISK = 400 * MB  #: of the run's folder, and of a boot's scratch


@dataclass(frozen=True)
class ScenariosRun:
    """What came out; ``failures`` are of scenarios that did not come to their end."""

    summary: Summary
    tables: str
    folder: Path
    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class _Guest:
    """What all boots start, and what its list of packages says."""

    start: Start
    listed: str
    release: str

    @classmethod
    def of(cls, image: Image) -> _Guest:
        listed = image.packages.read_text("utf-8")
        start = Start(image.kernel, image.initrd, image.disk)
        return cls(start, listed, asked.release(listed))


@dataclass(frozen=True)
class _Boot:
    """One boot: which it is, and of which guest."""

    request: Request
    guest: _Guest
    item: Planned
    number: int


@dataclass
class _Run:
    """What has been measured so far."""

    folder: RunDir
    samples: list[Sample] = field(default_factory=list)
    failures: dict[str, Failure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    hello: Hello | None = None

    def note(self, text: str) -> None:
        """Once, however many boots say so."""
        if text not in self.notes:
            self.notes.append(text)


def measure(request: Request, progress: Progress) -> ScenariosRun:
    """Do all of it. What was measured is on disk after every boot.

    Raises CannotRun, what building an image raises, and ScenarioFailed where nothing
    at all was measured.
    """
    planned = asked.plan(request)
    if not planned:
        raise CannotRun("there is nothing to measure", hint="lull guest scenarios")
    require_qemu()
    image = image_of(request, progress)
    accel = "tcg"
    if request.clock is Clock.WALL:
        decision = choose(image.kernel)
        accel = decision.accel
        progress.note(f"wall clock under {decision.accel}: {decision.reason}")
    names = [one.name for one in request.scenarios]
    run = _Run(RunDir.create(names, request.clock, request.output))
    require_disk(run.folder.path, _NEED_DISK, "a run's folder", "-o DIR")
    guest = _Guest.of(image)
    env = _environment(request, guest, accel)
    run.folder.write_env(env)
    shutil.copyfile(image.packages, run.folder.path / PACKAGES)
    for number, item in enumerate(planned):
        if item.scenario.name not in run.failures:
            progress.step(
                f"boot {number + 1} of {len(planned)}: {item.title}, "
                f"{request.clock} clock"
            )
            before = len(run.notes)
            _one(run, _Boot(request, guest, item, number))
            for note in run.notes[before:]:
                progress.note(note)
    return _report(request, run, env, accel)


def image_of(request: Request, progress: Progress) -> Image:
    """The guest's disk: with Lull's kernel installed, or as Debian has it."""
    cache = Cache()
    cache.prepare()
    if request.bare:
        return base_image(cache, progress, more=more())
    if request.packages is not None:
        return installed(cache, find_packages(request.packages), progress, more())
    made = builder.build(request.base, Flavour.CLOUD, progress)
    debs = [made.directory / name for name in made.files]
    with tempfile.TemporaryDirectory(prefix="lull-tools-") as name:
        debs.append(build_tools(Path(name)))
        return installed(cache, debs, progress, more())


def _one(run: _Run, of: _Boot) -> None:
    """A boot, and on insn the first of a scenario's once more: is it the same?"""
    request, item = of.request, of.item
    name, seed = item.scenario.name, item.job.seed
    try:
        first = _boot(run, of)
        run.folder.append(first)
        run.samples += first
        if request.clock is Clock.INSN and seed == request.seeds[0]:
            again = _boot(run, of)
            other = differences(first, again)
            run.note(
                f"{name}, seed {seed}, booted twice: "
                + (
                    f"not the same in {', '.join(other)}"
                    if other
                    else "every sample is the same to the last digit"
                )
            )
    except LullError as error:
        run.failures[name] = Failure(name, error)


def _boot(run: _Run, of: _Boot) -> tuple[Sample, ...]:
    one, seed = of.item.scenario, of.item.job.seed
    start = asked.start_of(one, of.guest.start, of.request.clock, seed)
    with (
        run.folder.boot_folder(of.number, Arm.LULL, seed) as place,
        tempfile.TemporaryDirectory(prefix="lull-plan-") as scratch,
    ):
        texts = {
            "plan": job_text(of.item.job),
            "release": f"{of.guest.release}\n",
            "versions": asked.versions(of.guest.listed, one),
            "limit": f"{_limit_s(of):.0f}\n",
        }
        for name, text in texts.items():
            (Path(scratch) / name).write_text(text, "utf-8")
        files = {**files_of(one), **{name: Path(scratch) / name for name in texts}}
        driver = (repo_root() / DRIVER).read_text("utf-8")
        try:
            boot(start, driver, place, files, one.guest.limit_s)
        except LullError as error:
            stream = stream_of(bytes_of(place / RESULTS), boot=of.number, seed=seed)
            raise named(error, stream, one.name) from error
        data = bytes_of(place / RESULTS)
        stream, left = stream_of(data, boot=of.number, seed=seed), left_out(data)
        run.hello = run.hello or stream.hello
        for number, why in left.items():
            case = of.item.job.cases[number]
            name = f"{one.name}, {case_name(case.workload, case.params)}"
            run.note(f"{name}: left out, {why}")
        return samples_of(stream, of.item.job, str(place), left=left)


def _limit_s(of: _Boot) -> float:
    """The same for each boot on insn, where the guest's time is no host's."""
    wall = of.request.clock is Clock.WALL
    return of.item.scenario.guest.limit_s * _SAID_BY * (host_factor() if wall else 1)


def _report(request: Request, run: _Run, env: Env, accel: str) -> ScenariosRun:
    failures = tuple(run.failures.values())
    others = [one.name for one in request.scenarios if one.name not in run.failures]
    if not run.samples:
        raise failed(failures, others)
    hello = run.hello
    features = [one.feature for one in request.scenarios]
    meta = RunMeta(
        base=env.base,
        kernel=hello.kernel if hello else "unknown",
        clock=request.clock,
        accel=accel,
        cpus=hello.cpus if hello else 0,
        quick=request.quick,
        modes=request.modes,
        control=False,
    )
    summary = summarise(features, run.samples, meta)
    said = [*run.notes, *(f"failed: {failure.error}" for failure in failures)]
    tables = "\n".join([render(summary, features), *said, ""])
    found = answer([summary], features, run=MEASURE, seeds=asked.BOOTS)
    text = render_answer(found, [shown_path(run.folder.path)])
    env = env.model_copy(update={"cpus": meta.cpus})
    run.folder.finish(summary, tables, text, env)
    return ScenariosRun(summary, tables, run.folder.path, failures)


def _environment(request: Request, guest: _Guest, accel: str) -> Env:
    one, seed = request.scenarios[0], request.seeds[0]
    start = asked.start_of(one, guest.start, request.clock, seed)
    return Env(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        base=DEBIAN if request.bare else request.base,
        clock=request.clock,
        accel=accel,
        cpus=0,
        seeds=request.seeds,
        features=tuple(one.name for one in request.scenarios),
        quick=request.quick,
        kernels={
            str(Arm.LULL): KernelFacts(
                arm=Arm.LULL, version=guest.release, digest=sha256(guest.start.kernel)
            )
        },
        qemu=qemu_version(),
        qemu_command=tuple(guest_command(start, PLACEHOLDERS, Path("JOB"))),
        commands=(tuple(repeat_command(request)),),
        commit=commit(repo_root()),
        host=host(),
    )
