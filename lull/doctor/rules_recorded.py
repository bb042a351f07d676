# SPDX-License-Identifier: GPL-2.0-only
"""What a suspend that was recorded here says of the devices. Pure."""

from __future__ import annotations

from lull.doctor.estimates import recorded
from lull.doctor.model import Finding, Grade
from lull.doctor.read_log import failed
from lull.doctor.read_measures import Cycles, Suspends
from lull.doctor.read_recording import Call, Recorded
from lull.doctor.seen import Seen

#: A phase, or a callback, that takes less is no line.
_SHOWN_MS = 1.0


def of_recordings(seen: Seen) -> list[Finding]:
    """A finding for each measurement that suspended devices."""
    found = []
    for each in seen.measured.suspends:
        if each.cycles.error:
            found += _failed(seen, each)
        elif each.recorded is not None:
            found.append(_took(each, each.cycles, each.recorded))
    return found


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def _named(call: Call) -> str:
    driver = f" ({call.driver})" if call.driver else ""
    return f"{call.device}{driver}"


def _failed(seen: Seen, each: Suspends) -> list[Finding]:
    """Who it was, unless the log has said so."""
    if any(failure.kind != "wakeup" for _, failure in failed(seen.kept)):
        return []
    calls = each.recorded.failed if each.recorded else ()
    title = f"a measured suspend failed: {each.cycles.error}"
    if calls:
        title = f"{_named(calls[0])} aborts a suspend: {calls[0].error}, measured"
    return [
        Finding(
            id=f"measured-{each.name}-failed",
            grade=Grade.FAILS,
            title=title,
            cost="the suspend",
            evidence=tuple(f"{_named(c)}: {c.error} in {c.phase}" for c in calls)
            or ("who refused is in the log, if the kernel named somebody",),
        )
    ]


def _took(each: Suspends, cycles: Cycles, found: Recorded) -> Finding:
    worst = found.longest[0] if found.longest else None
    title = (
        f"devices take {_ms(found.down_ms)} to suspend and {_ms(found.up_ms)} to "
        "resume, measured"
    )
    if worst is not None and worst.ms >= _SHOWN_MS:
        title += f"; the longest: {_named(worst)}, {_ms(worst.ms)}"
    phases = [f"{n} {_ms(ms)}" for n, ms in found.phases_ms.items() if ms >= _SHOWN_MS]
    calls = [c for c in found.longest if c.ms >= _SHOWN_MS]
    parts = [
        f"{name} {_ms(cycles.phases[name].p50)}"
        for name in ("sync", "freeze", "thaw")
        if name in cycles.phases
    ]
    evidence = [
        f"phases: {', '.join(phases)}" if phases else "",
        *(f"{_named(c)}: {_ms(c.ms)} in {c.phase}" for c in calls),
        f"besides: {', '.join(parts)}" if parts else "",
        *(f"the recording: {caveat}" for caveat in found.caveats),
    ]
    cost = found.down_ms + found.up_ms
    turned = "slept" if each.name == "suspend" else "turned back before it slept"
    return Finding(
        id=f"measured-{each.name}",
        grade=Grade.COSTS,
        title=title,
        cost_ms=cost,
        cost=f"{_ms(cost)}, of one cycle, which {turned}",
        evidence=tuple(filter(None, evidence)),
        estimates=(recorded(found),),
    )
