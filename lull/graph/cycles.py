# SPDX-License-Identifier: GPL-2.0-only
"""From the events of a trace to cycles of suspend and resume, as they come."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from lull.graph.events import Event, Mark
from lull.graph.one_cycle import OneCycle
from lull.graph.recording import Aside, Callback, Cycle, Named

#: What is held at most of all cycles, however long the recording is.
MOST_RECORDS, MOST_CYCLES = 40_000, 10_000


class Cycles:
    """The cycles of a trace, out of its events as they come.

    No more than ``MOST_RECORDS`` are held of all: cycle ``number`` is kept
    whole, or for None the last complete one and the last; of the others, the
    oldest first, only the phases.
    """

    def __init__(self, number: int | None = None) -> None:
        self._number = number
        self._builder = OneCycle()
        self._cycles: list[Cycle] = []
        self._complete = -1
        #: Which of them are whole still, and how many records these hold.
        self._whole: list[int] = []
        self._held = 0

    def take(self, event: Event) -> bool:
        """The next event of the trace. False where there are too many cycles."""
        if isinstance(event, Mark) and event.begin and self._builder.over(event.action):
            self._add(self._builder.finish())
            self._builder = OneCycle()
        self._builder.take(event)
        return len(self._cycles) < MOST_CYCLES

    def result(self, names: Set[str]) -> tuple[Cycle, ...]:
        """The cycles, in order; one without a phase or a callback is left out.

        ``names`` are names of devices: some have spaces in them, as some drivers
        do, and the events print the two side by side.
        """
        self._add(self._builder.finish())
        return tuple(named(cycle, names) for cycle in self._cycles)

    def _add(self, cycle: Cycle) -> None:
        if not (cycle.spans or cycle.callbacks):
            return
        at = len(self._cycles)
        self._cycles.append(cycle)
        self._whole.append(at)
        self._held += cycle.size
        if cycle.complete:
            self._complete = at
        keep = {at, self._complete if self._number is None else self._number - 1}
        for i in [i for i in self._whole if i not in keep]:
            if self._held <= MOST_RECORDS:
                return
            old = self._cycles[i]
            self._held -= old.size
            self._whole.remove(i)
            self._cycles[i] = Cycle(old.spans, caveats=old.caveats, kept=False)


def named(cycle: Cycle, names: Set[str]) -> Cycle:
    """``cycle`` with what the events print of a device split in two."""
    seen: list[Callback | Named | Aside]
    seen = [*cycle.callbacks, *cycle.prepared, *cycle.asides]
    known = names | {each.parent for each in seen if each.parent}
    found = {who: split(who, known) for who in {each.device for each in seen}}
    return replace(
        cycle,
        callbacks=tuple(
            replace(call, driver=found[call.device][0], device=found[call.device][1])
            for call in cycle.callbacks
        ),
        prepared=tuple(
            replace(each, driver=found[each.device][0], device=found[each.device][1])
            for each in cycle.prepared
        ),
        asides=tuple(
            replace(each, device=found[each.device][1]) for each in cycle.asides
        ),
    )


def split(who: str, known: Set[str]) -> tuple[str, str]:
    """Driver and device of what an event prints: "DRIVER DEVICE".

    The longest known name at its end is the device, else its last word.
    """
    words = who.split(" ")
    for at in range(max(0, len(words) - 8), len(words)):
        name = " ".join(words[at:])
        if name in known:
            return " ".join(words[:at]).strip(), name
    return " ".join(words[:-1]).strip(), words[-1]
