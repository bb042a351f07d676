# SPDX-License-Identifier: GPL-2.0-only
"""What was measured because somebody asked for it, and what it left. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from lull.doctor import estimates
from lull.doctor.model import Finding, Grade, Times
from lull.doctor.read_hooks import UnitRun
from lull.doctor.read_measures import Spread
from lull.doctor.rules_cost import move_remedies
from lull.doctor.rules_fail import NAMES
from lull.doctor.rules_recorded import of_recordings
from lull.doctor.seen import Seen

#: A move that takes longer has waited for a grace period.
WAITED_MS = 1.0


def measured(seen: Seen) -> list[Finding]:
    """All of them."""
    return [
        *_left(seen),
        *_freezer(seen),
        *of_recordings(seen),
        *_attach(seen),
        *_zfree(seen),
        *_sleep_hooks(seen),
    ]


def without_guesses(found: Sequence[Finding]) -> list[Finding]:
    """Of what was measured, no finding from the log or from a switch besides."""
    names = {finding.id for finding in found}
    told = {"measured-freezer": "freeze", "measured-attach": "moves"}
    dropped = {old for new, old in told.items() if new in names}
    return [finding for finding in found if finding.id not in dropped]


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def _spread(found: Spread) -> str:
    p99 = f"p99 {_ms(found.p99)}, " if found.n >= 100 else ""
    return f"p50 {_ms(found.p50)}, {p99}longest {_ms(found.longest)}, n={found.n}"


def _left(seen: Seen) -> list[Finding]:
    manifest = seen.manifest
    if not manifest.left_behind:
        return []
    done = manifest.left_behind == "done"
    lines = tuple(
        f"{x.path}: {x.value or 'removed'}" + (f", {x.error}" if x.error else "")
        if x.path
        else "the machine was started anew since: nothing was left to do"
        for x in manifest.undone
    )
    why = {
        "EACCES": "as root it would be",
        "EBUSY": "another one is under way, or a switch does not take its value",
    }.get(manifest.left_behind, manifest.left_behind)
    return [
        Finding(
            id="left-behind",
            grade=Grade.NOTE if done else Grade.WRONG,
            title="a measurement that was killed had left changes: they are put back"
            if done
            else f"a measurement has changed something that is not put back: {why}",
            evidence=lines or ("the note is /var/lib/lull/doctor.note",),
        )
    ]


def _freezer(seen: Seen) -> list[Finding]:
    found = seen.measured.freezer
    if found is None:
        return []
    if found.error:
        return [
            Finding(
                id="measured-freezer-failed",
                grade=Grade.FAILS,
                title=f"a measured freeze failed: {found.error}",
                evidence=("who refused is in the log, if the kernel named somebody",),
            )
        ]
    phases = tuple(
        f"{name}: {_spread(times)}"
        for name, times in found.phases.items()
        if name != "freeze"
    )
    freeze = found.phases.get("freeze", found.whole)
    if freeze is None:
        return []
    whole = (f"the whole write: {_spread(found.whole)}",) if found.whole else ()
    counts = f"{seen.alive:,} threads of user space, {seen.dead:,} zombies"
    times = Times(n=freeze.n, median=freeze.p50, longest=freeze.longest)
    return [
        Finding(
            id="measured-freezer",
            grade=Grade.COSTS,
            title=f"freezing takes {_ms(freeze.p50)}, measured",
            cost_ms=freeze.p50,
            cost=_spread(freeze),
            evidence=(*phases, *whole, counts),
            estimates=(estimates.freeze(seen.dead, seen.alive, times),),
        )
    ]


def _attach(seen: Seen) -> list[Finding]:
    found = seen.measured.attach
    if found is None:
        return []
    waited = found.p50 >= WAITED_MS
    mount = seen.cgroup2
    return [
        Finding(
            id="measured-attach",
            grade=Grade.COSTS if waited else Grade.NOTE,
            title=f"a move to a cgroup takes {_ms(found.p50)}, measured"
            + (", and keeps all others from forking" if waited else ""),
            cost_ms=found.p50,
            cost=f"{_spread(found)}; each",
            evidence=("writes of a child of its own, 50 ms apart, to cgroup.procs",),
            estimates=(estimates.attach(),) if waited else (),
            remedies=move_remedies(mount) if waited and mount else (),
        )
    ]


def _zfree(seen: Seen) -> list[Finding]:
    found = seen.measured.zfree
    if found is None:
        return []
    times = found.times
    return [
        Finding(
            id="measured-zfree",
            grade=Grade.COSTS,
            title=f"unmapping {found.mib:,.0f} MiB that are in zram takes "
            f"{_ms(times.p50)}, measured",
            cost_ms=times.p50,
            cost=_spread(times),
            evidence=("memory of its own, half of each page noise",),
            estimates=(estimates.zfree_measured(found.mib, times.p50),),
        )
    ]


def _runs(runs: Sequence[UnitRun], when: str) -> tuple[str, ...]:
    shown = sorted(runs, key=lambda run: -run.ms)[:NAMES]
    return tuple(f"{when}: {run.unit} {run.what}, {_ms(run.ms)}" for run in shown)


def _sleep_hooks(seen: Seen) -> list[Finding]:
    found = seen.measured.sleep_hooks
    if found is None:
        return []
    post = found.post_ms
    after = f"{_ms(post)} after it" if post is not None else "it did not come back"
    cost = found.before_ms + (post or 0.0)
    names = ", ".join(found.hooks) or "none there"
    hooks = f"{_ms(found.pre_ms)} before and {after} are systemd-sleep with its hooks"
    return [
        Finding(
            id="sleep-hooks",
            grade=Grade.COSTS,
            title=f"systemd took {_ms(cost)} around the last suspend ({found.state})",
            cost_ms=cost,
            cost=f"{_ms(found.before_ms)} before it, {after}",
            evidence=(
                f"{hooks}: {names}",
                *_runs(found.before, "before"),
                *_runs(found.after, "after"),
            ),
        )
    ]
