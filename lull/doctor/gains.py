# SPDX-License-Identifier: GPL-2.0-only
"""What each feature of Lull would take off on one machine. Pure."""

from __future__ import annotations

from lull.doctor import estimates
from lull.doctor.model import Estimate, Finding
from lull.doctor.own import why_absent, why_less
from lull.doctor.read_recording import Recorded
from lull.doctor.seen import Seen

FEATURES = ("freeze", "thaw", "devices", "attach", "zfree")


def gains(seen: Seen) -> tuple[Estimate, ...]:
    """One of each feature, in the order of FEATURES."""
    times = seen.times
    found = {
        "freeze": estimates.freeze(seen.dead, seen.alive, times.get("freeze")),
        "thaw": estimates.thaw(seen.spared, times.get("thaw")),
        "devices": _devices(seen),
        "attach": estimates.attach(),
        "zfree": _zfree(seen),
    }
    if not seen.power.can_suspend:
        for name in ("freeze", "thaw", "devices"):
            why = "this kernel cannot suspend"
            found[name] = Estimate(feature=name, why_not=why)
    return tuple(settled(seen, found[name]) for name in FEATURES)


def _devices(seen: Seen) -> Estimate:
    """A recording of this machine is better than those of others."""
    best = _recorded(seen)
    if best is not None:
        return estimates.recorded(best)
    return estimates.devices(seen.times.get("devices"))


def _recorded(seen: Seen) -> Recorded | None:
    """The first recording that says what Lull would save."""
    for each in seen.measured.suspends:
        if each.recorded is not None and each.recorded.saved_ms is not None:
            return each.recorded
    return None


def _zfree(seen: Seen) -> Estimate:
    if not seen.swap.compressed or not seen.swapped:
        return Estimate(
            feature="zfree", why_not="no process was seen with compressed swap"
        )
    return estimates.zfree((seen.swapped[0].swap_kb or 0) / 1024)


def settled(seen: Seen, estimate: Estimate) -> Estimate:
    """The estimate; of a feature that is on, none: what was seen is with it. Nor where
    the kernel is not as the one that the lab's figures are of."""
    name = estimate.feature
    if seen.lull.get(name) == "lull":
        return Estimate(feature=name, why_not="it is on here")
    kernel = seen.manifest.kernel
    if why := why_absent(kernel, name):
        return Estimate(feature=name, why_not=why)
    # A recording is told by the rules of the kernel that it is of.
    best = _recorded(seen)
    told = best is not None and estimate == estimates.recorded(best)
    if not told and estimate.saved_ms and (why := why_less(kernel, name)):
        return Estimate(feature=name, of_ms=estimate.of_ms, why_not=why)
    return estimate


def with_gains(seen: Seen, finding: Finding) -> Finding:
    """The finding, its estimates settled."""
    found = tuple(settled(seen, each) for each in finding.estimates)
    return finding.model_copy(update={"estimates": found})
