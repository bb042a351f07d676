# SPDX-License-Identifier: GPL-2.0-only
"""Made-up runs, in memory and as folders, for the tests of the page."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lull.graph.analysis import analyse
from lull.graph.ftrace import read
from lull.model import Arm, Clock, Feature, Sample
from lull.page.build import Extras
from lull.page.cycle import recorded
from lull.page.profiles import section
from lull.report.compare import Run
from lull.report.counted import counted
from lull.report.profile import Count, Profile
from lull.report.summary import RunMeta, summarise
from lull.runs.rundir import Env, Host, KernelFacts, RunDir
from tests import synthetic
from tests.graph import traces

HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="document.title=1">',
    "{{ 7 * 7 }}{% raw %}",
    "x" * 10_000,
    "\u202egnp.exe\u2066 \u05d0\u05d1",
    "nul\x00 bell\x07 esc\x1b[31m",
    "javascript:alert(1)//' onclick='1",
    "]]></svg></style></table>",
)


def samples(clock: Clock = Clock.INSN) -> list[Sample]:
    """Of a whole run with its control on insn, of a short one on wall."""
    if clock is Clock.WALL:
        return synthetic.samples(range(3), noise=0.1)
    return synthetic.samples() + synthetic.samples(range(4), arm=Arm.STOCK)


@cache
def whole(clock: Clock) -> Run:
    """``run``, which takes its time for intervals, made once."""
    return run(clock, samples(clock))


def run(
    clock: Clock = Clock.INSN,
    found: list[Sample] | None = None,
    feature: Feature | None = None,
) -> Run:
    """A run of the made-up feature."""
    if found is None:
        return whole(clock)
    feature = feature or synthetic.feature()
    control = any(sample.arm is Arm.STOCK for sample in found)
    meta: RunMeta = synthetic.meta(clock, control=control)
    made = summarise([feature], found, meta)
    return Run(f"runs/20260101T000000Z-walk-{clock}", made, tuple(found), env(clock))


def extras(*names: str) -> Extras:
    """A profile of functions with these names, and a recorded cycle."""
    counts = {name: Count(1000 + i, i) for i, name in enumerate(names or ("walk",))}
    sides = [Profile(mode, "6.12.117", 2, 4, counts) for mode in ("lull", "stock")]
    found = counted(sides[0], sides[1], "walk zombies", "round")
    cycle = recorded(
        analyse(read(traces.recorded(), "made up")), "lull", Clock.INSN, "r0"
    )
    return Extras(profiles=(section(found, "p0"),), recorded=(cycle,))


def env(clock: Clock = Clock.INSN, **more: object) -> Env:
    """What is known of its machine."""
    kernel = KernelFacts(
        arm=Arm.LULL, version="6.12.117", digest="ab" * 32, compiler="gcc 12.2.0"
    )
    made = Env(
        created="2026-01-01T00:00:00+00:00",
        base="6.12",
        clock=clock,
        accel="tcg",
        cpus=2,
        seeds=(1, 2, 3),
        features=("walk",),
        kernels={"lull": kernel},
        qemu="QEMU 7.2.19",
        commands=(("lull", "run", "walk", "--clock", clock.value),),
        commit="c0ffee" * 6 + "beef",
        host=Host(
            machine="x86_64",
            system="Linux",
            cpu="a CPU",
            cpus=2,
            memory_mb=2,
            load=(0, 0, 0),
        ),
    )
    return made.model_copy(update=more)


def folder(place: Path, made: Run) -> Path:
    """The run as ``lull run`` leaves it."""
    into = RunDir(place)
    place.mkdir(parents=True, exist_ok=True)
    into.append(made.samples)
    assert made.env is not None
    into.finish(made.summary, "TABLE\n", "ANSWER\n", made.env)
    return place
