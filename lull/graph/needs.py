# SPDX-License-Identifier: GPL-2.0-only
"""When the devices are back that somebody waits for, and who waits for the rest.

Times are microseconds from the beginning of dpm_resume.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from lull.errors import UsageError
from lull.graph.edits import Edit, known
from lull.graph.path import Waits, way_to
from lull.graph.recording import Cycle
from lull.graph.tree import Graph
from lull.graph.whatif import KernelRules, changed
from lull.trees.model import Phase, Tree
from lull.trees.order import us_in
from lull.trees.schedule import schedule

_UP = (Phase.RESUME_NOIRQ, Phase.RESUME_EARLY, Phase.RESUME)


@dataclass(frozen=True)
class Times:
    """When something is back: as recorded, in the model, in the model changed.

    ``recorded`` is None where the end of a callback is lost, ``changed`` where
    nothing is to be changed.
    """

    recorded: float | None
    model: float
    changed: float | None


@dataclass(frozen=True)
class Back:
    """A device that is needed. ``alone`` is the longest chain of callbacks that
    it has to wait for, its own too: no order of the list makes it shorter.

    ``holder`` is the longest callback that it waited for and does not depend on,
    empty if there is none, and ``holder_us`` how long that took; ``through`` is
    the device that waited for it first, and came before in the main thread.
    """

    name: str
    times: Times
    alone: float
    holder: str = ""
    holder_us: float = 0.0
    through: str = ""


@dataclass(frozen=True)
class Wanted:
    """A word of the question, and the devices that it stands for."""

    word: str
    devices: tuple[Back, ...]


@dataclass(frozen=True)
class Answer:
    """``needed``: when all that is wanted is back. ``resume``: the whole phase.
    ``left``: what of it comes after that, which nobody named waits for.

    ``rest`` are the callbacks that nobody named depends on and that end after
    ``needed.recorded``, the last first, with their ends. ``kernel`` is how long
    the kernel's resume took: from the machine's waking up to the end of thaw.
    """

    wanted: tuple[Wanted, ...]
    needed: Times
    resume: Times
    left: Times
    rest: tuple[tuple[str, float], ...]
    kernel: float


@cache
def classes() -> Mapping[str, tuple[str, ...]]:
    """The drivers of each class, from classes.toml."""
    text = Path(__file__).with_name("classes.toml").read_text("utf-8")
    return {name: tuple(drivers) for name, drivers in tomllib.loads(text).items()}


def answer(
    words: str,
    cycle: Cycle,
    graph: Graph,
    waits: Mapping[Phase, Waits],
    kernel: KernelRules,
    edits: Sequence[Edit] = (),
) -> Answer:
    """When what ``words`` names is back: devices and classes, commas between.

    Raises UsageError for a word that is neither, for a cycle without a resume,
    and for edits as ``whatif.predict`` does.
    """
    if Phase.RESUME not in cycle.spans:
        raise UsageError("the cycle has no resume", hint="choose another: --cycle N")
    found = {word: _devices(word, graph) for word in _split(words)}
    named = {name for names in found.values() for name in names}
    tree, after = changed(graph.tree, kernel, edits)
    plan = schedule(graph.tree, Phase.RESUME, kernel.rules, upfront=kernel.upfront)
    other = schedule(tree, Phase.RESUME, after.rules, upfront=after.upfront)
    ends = _ends(graph, cycle.spans[Phase.RESUME].start_s)

    def times(name: str) -> Times:
        new = other.slots[name].end_us if edits else None
        return Times(ends.get(name, 0.0), plan.slots[name].end_us, new)

    alone = _alone(graph.tree)
    wanted = tuple(
        Wanted(
            word,
            tuple(
                _back(name, times(name), alone[name], graph.tree, waits)
                for name in sorted(names, key=lambda name: ends.get(name) or 0.0)
            ),
        )
        for word, names in found.items()
    )
    needed = _last([back.times for each in wanted for back in each.devices], edits)
    resume = Times(
        cycle.spans[Phase.RESUME].ms * 1e3,
        plan.makespan_us,
        other.makespan_us if edits else None,
    )
    return Answer(
        wanted,
        needed,
        resume,
        _left(resume, needed),
        _rest(graph, named, ends, needed.recorded),
        _kernel(cycle),
    )


def _split(words: str) -> list[str]:
    found = list(dict.fromkeys(filter(None, (w.strip() for w in words.split(",")))))
    if not found:
        raise UsageError("nothing is needed", hint=f"--needs {','.join(classes())}")
    return found


def _devices(word: str, graph: Graph) -> list[str]:
    """The devices in the tree that ``word`` is, or that are of that class."""
    names = {device.name for device in graph.tree.devices}
    if word in names:
        return [word]
    if word not in classes():
        try:
            return [known(word, names)]
        except UsageError as error:
            hint = f"{error.hint}; or a class: {', '.join(classes())}"
            what = f"'{word}' is neither a device nor a class of devices"
            raise UsageError(what, hint=hint) from error
    return sorted(
        {
            name
            for phase in _UP
            for name, call in graph.calls.get(phase, {}).items()
            if any(fnmatchcase(call.driver, driver) for driver in classes()[word])
        }
    )


def _ends(graph: Graph, zero: float) -> dict[str, float | None]:
    """When each device's last callback on the way up ended."""
    ends: dict[str, float | None] = {}
    for phase in _UP:
        for name, call in graph.calls.get(phase, {}).items():
            ended = call.ended and ends.get(name, 0.0) is not None
            ends[name] = max(0.0, (call.end_s - zero) * 1e6) if ended else None
    return ends


