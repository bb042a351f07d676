# SPDX-License-Identifier: GPL-2.0-only
"""A recording as text for a terminal, at most 79 columns. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lull.graph.account import Account
from lull.graph.dmesg import Check
from lull.graph.needs import Answer, Times
from lull.graph.path import CriticalRun, Hop, Waits
from lull.graph.recording import Callback, Caveat, Cycle, Recording
from lull.graph.reduced import Symptom
from lull.graph.suspect import Evidence, Names, Suspect, async_path
from lull.graph.tree import Graph
from lull.graph.whatif import KernelRules, Prediction, Replay
from lull.trees.model import Phase
from lull.trees.schedule import CriticalPath

WIDTH = 79
_NAME = 24
#: So many calls of ->prepare() and ->complete() are named, and so many gaps.
_ASIDES = 3
_BAR = 30
#: Steps of a path that are shorter than this share of the phase are summed up.
_SHORT = 0.002


def heading(recording: Recording, number: int, cycle: Cycle, where: str) -> list[str]:
    """What was recorded, and which cycle of it this is."""
    header = recording.header
    facts = [
        f"Linux {header.kernel}" if header.kernel else "an unknown kernel",
        header.mode,
        f"{header.cpus} CPUs" if header.cpus else "",
        f"cycle {number} of {len(recording.cycles)}",
    ]
    whole = "" if cycle.complete else ", not complete"
    return [f"{where}: {', '.join(filter(None, facts))}{whole}"]


def caveats(found: Iterable[Caveat]) -> list[str]:
    """What is missing, before anything that rests on it."""
    lines = [f"  - {caveat}" for caveat in found]
    return ["", "caveats", *(_wrapped(line) for line in lines)] if lines else []


def account(found: Account | None) -> list[str]:
    """The whole cycle, a line a step, and what nobody claims.

    In ms to three decimals, which is what the account has: nothing is rounded
    here, and the lines add up.
    """
    if found is None:
        return []
    whole = found.whole
    start = "the write to the state file" if whole.write else "the first event"
    end = "its return" if whole.returned and whole.write else "the return of that write"
    end = end if whole.returned else "the last event"
    lines = ["", f"the whole cycle, from {start} to {end}"]
    for part in found.parts:
        times = f", {part.times} times" if part.times > 1 else ""
        lines.append(_part(found, part.name + times, part.us))
        for aside in part.asides[:_ASIDES]:
            if aside.us >= 1e3:
                lines.append(
                    f"    {_ms(aside.us / 1e3)}  of it in {_cut(aside.device)}"
                )
    lines.append(_part(found, "tail, after the last of these", found.tail_us))
    lines.append(_part(found, "nobody claims", found.unclaimed_us))
    for gap in found.gaps[:_ASIDES]:
        if gap.us >= 1e3:
            between = f"after {gap.after}" if gap.after else f"before {gap.before}"
            lines.append(f"    {_ms(gap.us / 1e3)}  of it {between}")
    lines.append(_part(found, "together", found.total_us))
    return lines


def _part(found: Account, name: str, us: int) -> str:
    share = us / found.total_us if found.total_us else 0.0
    return f"  {name:<32}{us // 1000:8}.{us % 1000:03}  {share:6.1%}"


def phases(
    cycle: Cycle,
    graph: Graph,
    paths: Mapping[Phase, CriticalRun],
    ideals: Mapping[Phase, CriticalPath],
    checks: Iterable[Check],
) -> list[str]:
    """A line a phase, in ms; the kernel's own figure beside it where known.

    ``as run`` is what the critical path, as it ran, has in callbacks; ``ideal``
    the longest path through the graph, in any order.
    """
    log = {check.phase: check for check in checks}
    lines = [
        "",
        "phase              ms  calls       sum    as run     ideal"
        + ("   kernel's log" if log else ""),
    ]
    for phase, span in cycle.spans.items():
        calls = graph.calls[phase].values()
        line = (
            f"{phase:<13}{_ms(span.ms)}{'' if span.ended else '+':1}{len(calls):6}"
            f"{_ms(sum(call.us for call in calls) / 1e3)}"
            f"{_ms(paths[phase].callbacks_s * 1e3)}{_ms(ideals[phase].us / 1e3)}"
        )
        if phase in log:
            off = log[phase]
            line += f"{_ms(off.log_ms)} {_percent(off.off, 2)}"
            line += "" if off.ok else " !"
        lines.append(line)
    odd = [check for check in log.values() if not check.ok]
    if odd:
        lines.append("  ! the trace and the kernel's log disagree by more than 0.5%")
    return lines


def timeline(waits: Waits, most: int | None) -> list[str]:
    """The callbacks of a phase as bars, the ``most`` longest (None: all)."""
    calls = waits.calls
    longest = sorted(calls, key=lambda n: calls[n].start_s - calls[n].last_s)[:most]
    shown = sorted(longest, key=lambda name: waits.calls[name].start_s)
    number = len(waits.calls)
    which = f"the {len(shown)} longest of {number}" if len(shown) < number else "all"
    lines = [
        "",
        f"{waits.phase}: {waits.span.ms:.3f} ms, {which} callbacks"
        " (# worker, = main thread)",
    ]
    for name in shown:
        call = waits.calls[name]
        mark = "=" if waits.in_main(name) else "#"
        bar = _bar(waits, call, mark if call.ended else "?")
        took = (call.last_s - call.start_s) * 1e3
        note = f" err={call.err}" if call.err else ""
        note = note if call.ended else " at most"
        lines.append(f"  {_cut(name):<{_NAME}}|{bar}|{_ms(took)}{note}")
    return lines


def _bar(waits: Waits, call: Callback, mark: str) -> str:
    length = max(waits.span.end_s - waits.span.start_s, 1e-9)

    def column(time: float) -> int:
        share = (time - waits.span.start_s) / length
        return min(_BAR - 1, max(0, int(share * _BAR)))

    first, last = column(call.start_s), column(call.last_s)
    return (" " * first + mark * (last - first + 1)).ljust(_BAR)


def critical(path: CriticalRun, ideal: CriticalPath) -> list[str]:
    """The path as it ran, and the best there could be."""
    lines = [
        "",
        f"critical path of {path.phase} as it ran: {path.callbacks_s * 1e3:.3f} of"
        f" {path.span.ms:.3f} ms in callbacks",
    ]
    for group in groups(path):
        if len(group) == 1:
            lines.append(_step(path, group[0]))
            lines += _gap(group[0])
        else:
            total = sum(step.ms for step in group)
            ends = f"{_cut(group[0].name)} to {_cut(group[-1].name)}"
            text = f"{len(group)} short ones, {ends}"
            lines.append(f"  {_share(path, total)}{_ms(total)}  {text}")
    if path.rest_s > 1e-3:
        rest = path.rest_s * 1e3
        lines.append(f"  {_share(path, rest)}{_ms(rest)}  after the last callback")
    names = ", ".join(ideal.devices[-6:]) or "nothing"
    before = "..., " if len(ideal.devices) > 6 else ""
    lines.append(
        _wrapped(f"  in any order, at least {ideal.us / 1e3:.3f} ms: {before}{names}")
    )
    return lines


def groups(path: CriticalRun) -> Iterator[list[Hop]]:
    """The steps of a path; short ones that follow each other are one group."""
    group: list[Hop] = []
    for step in path.steps:
        if path.share(step) < _SHORT and step.gap_s < 1e-3:
            group.append(step)
            continue
        if group:
            yield group
            group = []
        yield [step]
    if group:
        yield group


def _step(path: CriticalRun, step: Hop) -> str:
    why = f"{step.why} {_cut(step.after)}" if step.after else str(step.why)
    line = f"  {_share(path, step.ms)}{_ms(step.ms)}  {_cut(step.name)}: {why}"
    return _wrapped(line, 22)


def _gap(step: Hop) -> list[str]:
    if step.gap_s <= 1e-3:
        return []
    return [f"        {_ms(step.gap_s * 1e3)}    before it: {step.gap}"]


def device(waits: Waits, name: str) -> list[str]:
    """What a device waits for in a phase, and what waits for it."""
    verb = "" if waits.devices[name].is_async else "not "
    lines = ["", f"{name} in {waits.phase}: {verb}async"]
    if name not in waits.calls:
        lines[-1] += ", no callback"
    else:
        step = waits.why(name)
        start = (step.call.start_s - waits.span.start_s) * 1e3
        after = f" {step.after}" if step.after else ""
        gap = f", {step.gap_s * 1e3:.3f} ms before it" if step.gap_s > 1e-4 else ""
        took = f"took {step.ms:.3f} ms"
        if not step.call.ended:
            most = (step.call.last_s - step.call.start_s) * 1e3
            took = f"took at most {most:.3f} ms: its end is lost"
        lines += [
            f"  began at {start:.3f} ms, {took}",
            f"  {step.why}{after}{gap}{': ' + step.gap if step.gap else ''}",
        ]
    below = sorted(other for other, needs in waits.needs.items() if name in needs)
    lines.append("  waits for")
    lines += _devices(waits, sorted(waits.needs[name]))
    lines.append("  is waited for by")
    lines += _devices(waits, below)
    return lines


def _devices(waits: Waits, names: Sequence[str]) -> list[str]:
    lines = []
    for name in names:
        call = waits.calls.get(name)
        if call is None:
            lines.append(f"    {_cut(name):<{_NAME}}  no callback")
            continue
        end = (call.end_s - waits.span.start_s) * 1e3
        lines.append(f"    {_cut(name):<{_NAME}}{_ms(call.us / 1e3)}  to {end:.3f}")
    return lines or ["    nothing"]


def replays(found: Iterable[Replay], kernel: KernelRules) -> list[str]:
    """Whether the model has the recording's own times."""
    rules = f"the rules of {kernel.rules}" + ("" if kernel.known else ", a guess")
    lines = ["", f"replay under {rules}    measured     model"]
    for each in found:
        ok = "" if each.ok else " !"
        lines.append(
            f"  {each.phase:<{len(rules) + 13}}{_ms(each.measured_us / 1e3)}"
            f"{_ms(each.predicted_us / 1e3)} {_percent(each.off):>7}{ok}"
        )
        if each.why:
            lines.append(_wrapped(f"    {each.why}"))
    return lines


