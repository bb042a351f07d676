# SPDX-License-Identifier: GPL-2.0-only
"""What a run of real programs is going to do: its boots, and files for each. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.ask.catalog import check_mode, check_workload
from lull.ask.job import job_text, jobs
from lull.errors import LabError, UsageError
from lull.guest.boot import Start, guest_command
from lull.guest.image import newest_kernel
from lull.model import Clock, Feature, Job
from lull.real.catalog import Scenario
from lull.vm.command import PLACEHOLDERS

#: Boots, by clock and ``quick``. A boot takes minutes; on wall each of its blocks of
#: rounds counts, on insn only the boot does.
BOOTS = {
    (Clock.INSN, True): 1,
    (Clock.INSN, False): 6,
    (Clock.WALL, True): 1,
    (Clock.WALL, False): 4,
}

YEARS = 4 * 365 * 24 * 3600  #: seconds, that the guest's date is after the lab's


@dataclass(frozen=True)
class Request:
    """What to measure, as lull.ask.plan.Request. ``bare``: on Debian's own kernel, in
    the modes that need no Lull; else ``packages`` is a folder of ``lull kernel deb``,
    None for what the lab builds."""

    scenarios: tuple[Scenario, ...]
    base: str
    clock: Clock
    quick: bool
    seeds: tuple[int, ...]
    modes: tuple[str, ...] | None = None
    workloads: tuple[str, ...] | None = None  #: what the scenarios were cut down to
    bare: bool = False
    packages: Path | None = None
    output: Path | None = None


@dataclass(frozen=True)
class Planned:
    """One boot of a scenario."""

    scenario: Scenario
    job: Job

    @property
    def title(self) -> str:
        """``containers, seed 3``."""
        return f"{self.scenario.name}, seed {self.job.seed}"


def plan(request: Request) -> tuple[Planned, ...]:
    """The boots in their order: seeds in turns, as a host's drift meets all.

    Raises UsageError for a mode that a scenario does not have, or that needs Lull
    where there is none.
    """
    found = []
    once = request.clock is Clock.INSN
    for seed in request.seeds:
        for one in request.scenarios:
            for job in jobs(
                [_once(one.feature) if once else one.feature],
                seeds=[seed],
                quick=request.quick,
                clock=request.clock,
                modes=modes_of(one, request),
            ):
                found.append(Planned(one, job))
    return tuple(found)


def _once(feature: Feature) -> Feature:
    """With one round of each mode: a boot counts once on insn, however many it has."""
    cases = tuple(case.model_copy(update={"rounds": 1}) for case in feature.cases)
    return feature.model_copy(update={"cases": cases})


def modes_of(one: Scenario, request: Request) -> tuple[str, ...] | None:
    """The modes that are asked for; None is all."""
    for name in request.modes or ():
        check_mode(one.feature, name)
        if request.bare and name not in one.guest.bare:
            raise UsageError(
                f"mode {name!r} of {one.name} needs a kernel with Lull",
                hint=f"without it there is: {', '.join(one.guest.bare)}",
            )
    if request.modes is not None:
        return request.modes
    return one.guest.bare if request.bare else None


def only(one: Scenario, workloads: Sequence[str] | None) -> Scenario:
    """Cut down to these workloads. Raises UsageError for one that it does not have."""
    if workloads is None:
        return one
    for name in workloads:
        check_workload(one.feature, name)
    left = {
        "cases": tuple(c for c in one.feature.cases if c.workload in workloads),
        "expectations": tuple(
            e for e in one.feature.expectations if e.workload in workloads
        ),
    }
    return Scenario(one.room, one.feature.model_copy(update=left), one.guest)


def versions(listed: str, scenario: Scenario) -> str:
    """Of an image's list of packages, those that the scenario is about, a line each."""
    there = dict(line.split("\t", 1) for line in listed.splitlines() if "\t" in line)
    missing = [name for name in scenario.guest.packages if name not in there]
    if missing:
        raise LabError(
            f"the guest's image is another one: it has no {', '.join(missing)}",
            where=scenario.name,
            hint="lull guest measure makes the image that it needs",
        )
    return "".join(f"{name} {there[name]}\n" for name in scenario.guest.packages)


def release(listed: str) -> str:
    """The kernel that an image boots, as uname -r has it. Raises LabError."""
    names = [line.split("\t")[0] for line in listed.splitlines()]
    start = "linux-image-"
    found = [n.removeprefix(start) for n in names if n.startswith(start)]
    kernels = [name for name in found if name[:1].isdigit()]
    return newest_kernel([p + k for k in kernels for p in ("vmlinuz-", "initrd.img-")])


def start_of(one: Scenario, image: Start, clock: Clock, seed: int) -> Start:
    """The machine of a boot. Its date is a later one than the lab's others have:
    systemd sets a clock that is before its own release, whatever the seed."""
    return Start(
        image.kernel,
        image.initrd,
        image.disk,
        clock=clock,
        seed=YEARS + seed,
        memory_mb=one.guest.memory_mb,
    )


def describe(request: Request) -> list[str]:
    """The boots that a run would make, as text; nothing is done."""
    planned = plan(request)
    image = Start(Path("KERNEL"), Path("INITRD"), Path("DISK"))
    lines = []
    for number, item in enumerate(planned):
        lines.append(
            f"# boot {number + 1} of {len(planned)}: {item.title}, "
            f"{request.clock} clock, with this job:"
        )
        lines += [f"#   {line}" for line in job_text(item.job).splitlines()]
        start = start_of(item.scenario, image, request.clock, item.job.seed)
        words = guest_command(start, PLACEHOLDERS, Path("JOB"), "tcg")
        lines.append(shlex.join(words))
    return lines


def repeat_command(request: Request) -> list[str]:
    """The command line that asks for the same run again."""
    words = ["lull", "guest", "measure", *(one.name for one in request.scenarios)]
    words += [] if request.bare else ["--base", request.base]
    words += ["--clock", request.clock]
    words += ["--quick"] if request.quick else []
    words += ["--seed", str(request.seeds[0]), "--seeds", str(len(request.seeds))]
    for option, names in (("--mode", request.modes), ("--workload", request.workloads)):
        for name in names or ():
            words += [option, name]
    words += ["--debian"] if request.bare else []
    words += ["--packages", str(request.packages)] if request.packages else []
    return words
