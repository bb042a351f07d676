# SPDX-License-Identifier: GPL-2.0-only
"""Made-up recordings, in the dialects in which there are real ones.

The machine: ``platform`` with the sync child ``kbd``, and ``bus0``, ``disk``
and ``screen`` on it, which are async. In suspend the screen takes 30 ms, and
the bus waits for it; in resume the disk and the screen wait for the bus.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lull.trees.model import Phase, Tree
from lull.trees.schedule import Rules, Slot, schedule

MAIN = ("sh", 100)
DISK = ("kworker/u8:1", 201)
SCREEN = ("<...>", 202)
BUS = ("kworker/u8:3", 203)


@dataclass(frozen=True)
class Line:
    """An event: microseconds, who, which, and what it says."""

    us: int
    who: tuple[str, int]
    event: str
    rest: str


def mark(us: int, action: str, begin: bool, val: int = 2) -> Line:
    edge = "begin" if begin else "end"
    return Line(us, MAIN, "suspend_resume", f"{action}[{val}] {edge}")


def note(us: int, what: str) -> Line:
    """What pm-graph writes into a trace around its write to the state file."""
    return Line(us, MAIN, "tracing_mark_write", what)


def call(
    start: int, end: int, who: tuple[str, int], device: str, info: str, err: int = 0
) -> list[Line]:
    """``device`` is "DRIVER NAME<PARENT"; ``info`` "bus [suspend]" and such."""
    name, _, parent = device.partition("<")
    first = f"{name}, parent: {parent or 'none'}, {info}"
    return [
        Line(start, who, "device_pm_callback_start", first),
        Line(end, who, "device_pm_callback_end", f"{name}, err={err}"),
    ]


def phase(us: int, end: int, action: str, *calls: list[Line]) -> list[Line]:
    """A phase from ``us`` to ``end``; its callbacks count from ``us``."""
    val = 16 if "resume" in action else 2
    inside = [
        Line(us + line.us, line.who, line.event, line.rest)
        for each in calls
        for line in each
    ]
    return [
        mark(us, action, True, val),
        *sorted(inside, key=lambda line: line.us),
        mark(end, action, False, val),
    ]


def prepare(us: int) -> list[Line]:
    order = (
        "platform platform",
        "kbd kbd<platform",
        "bus bus0",
        "d disk<bus0",
        "screen screen<bus0",
    )
    calls = [call(i, i, MAIN, device, "[suspend]") for i, device in enumerate(order, 1)]
    return phase(us, us + 10, "dpm_prepare", *calls)


def cycle(us: int = 1_000_000) -> list[Line]:
    """A whole one, 100 ms long."""
    down, up = "bus [suspend]", "bus [resume]"
    return [
        mark(us, "suspend_enter", True, 3),
        mark(us + 5, "suspend_enter", False, 3),
        *prepare(us + 10),
        *phase(
            us + 100,
            us + 30_700,
            "dpm_suspend",
            call(20, 30_020, SCREEN, "screen screen<bus0", down),
            call(30, 12_030, DISK, "d disk<bus0", down),
            call(50, 1_050, MAIN, "kbd kbd<platform", "driver [suspend]"),
            call(30_040, 30_540, BUS, "bus bus0", "type [suspend]"),
        ),
        *phase(
            us + 31_000,
            us + 33_200,
            "dpm_suspend_late",
            call(100, 2_100, SCREEN, "screen screen<bus0", "late bus [suspend]"),
        ),
        *phase(
            us + 34_000,
            us + 35_100,
            "dpm_suspend_noirq",
            call(50, 1_050, BUS, "bus bus0", "noirq type [suspend]"),
        ),
        mark(us + 36_000, "machine_suspend", True, 3),
        mark(us + 37_000, "machine_suspend", False, 3),
        *phase(
            us + 40_000,
            us + 42_100,
            "dpm_resume_noirq",
            call(50, 2_050, BUS, "bus bus0", "noirq type [resume]"),
        ),
        *phase(
            us + 43_000,
            us + 44_100,
            "dpm_resume_early",
            call(50, 1_050, SCREEN, "screen screen<bus0", "early bus [resume]"),
        ),
        *phase(
            us + 50_000,
            us + 70_700,
            "dpm_resume",
            call(10, 510, BUS, "bus bus0", "type [resume]"),
            call(15, 1_015, MAIN, "kbd kbd<platform", "driver [resume]"),
            call(520, 5_520, DISK, "d disk<bus0", up),
            call(530, 20_530, SCREEN, "screen screen<bus0", up),
        ),
        *phase(us + 80_000, us + 80_100, "dpm_complete"),
    ]


#: What device_pm_callback_start says of each phase.
INFO = {
    Phase.SUSPEND: "bus [suspend]",
    Phase.SUSPEND_LATE: "late bus [suspend]",
    Phase.SUSPEND_NOIRQ: "noirq bus [suspend]",
    Phase.RESUME_NOIRQ: "noirq bus [resume]",
    Phase.RESUME_EARLY: "early bus [resume]",
    Phase.RESUME: "bus [resume]",
}


def of_tree(tree: Tree, rules: Rules = Rules.STOCK) -> list[Line]:
    """A cycle of ``tree`` as the model has it, a worker for each async device."""
    us = 1_000_000
    order = [f"d {said(tree, d.name)}" for d in tree.devices]
    calls = [call(i, i, MAIN, name, "[suspend]") for i, name in enumerate(order, 1)]
    lines = phase(us, us + len(calls) + 1, "dpm_prepare", *calls)
    us += len(calls) + 10
    for each in Phase:
        plan = schedule(tree, each, rules, cpus=len(tree.devices))
        lines += of_slots(tree, each, us, plan.slots)
        us += round(plan.makespan_us) + 20
    return lines


def of_slots(tree: Tree, each: Phase, us: int, slots: Mapping[str, Slot]) -> list[Line]:
    """A phase that begins at ``us`` and in which devices ran when ``slots`` say."""
    calls = []
    place = {device.name: i for i, device in enumerate(tree.devices)}
    # As they ended: what one thread did in one microsecond stays in its order.
    for name, slot in slots.items():
        i = place[name]
        if each in tree.devices[i].work:
            who = MAIN if slot.main else (f"kworker/u8:{i}", 1000 + i)
            times = round(slot.start_us) + 5, round(slot.end_us) + 5
            calls.append(call(*times, who, f"d {said(tree, name)}", INFO[each]))
    last = max((slot.end_us for slot in slots.values()), default=0)
    return phase(us, us + round(last) + 10, f"dpm_{each}", *calls)


def said(tree: Tree, name: str) -> str:
    """The device as ``call`` takes it, with its parent."""
    parent = next(device.parent for device in tree.devices if device.name == name)
    return f"{name}<{parent}" if parent else name


def _tracefs(columns: str) -> Callable[[Line], str]:
    def line(each: Line) -> str:
        task, pid = each.who
        start = f"{task:>16}-{pid:<5} {columns} {each.us / 1e6:12.6f}:"
        return f"{start} {each.event}: {each.rest}"

    return line


def _trace_cmd(each: Line) -> str:
    task, pid = each.who
    start = f"{task:>16}-{pid:<5} [001] {each.us / 1e6:12.6f}:"
    return f"{start} {each.event + ':':<21}{each.rest}"


def _function_graph(columns: str, task: bool = True) -> Callable[[Line], str]:
    def line(each: Line) -> str:
        # Seven characters of the name are all that there is room for.
        who = f"{each.who[0][:7]}-{each.who[1]}" if task else ""
        head = f"{each.us / 1e6:12.6f} |   1) {who:^14} |{columns}"
        said = f"{each.event}: {each.rest}"
        if each.event == "tracing_mark_write":
            said = each.rest
        return f"{head}               |    /* {said} */"

    return line


#: Traces of function_graph, by the options that were set.
GRAPHS: dict[str, Callable[[Line], str]] = {
    "graph": _function_graph(""),
    "graph-irq-info": _function_graph("  d..1. |"),
}
NO_TASK = _function_graph("", task=False)

DIALECTS: dict[str, Callable[[Line], str]] = {
    "flags": _tracefs("[001] ...."),
    "migration": _tracefs("[001] ...1."),
    "rt": _tracefs("[001] .....2.."),
    "rt-letters": _tracefs("[001] dN.h2.1"),
    "no-flags": _tracefs("[001]"),
    "tgid": _tracefs("(    100) [001] ...."),
    "no-tgid": _tracefs("(-------) [001] d..2."),
    "trace-cmd": _trace_cmd,
}

STAMP = "# suspend-010203-040506 box mem 5.3.0+"
HEAD = (
    "# tracer: nop\n#\n"
    "# entries-in-buffer/entries-written: 99/99   #P:4\n#\n"
    "#           TASK-PID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
    "#              | |       |   ||||       |         |\n"
)


def devinfo(**flags: bool) -> str:
    """pm-graph's footer, with names of products that have commas in them."""
    text = "".join(f"{name},Maker, Inc.,{flag:d};" for name, flag in flags.items())
    packed = base64.b64encode(zlib.compress(text.encode())).decode()
    return f"# platform-devinfo: {packed}"


def text(lines: list[Line], dialect: str = "flags", head: str = HEAD) -> bytes:
    write = {**DIALECTS, **GRAPHS}[dialect]
    return (head + "".join(f"{write(line)}\n" for line in lines)).encode()


def recorded() -> bytes:
    """All that pm-graph writes: stamp, head, a cycle, the footer."""
    flags = devinfo(platform=False, kbd=False, bus0=True, disk=True, screen=True)
    return f"{STAMP}\n".encode() + text(cycle()) + f"{flags}\n".encode()