def predictions(found: Sequence[Prediction], spec: str) -> list[str]:
    """The model's times, without and with the changes."""
    lines = ["", f"what if {spec}"]
    lines.append("  in the model   as recorded   changed")
    for each in found:
        before, after = each.before_us / 1e3, each.after_us / 1e3
        change = f" {_percent(after / before - 1):>7}" if before else ""
        lines.append(f"  {each.phase:<16}{_ms(before)}{_ms(after)}{change}")
    return lines


def needs(found: Answer) -> list[str]:
    """When what is needed is back, and what nobody who was named waits for."""
    names = ["recorded", "model", "changed"][: 2 if found.needed.changed is None else 3]
    lines = [
        "",
        "back, in ms from the beginning of dpm_resume",
        f"  {'':<{_NAME}}" + "".join(f"{name:>10}" for name in [*names, "alone"]),
    ]
    for wanted in found.wanted:
        lines.append(f"{wanted.word}{'' if wanted.devices else ': none is recorded'}")
        for back in wanted.devices:
            alone = _ms(back.alone / 1e3)
            lines.append(f"  {_cut(back.name):<{_NAME}}{_times(back.times)}{alone}")
            if back.holder_us >= 1e3:
                way = f", by way of {_cut(back.through)}"
                way = "" if back.through == back.holder else way
                text = f"    held back by {_cut(back.holder)}, on which it does not"
                took = f"depend ({back.holder_us / 1e3:.3f} ms{way})"
                lines.append(_wrapped(f"{text} {took}"))
    lines.append(f"{'all of these':<{_NAME + 2}}{_times(found.needed)}")
    lines.append(f"{'dpm_resume':<{_NAME + 2}}{_times(found.resume)}")
    lines.append(f"{'nobody named waits for':<{_NAME + 2}}{_times(found.left)}")
    left, whole = found.left.recorded, found.resume.recorded
    if left is None or not whole or not found.kernel:
        return lines
    share = f"that is {left / whole:.1%} of dpm_resume, {left / found.kernel:.1%}"
    text = f"{share} of the kernel's resume of {found.kernel / 1e3:.3f} ms"
    lines.append(_wrapped(f"  {text}, as recorded"))
    late = ", ".join(f"{_cut(name)} {end / 1e3:.3f}" for name, end in found.rest[:6])
    if late:
        more = f", and {len(found.rest) - 6} more" if len(found.rest) > 6 else ""
        lines.append(_wrapped(f"  back after that: {late}{more}", 4))
    return lines


