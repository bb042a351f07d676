# SPDX-License-Identifier: GPL-2.0-only
"""All that is known of one cycle of a recording, put together. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lull.errors import UsageError
from lull.graph import dmesg
from lull.graph.account import Account, account
from lull.graph.edits import Edit, known
from lull.graph.needs import Answer, answer
from lull.graph.path import CriticalRun, Waits, critical
from lull.graph.recording import Aside, Callback, Caveat, Cycle, Recording
from lull.graph.tree import Graph, graph
from lull.graph.whatif import KernelRules, Replay, replay, rules_of
from lull.trees.model import Phase
from lull.trees.schedule import CriticalPath, Rules, critical_path


@dataclass(frozen=True)
class Analysis:
    """A cycle, its tree, and by phase what waited and the critical paths."""

    recording: Recording
    number: int
    cycle: Cycle
    graph: Graph
    kernel: KernelRules
    waits: Mapping[Phase, Waits]
    paths: Mapping[Phase, CriticalRun]
    ideals: Mapping[Phase, CriticalPath]
    checks: tuple[dmesg.Check, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    def longest(self, phase: Phase | None = None) -> list[Phase]:
        """``phase``, else the one that took longest."""
        return [phase or max(self.paths, key=lambda each: self.cycle.spans[each].ms)]

    def device(self, name: str) -> str:
        """The device's name in the tree. Raises UsageError where it is none."""
        return known(name, (device.name for device in self.graph.tree.devices))

    def account(self) -> Account | None:
        """Where the time of the whole cycle went."""
        return account(self.cycle)

    def needs(self, words: str, edits: Sequence[Edit] = ()) -> Answer:
        """When what ``words`` names is back. Raises UsageError."""
        return answer(words, self.cycle, self.graph, self.waits, self.kernel, edits)

    def replays(self) -> tuple[Replay, ...]:
        """The model beside what was measured."""
        return replay(self.graph, self.cycle, self.kernel)


def analyse(
    recording: Recording,
    number: int | None = None,
    logs: Sequence[dmesg.Totals] | None = None,
    phase: Phase | None = None,
) -> Analysis:
    """Cycle ``number`` of a recording (None: the last complete one).

    ``logs`` are the totals of the kernel's log, if there is one. Raises
    UsageError for a cycle or a ``phase`` that is not there.
    """
    number, cycle = recording.cycle(number)
    if phase is not None and phase not in cycle.spans:
        raise UsageError(
            f"cycle {number} has no {phase}", hint=f"it has {', '.join(cycle.spans)}"
        )
    found = graph(recording, cycle)
    kernel = rules_of(recording.header)
    waits = {
        each: Waits(found, each, span, _upfront(kernel, each))
        for each, span in cycle.spans.items()
    }
    caveats = [*recording.caveats, *cycle.caveats, *found.caveats]
    every: list[Aside | Callback] = [*cycle.asides, *cycle.callbacks]
    failed = [call for call in every if call.err]
    if failed:
        first = failed[0]
        text = f"a callback failed, first {first.device} with {first.err}"
        caveats.append(Caveat(text, len(failed), first.line))
    checks: tuple[dmesg.Check, ...] = ()
    if logs is not None:
        log = dmesg.of_cycle(logs, recording.cycles, number)
        if log is None:
            caveats.append(Caveat("the kernel's log has no times of this cycle"))
        else:
            checks = dmesg.check(cycle, log)
    return Analysis(
        recording,
        number,
        cycle,
        found,
        kernel,
        waits,
        {each: critical(w) for each, w in waits.items()},
        {each: critical_path(found.tree, each) for each in cycle.spans},
        checks,
        tuple(caveats),
    )


def _upfront(kernel: KernelRules, phase: Phase) -> bool:
    """Whether async devices need not wait for the walk to come by."""
    if kernel.rules is Rules.STOCK:
        return kernel.upfront and not phase.down
    return True
