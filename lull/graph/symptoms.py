# SPDX-License-Identifier: GPL-2.0-only
"""What happened to a device with pm_async on, and how well others explain it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from lull.graph.recording import Callback, Cycle
from lull.graph.reduced import Call, Symptom
from lull.trees.model import Phase

#: A callback that takes this much longer is the worse for something: in
#: seconds, and as a share of what it took alone.
_LONGER_S, _LONGER = 1e-3, 0.25
#: What is taken for "right after": the clock, and work that varies.
SLACK_S, VARIES = 5e-5, 0.06


@dataclass(frozen=True, slots=True)
class Victim:
    """Whoever is the worse for pm_async in a phase; ``alone`` is without it."""

    number: int
    symptom: Symptom
    call: Call
    alone: Call


def symptom_of(cycle: Cycle, alone: Call | None, call: Callback) -> Symptom | None:
    """What happened to one that went well with pm_async off, if anything did."""
    if alone is None or not alone.ended or alone.err:
        return None
    if _is_open(cycle, call):
        return Symptom.HUNG
    if call.err:
        return Symptom.FAILED
    return Symptom.SLOW if call.ended and _is_longer(call, alone) else None


def _is_open(cycle: Cycle, call: Callback) -> bool:
    """It ran when the recording ended; else its end was lost on the way."""
    last = cycle.whole.end_s if cycle.whole is not None else call.last_s
    return not call.ended and call.last_s >= last


def _is_longer(call: Callback, alone: Call) -> bool:
    more = (call.us - alone.us) / 1e6
    return more > max(_LONGER_S, _LONGER * alone.us / 1e6)


def explains(
    phase: Phase, victim: Victim, number: int, alone: Call, call: Call | None
) -> float | None:
    """How well another device explains what happened, 0 to 1; None for one that was
    not in order with the victim before, or is still."""
    if number == victim.number:
        return None
    if alone.last_s <= victim.alone.start_s:
        # It should have ended by then.
        if call is None or call.last_s > victim.call.start_s or not call.ended:
            return _fit(victim, call)
    elif (
        phase.down
        and alone.start_s >= victim.alone.last_s
        and call is not None
        and call.start_s < victim.call.last_s
    ):
        # It should not have begun: what the victim needs may be gone.
        return _gone(victim, call)
    return None


def _fit(victim: Victim, other: Call | None) -> float:
    """How well it explains the victim that ``other`` had not ended."""
    if victim.symptom is Symptom.HUNG:
        if other is None:
            return 0.5
        return 0.9 if not other.ended else 0.6
    if other is None or not other.ended:
        return 0.5
    if victim.symptom is Symptom.FAILED:
        return 0.9 if other.end_s >= victim.call.end_s else 0.3
    own = victim.alone.us / 1e6
    # It went on at some point of its own work, when the other had ended.
    after = victim.call.end_s - other.end_s
    most = own * (1 + VARIES) + SLACK_S
    if -SLACK_S <= after <= most:
        return 1.0
    off = (-after if after < 0 else after - most) / max(most, SLACK_S)
    return 0.3 / (1 + off)


def _gone(victim: Victim, other: Call) -> float:
    """How well it explains the victim that ``other`` had begun already."""
    if victim.symptom is Symptom.SLOW:
        return 0.2
    return 0.9 if other.ended and other.end_s <= victim.call.last_s else 0.6