def suspects(
    found: Sequence[Suspect], names: Names, most: int, count: int
) -> list[str]:
    """The ``most`` likeliest of ``count`` pairs, what speaks for each, and what would
    keep it in order. ``names`` are those of ``recorded_names``."""
    if not found:
        return [
            "",
            "no callback hung, failed or took longer with pm_async on, after whose",
            "order with another nobody had looked: nobody is suspected",
        ]
    lines = ["", "pairs whose order only the walk had kept, the likeliest first"]
    for number, each in enumerate(found[:most], 1):
        pair = f"{each.supplier} has to come before {each.consumer}"
        lines.append(_wrapped(f"  {number}. {pair} (score {each.score:.2f})", 5))
        first = each.evidence[0]
        again = each.times - 1
        more = f"; and {again} more like it" if again else ""
        lines.append(_wrapped(f"     {_evidence(each, first)}{more}"))
        for name in each.disable:
            path = async_path(names, name)
            lines.append(f"     echo disabled | find /sys/devices -path '{path}' \\")
            lines.append("       -exec tee {} +")
        if not each.disable:
            lines.append("     both are sync: pm_async is not what parted them")
    left = count - min(most, len(found))
    if left:
        more = " (--all)" if len(found) > most else ""
        lines.append(f"  and {left:,} that are less likely{more}")
    return lines


