# SPDX-License-Identifier: GPL-2.0-only
"""How long the phases would take: under other rules, with other times.

And first, whether the model is worth asking: the recording's own tree under
the rules of the kernel that it comes from has to take what it took.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lull.errors import UsageError
from lull.graph.edits import Edit, apply
from lull.graph.path import covered_s
from lull.graph.recording import Cycle, Header
from lull.graph.tree import Graph
from lull.trees.model import Phase, Tree
from lull.trees.schedule import Rules, Slot, schedule

#: A replay that is off by more than this has to say why.
TOLERANCE = 0.10


@dataclass(frozen=True)
class KernelRules:
    """The rules of a kernel; ``known`` False where its version is not. ``stock`` are
    those of its own code, whatever its mode."""

    rules: Rules
    upfront: bool = True
    known: bool = True
    stock: Rules = field(default=Rules.STOCK, compare=False)


@dataclass(frozen=True)
class Replay:
    """A phase as recorded and as the model has it; ``why`` if it is off."""

    phase: Phase
    measured_us: float
    predicted_us: float
    why: str = ""

    @property
    def off(self) -> float:
        """How much longer the model is, as a share of what was measured."""
        if self.measured_us <= 0:
            return 0.0
        return self.predicted_us / self.measured_us - 1

    @property
    def ok(self) -> bool:
        """Within TOLERANCE."""
        return abs(self.off) <= TOLERANCE


@dataclass(frozen=True)
class Prediction:
    """A phase under the recording's own rules and tree, and changed."""

    phase: Phase
    before_us: float
    after_us: float


def rules_of(header: Header) -> KernelRules:
    """The rules that a kernel's version stands for.

    6.16 starts parents and children, 6.17 suppliers and consumers too. Before,
    all async devices are started before the walk of a resume (already in 3.15
    to 5.3, as recordings show), but for the time between two changes: the walk
    starts them in 6.8 and 6.9 and in 6.1 and 6.6 since that was fixed there
    ("PM: sleep: Fix possible deadlocks in core system-wide PM code").

    Of Lull's modes ``stock`` is what the kernel does itself, and so whatever
    its version has; the others are the same on every kernel.
    """
    own = _of_version(header.kernel)
    if header.rules not in list(Rules):
        return own
    return _in_mode(own, Rules(header.rules))


def _in_mode(kernel: KernelRules, mode: Rules) -> KernelRules:
    """The same kernel in one of Lull's modes."""
    if mode is Rules.STOCK:
        return replace(kernel, rules=kernel.stock)
    return replace(kernel, rules=mode, known=True)


def _of_version(kernel: str) -> KernelRules:
    found = re.match(r"(\d{1,3})\.(\d{1,3})(?:\.(\d{1,5}))?", kernel)
    if found is None:
        return KernelRules(Rules.STOCK, known=False)
    version = (int(found[1]), int(found[2]))
    patch = int(found[3] or 0)
    if version >= (6, 17):
        return KernelRules(Rules.LINKS, stock=Rules.LINKS)
    if version >= (6, 16):
        return KernelRules(Rules.PARENTS, stock=Rules.PARENTS)
    walked = (
        (6, 8) <= version < (6, 10)
        or (version == (6, 1) and patch >= 76)
        or (version == (6, 6) and patch >= 15)
    )
    return KernelRules(Rules.STOCK, upfront=not walked)


def replay(graph: Graph, cycle: Cycle, kernel: KernelRules) -> tuple[Replay, ...]:
    """Each phase of the cycle beside what the model makes of its own tree."""
    return tuple(
        _replay(graph, cycle, phase, kernel)
        for phase in cycle.spans
        if graph.calls[phase]
    )


def _replay(graph: Graph, cycle: Cycle, phase: Phase, kernel: KernelRules) -> Replay:
    span = cycle.spans[phase]
    got = schedule(graph.tree, phase, kernel.rules, upfront=kernel.upfront)
    measured = span.ms * 1e3
    plain = Replay(phase, measured, got.makespan_us)
    if plain.ok:
        return plain
    return Replay(
        phase, measured, got.makespan_us, _why(graph, cycle, phase, got.slots)
    )


def _why(graph: Graph, cycle: Cycle, phase: Phase, slots: Mapping[str, Slot]) -> str:
    """Why the model is off: time in no callback, else who began otherwise."""
    span, calls = cycle.spans[phase], graph.calls[phase]
    if not span.ended:
        return "the phase is not recorded to its end"
    lost = sum(not call.ended for call in calls.values())
    if lost:
        return f"the ends of {lost} callbacks are lost"
    bare = span.ms - covered_s(calls.values()) * 1e3
    late: dict[str, float] = {}
    for name, call in calls.items():
        slot = slots[name]
        late[name] = (call.start_s - span.start_s) * 1e3 - slot.start_us / 1e3
    worst = max(late, key=lambda name: abs(late[name]))
    reasons = []
    if bare > 0.05 * span.ms:
        reasons.append(
            f"{bare:.3f} ms of it are in no callback: the kernel's own work on"
            f" {len(graph.tree.devices)} devices"
        )
    if abs(late[worst]) > 0.05 * span.ms:
        when = "later" if late[worst] > 0 else "earlier"
        reasons.append(
            f"{worst} began {abs(late[worst]):.3f} ms {when} than what is recorded"
            " explains (a link, a device without events, or no CPU was free)"
        )
    return "; ".join(reasons) or "no single reason shows"


def predict(
    graph: Graph, kernel: KernelRules, edits: Iterable[Edit], phases: Iterable[Phase]
) -> tuple[Prediction, ...]:
    """The phases under changes; ``mode=RULES`` is one of them.

    Raises UsageError for an unknown mode, device or value.
    """
    tree, after = changed(graph.tree, kernel, edits)
    return tuple(
        Prediction(phase, _us(graph.tree, phase, kernel), _us(tree, phase, after))
        for phase in phases
    )


def changed(
    tree: Tree, kernel: KernelRules, edits: Iterable[Edit]
) -> tuple[Tree, KernelRules]:
    """The tree and the rules with the changes. Raises as ``predict`` does."""
    rules, rest = _mode(edits)
    return apply(tree, rest), _in_mode(kernel, rules) if rules else kernel


def _us(tree: Tree, phase: Phase, kernel: KernelRules) -> float:
    return schedule(tree, phase, kernel.rules, upfront=kernel.upfront).makespan_us


def _mode(edits: Iterable[Edit]) -> tuple[Rules | None, list[Edit]]:
    rules: Rules | None = None
    rest = []
    for edit in edits:
        if edit.key != "mode":
            rest.append(edit)
        elif edit.value in list(Rules):
            rules = Rules(edit.value)
        else:
            raise UsageError(
                f"there is no mode '{edit.value}'", hint=f"one of {', '.join(Rules)}"
            )
    return rules, rest