def _alone(tree: Tree) -> dict[str, float]:
    found: dict[str, float] = {}
    for device in tree.devices:
        before = max((found[name] for name in device.superiors), default=0.0)
        found[device.name] = before + us_in(device, Phase.RESUME)
    return found


def _above(tree: Tree, names: Iterable[str]) -> set[str]:
    """``names`` and all that these depend on."""
    found = set(names)
    for device in reversed(tree.devices):
        if device.name in found:
            found.update(device.superiors)
    return found


def _back(
    name: str, times: Times, alone: float, tree: Tree, waits: Mapping[Phase, Waits]
) -> Back:
    up = waits.get(Phase.RESUME)
    if up is None or name not in up.calls:
        return Back(name, times, alone)
    own = _above(tree, [name])
    foreign = [step for step in way_to(up, name) if step.name not in own]
    if not foreign:
        return Back(name, times, alone)
    at = max(range(len(foreign)), key=lambda i: foreign[i].ms)
    longest, through = foreign[at], foreign[min(at + 1, len(foreign) - 1)]
    return Back(name, times, alone, longest.name, longest.ms * 1e3, through.name)


def _last(times: Sequence[Times], edits: Sequence[Edit]) -> Times:
    recorded = [each.recorded for each in times]
    whole = [each for each in recorded if each is not None]
    changed_ = [each.changed for each in times if each.changed is not None]
    return Times(
        max(whole, default=0.0) if len(whole) == len(recorded) else None,
        max((each.model for each in times), default=0.0),
        max(changed_, default=0.0) if edits else None,
    )


def _left(resume: Times, needed: Times) -> Times:
    def less(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else max(0.0, one - other)

    return Times(
        less(resume.recorded, needed.recorded),
        max(0.0, resume.model - needed.model),
        less(resume.changed, needed.changed),
    )


def _rest(
    graph: Graph,
    named: Iterable[str],
    ends: Mapping[str, float | None],
    needed: float | None,
) -> tuple[tuple[str, float], ...]:
    own = _above(graph.tree, named)
    late = [
        (name, end)
        for name, end in ends.items()
        if name not in own and end is not None and needed is not None and end > needed
    ]
    return tuple(sorted(late, key=lambda item: -item[1]))


def _kernel(cycle: Cycle) -> float:
    """The kernel's resume in microseconds, as far as it is recorded."""
    up = [cycle.spans[phase] for phase in _UP if phase in cycle.spans]
    start = min(span.start_s for span in up)
    end = max(span.end_s for span in up)
    for span in cycle.steps:
        if span.action == "machine_suspend" and span.end_s <= start:
            start = span.end_s
            break
    tail = ("dpm_complete", "thaw_processes")
    end = max([end, *(s.end_s for s in cycle.steps if s.action in tail)])
    return (end - start) * 1e6