def _evidence(suspect: Suspect, first: Evidence) -> str:
    other = suspect.supplier
    if other == first.victim:
        other = suspect.consumer
    alone, took = f"{first.alone_us / 1e3:.3f}", f"{first.us / 1e3:.3f}"
    if first.symptom is Symptom.HUNG:
        what = f"never ended; alone it took {alone} ms"
    elif first.symptom is Symptom.FAILED:
        what = f"failed with {first.err}"
    else:
        what = f"took {took} ms, alone {alone}"
    when = ""
    if first.after_us is not None:
        side = "after" if first.after_us >= 0 else "before"
        when = f", and ended {abs(first.after_us) / 1e3:.3f} ms {side} {other}"
    return f"in {first.phase} {first.victim} {what}{when}"


def _times(times: Times) -> str:
    recorded = "      lost" if times.recorded is None else _ms(times.recorded / 1e3)
    changed = "" if times.changed is None else _ms(times.changed / 1e3)
    return recorded + _ms(times.model / 1e3) + changed


def _share(path: CriticalRun, ms: float) -> str:
    return f"{ms / path.span.ms if path.span.ms > 0 else 0:6.1%}"


def _ms(ms: float) -> str:
    return f"{ms:10.3f}"


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 3] + "..."


def _percent(share: float, digits: int = 1) -> str:
    # Adding 0 makes -0.0% a +0.0%.
    return f"{round(share, digits + 2) + 0.0:+.{digits}%}"


def _wrapped(line: str, hanging: int | None = None) -> str:
    """Over as many lines as it takes, indented like its first, or by ``hanging``."""
    text = line.lstrip(" -")
    indent = line[: len(line) - len(text)]
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * (len(indent) if hanging is None else hanging),
        break_on_hyphens=False,
    )
