# SPDX-License-Identifier: GPL-2.0-only
"""When each device's callback would run in a phase: a simulation of events.

The main thread walks the list, down from its end, up from its beginning. A
device that is not async runs in it when the walk reaches it, and the walk
stays there until what the device depends on has ended. Async devices have a
worker each, without a limit. Failures and wake-ups are not simulated. After
dpm_suspend() and dpm_resume() in drivers/base/power/main.c of 6.12.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from itertools import count

import networkx as nx

from lull.errors import UsageError
from lull.trees.model import Phase, Tree
from lull.trees.order import check_order, skipped, us_in, waits_for


class Rules(StrEnum):
    """When an async device is started; the names are the feature's modes.

    ``stock`` is 6.12: going down when the walk reaches it; going up all of
    them before the walk. ``parents`` starts before the walk those without
    children (up: without a parent), and at the end of a device its parent
    (up: its children). ``links`` is the same with consumers and suppliers
    too. A worker waits for what its device depends on. ``lull`` starts a
    device when the last of that has ended, wherever the walk is.
    """

    STOCK = "stock"
    PARENTS = "parents"
    LINKS = "links"
    LULL = "lull"


@dataclass(frozen=True)
class Costs:
    """What the machinery takes, in microseconds; it uses no CPU here.

    ``start_us``: from the start of an async device until its worker runs;
    ``wake_us``: from the end of the last device that a thread waits for until
    that thread runs.
    """

    start_us: float = 0
    wake_us: float = 0


@dataclass(frozen=True)
class Slot:
    """When a callback ran, in microseconds from the beginning of the phase.

    ``main``: in the thread that walks the list. A device without a callback
    has a slot of no length.
    """

    name: str
    start_us: float
    end_us: float
    main: bool


@dataclass(frozen=True)
class Schedule:
    """A phase: a slot for every device, in the order in which they ended."""

    phase: Phase
    slots: Mapping[str, Slot]
    makespan_us: float


@dataclass(frozen=True)
class CriticalPath:
    """The longest chain of callbacks that have to follow one another.

    ``devices`` are in the order in which they run, without those that take no
    time.
    """

    us: float
    devices: tuple[str, ...]


_NO_COSTS = Costs()


def schedule(
    tree: Tree,
    phase: Phase,
    rules: Rules,
    *,
    cpus: int = 2,
    costs: Costs = _NO_COSTS,
    upfront: bool = True,
) -> Schedule:
    """How a phase goes under some rules.

    Without ``upfront`` stock going up starts an async device when the walk
    reaches it, as some kernels before 6.10 do.

    Busy work shares ``cpus`` CPUs evenly, none getting more than one of them;
    sleep needs none. Raises BadTree where the order of the list is not one,
    UsageError for less than one CPU or a negative cost.
    """
    if cpus < 1 or costs.start_us < 0 or costs.wake_us < 0:
        raise UsageError(
            f"{cpus} CPUs, costs {costs.start_us} and {costs.wake_us} us",
            hint="at least one CPU, and no cost below 0",
        )
    check_order(tree)
    return _Run(tree, phase, rules, cpus, costs, upfront).run()


def critical_path(tree: Tree, phase: Phase) -> CriticalPath:
    """The longest path, by time, through parents and suppliers.

    No order of the list and no number of CPUs goes into it: no schedule is
    shorter. Raises BadTree as ``schedule`` does.
    """
    check_order(tree)
    skip = skipped(tree)
    us = {device.name: us_in(device, phase, skip) for device in tree.devices}
    # The time of a device is on the edges that lead to it; those that wait
    # for nothing get one from a source, which no device can be named as.
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name, others in waits_for(tree, phase).items():
        for other in others or ("",):
            graph.add_edge(other, name, weight=us[name])
    path = nx.dag_longest_path(graph)
    return CriticalPath(
        us=sum(us[name] for name in path if name),
        devices=tuple(name for name in path if name and us[name]),
    )


@dataclass
class _Cpus:
    """Busy callbacks, which share the CPUs.

    All advance at one rate, so each has a fixed end on a clock that runs at
    that rate: ``clock`` is what a callback has got that was there all along.
    """

    cpus: int
    clock: float = 0.0
    ends: list[tuple[float, int, str]] = field(default_factory=list)

    @property
    def _rate(self) -> float:
        return min(1.0, self.cpus / len(self.ends))

    def add(self, us: int, number: int, name: str) -> None:
        heappush(self.ends, (self.clock + us, number, name))

    def next_in(self) -> float:
        """Microseconds until the next one ends; there has to be one."""
        return max(0.0, self.ends[0][0] - self.clock) / self._rate

    def advance(self, us: float) -> None:
        if self.ends:
            self.clock += us * self._rate

    def pop(self) -> str:
        self.clock, _, name = heappop(self.ends)
        return name


def _reverse(needs: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {name: [] for name in needs}
    for name, others in needs.items():
        for other in others:
            found[other].append(name)
    return {name: tuple(others) for name, others in found.items()}


def _starts(tree: Tree, phase: Phase, rules: Rules) -> dict[str, tuple[str, ...]]:
    """Device to those that its end starts, if they are async."""
    match rules:
        case Rules.STOCK:
            return {device.name: () for device in tree.devices}
        case Rules.PARENTS:
            parent = {d.name: d.parent for d in tree.devices}
            needs = {
                name: tuple(
                    o
                    for o in others
                    if (parent[o] == name if phase.down else parent[name] == o)
                )
                for name, others in waits_for(tree, phase).items()
            }
            return _reverse(needs)
        case Rules.LINKS | Rules.LULL:
            return _reverse(waits_for(tree, phase))


class _Run:
    """One simulation. An event is (time, number, what, device)."""

    def __init__(
        self,
        tree: Tree,
        phase: Phase,
        rules: Rules,
        cpus: int,
        costs: Costs,
        upfront: bool,
    ) -> None:
        devices = tree.devices[::-1] if phase.down else tree.devices
        needs = waits_for(tree, phase)
        self.phase = phase
        self.rules = rules
        self.costs = costs
        self.upfront = upfront
        self.devices = {device.name: device for device in devices}
        self.skip = skipped(tree)
        self.walk = iter(devices)
        self.left = {name: len(others) for name, others in needs.items()}
        self.needed_by = _reverse(needs)
        self.starts = _starts(tree, phase, rules)
        self.now = 0.0
        self.numbers = count()
        self.events: list[tuple[float, int, str, str]] = []
        self.cpus = _Cpus(cpus)
        self.started: set[str] = set()
        self.blocked: set[str] = set()  #: workers and the main thread, waiting
        self.begun: dict[str, float] = {}
        self.slots: dict[str, Slot] = {}

    def run(self) -> Schedule:
        for name in self._at_first():
            self._start(name)
        self._walk_on()
        while self.events or self.cpus.ends:
            what, name = self._next()
            match what:
                case "worker" if self.left[name]:
                    self.blocked.add(name)
                case "worker" | "woken":
                    self._begin(name)
                case _:
                    self._end(name)
        return Schedule(self.phase, self.slots, self.now)

    def _next(self) -> tuple[str, str]:
        if self.cpus.ends:
            at = self.now + self.cpus.next_in()
            if not self.events or at < self.events[0][0]:
                self.now = at
                return "end", self.cpus.pop()
        at, _, what, name = heappop(self.events)
        self.cpus.advance(at - self.now)
        self.now = at
        return what, name

    def _at_first(self) -> list[str]:
        """What is started before the walk, if it is async."""
        if self.rules is Rules.STOCK:
            return list(self.devices) if self.upfront and not self.phase.down else []
        later = {name for names in self.starts.values() for name in names}
        return [name for name in self.devices if name not in later]

    def _start(self, name: str) -> None:
        if self.devices[name].is_async and name not in self.started:
            self.started.add(name)
            self._at(self.costs.start_us, "worker", name)

    def _walk_on(self) -> None:
        """The main thread, up to the next device that is not async."""
        for device in self.walk:
            if device.is_async:
                if self.rules is not Rules.LULL:
                    self._start(device.name)
            elif self.left[device.name]:
                self.blocked.add(device.name)
                return
            else:
                self._begin(device.name)
                return

    def _begin(self, name: str) -> None:
        device = self.devices[name]
        us = us_in(device, self.phase, self.skip)
        self.begun[name] = self.now
        if us and device.work[self.phase].busy:
            self.cpus.add(us, next(self.numbers), name)
        else:
            self._at(us, "end", name)

    def _end(self, name: str) -> None:
        device = self.devices[name]
        main = not device.is_async
        self.slots[name] = Slot(name, self.begun[name], self.now, main)
        for other in self.needed_by[name]:
            self.left[other] -= 1
            if not self.left[other] and other in self.blocked:
                self.blocked.remove(other)
                self._at(self.costs.wake_us, "woken", other)
        for other in self.starts[name]:
            if self.rules is not Rules.LULL or not self.left[other]:
                self._start(other)
        if main:
            self._walk_on()

    def _at(self, us: float, what: str, name: str) -> None:
        heappush(self.events, (self.now + us, next(self.numbers), what, name))
