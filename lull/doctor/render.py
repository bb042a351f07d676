# SPDX-License-Identifier: GPL-2.0-only
"""The report as text, for a terminal or a mail: at most 79 columns. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from lull.doctor.model import Budget, Estimate, Facts, Finding, Grade, Report

WIDTH = 79

_HEADS = {
    Grade.FAILS: "a suspend fails",
    Grade.WRONG: "not as it should be",
    Grade.COSTS: "costs",
    Grade.SETTING: "a switch",
    Grade.NOTE: "to know",
}


def render(report: Report) -> list[str]:
    """Lines: what was seen, findings, budgets, what was not seen."""
    lines = _facts(report.facts, report.root)
    if not report.findings:
        lines += ["", "Nothing was found that is slow here."]
    for n, finding in enumerate(report.findings, 1):
        lines += ["", *_finding(n, finding)]
    lines += ["", "What Lull would take off here, as far as the lab can say:"]
    for gain in report.gains:
        lines += _wrap(f"{gain.feature}: {_gain(gain)}", "  ")
    if report.budgets:
        lines += ["", *(line for b in report.budgets for line in _budget(b))]
    if report.unseen:
        lines += ["", "Not seen:"]
        lines += [line for text in report.unseen for line in _wrap(text, "  ")]
    return lines


def _wrap(text: str, indent: str, first: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent + ("  " if first is None else ""),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _facts(facts: Facts, root: bool) -> list[str]:
    who = "" if root else ", not as root"
    lull = ", ".join(f"{k} {v}" for k, v in facts.lull.items()) or "none"
    lines = [f"Linux {facts.kernel}, {facts.machine}{who}; Lull: {lull}"]
    dead = sum(each.count for each in facts.zombies)
    forks = f", {facts.forks_s:.0f} forks/s" if facts.forks_s is not None else ""
    lines += _wrap(
        f"{facts.processes:,} processes, {facts.threads:,} threads, {dead:,} zombies, "
        f"{facts.containers} containers{forks}",
        "",
    )
    lines += _wrap(_switches(facts), "")
    if facts.waits:
        asleep = ", ".join(f"{w.count} {w.name}" for w in facts.waits[:6])
        lines += _wrap(f"asleep in: {asleep}; not known: {facts.waits_unknown}", "")
    timed = ", ".join(
        f"{name} {t.median:,.0f} ms (n={t.n})" for name, t in facts.times.items()
    )
    stats = facts.power.stats
    count = f"; since boot {stats.success} done, {stats.fail} failed" if stats else ""
    lines += _wrap(
        f"suspends in the log: {facts.suspends}{count}; {timed}".rstrip("; "), ""
    )
    return lines


def _switches(facts: Facts) -> str:
    power = facts.power

    def on(value: bool | None) -> str:
        return "?" if value is None else "on" if value else "off"

    timeout = power.freeze_timeout_ms
    words = [
        f"mem_sleep {power.mem_sleep or '?'}",
        f"pm_async {on(power.pm_async)}",
        f"sync_on_suspend {on(power.sync_on_suspend)}",
        f"freeze timeout {'?' if timeout is None else f'{timeout / 1e3:.3g} s'}",
        f"favordynmods {on(facts.favordynmods)}",
        f"rcu_expedited {on(power.rcu_expedited)}",
        f"zswap {on(facts.swap.zswap)}",
    ]
    if facts.async_devices is not None:
        words.append(f"{facts.async_devices} devices async, {facts.sync_devices} sync")
    return ", ".join(words)


def _finding(n: int, finding: Finding) -> list[str]:
    head = f"{n}. {finding.title}"
    lines = textwrap.wrap(head, WIDTH, subsequent_indent="   ", break_on_hyphens=False)
    cost = f": {finding.cost}" if finding.cost else ""
    lines += _wrap(f"{_HEADS[finding.grade]}{cost}", "   ")
    lines += _items(finding.evidence, "seen")
    for estimate in finding.estimates:
        lines += _wrap(f"Lull, {estimate.feature}: {_estimate(estimate)}", "   ")
    for each in finding.remedies:
        lines += _wrap(f"without Lull: {each.text}", "   ")
        if each.command:
            lines.append(f"       {each.command}")
        lines += _wrap(f"price: {each.price}", "     ")
        lines += _wrap(f"back: {each.back}", "     ")
        lines += _wrap(f"helped: {each.helped}", "     ")
    for vain in finding.vain:
        lines += _wrap(f"does not help: {vain.text}: {vain.why}", "   ")
    return lines


def _items(texts: Iterable[str], word: str) -> list[str]:
    return [line for text in texts for line in _wrap(f"{word}: {text}", "   ")]


def _estimate(estimate: Estimate) -> str:
    basis = f" ({estimate.basis})" if estimate.basis else ""
    return _gain(estimate) + basis


def _gain(estimate: Estimate) -> str:
    if estimate.saved_ms is None:
        return f"not estimated: {estimate.why_not}"
    low, high = (_ms(value) for value in estimate.saved_ms)
    of = f" of {_ms(estimate.of_ms)}" if estimate.of_ms is not None else ""
    clock = "" if estimate.clock == "log" else f", {estimate.clock}: not this machine's"
    return f"{low} to {high} ms less{of}{clock}"


def _ms(value: float) -> str:
    """Two figures, but no more than four places."""
    if value >= 10 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.2g}" if value >= 0.01 else f"{value:.4f}"


def _budget(budget: Budget) -> list[str]:
    if budget.seen_ms is None:
        said = "the log has none"
    else:
        said = f"{budget.seen_ms:,.0f} ms, median of {budget.n}"
    word = {True: "kept", False: "EXCEEDED", None: "not known"}[budget.ok]
    return [f"budget {budget.name} {_ms(budget.limit_ms)} ms: {word} ({said})"]
