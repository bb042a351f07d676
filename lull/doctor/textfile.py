# SPDX-License-Identifier: GPL-2.0-only
"""The report for Prometheus' textfile collector. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from lull.doctor.model import Grade, Report

Sample = tuple[dict[str, str], float]


def textfile(report: Report) -> str:
    """The text format, version 0.0.4: gauges, each with its help."""
    facts, power = report.facts, report.facts.power
    grades = [f.grade for f in report.findings]
    lines: list[str] = []

    def gauge(name: str, about: str, samples: Iterable[Sample]) -> None:
        found = list(samples)
        if not found:
            return
        lines.append(f"# HELP lull_doctor_{name} {about}")
        lines.append(f"# TYPE lull_doctor_{name} gauge")
        lines.extend(_line(f"lull_doctor_{name}", *sample) for sample in found)

    gauge("time_seconds", "When it looked.", [({}, report.time)])
    gauge("root", "Whether it was root.", [({}, report.root)])
    gauge(
        "findings",
        "What was found, by grade.",
        [({"grade": grade}, grades.count(grade)) for grade in Grade],
    )
    gauge("threads", "Threads there are.", [({}, facts.threads)])
    gauge(
        "zombies",
        "Dead children that nobody waits for, by parent.",
        [
            ({"parent": z.parent, "pid": str(z.pid), "container": z.container}, z.count)
            for z in facts.zombies[:20]
        ],
    )
    gauge(
        "woken_by_thaw",
        "Sleepers that a thaw of this kernel's stock wakes, by wait.",
        [({"wait": w.name}, w.count) for w in facts.waits if w.stock == "woken"],
    )
    if power.stats is not None:
        gauge(
            "suspends",
            "Suspends since boot that came back.",
            [({}, power.stats.success)],
        )
        gauge(
            "suspends_failed",
            "Suspends since boot that failed.",
            [({}, power.stats.fail)],
        )
    gauge(
        "part_seconds",
        "Parts of a suspend in the log, median.",
        [({"part": name}, t.median / 1e3) for name, t in facts.times.items()],
    )
    gauge(
        "budget_seconds",
        "Limits that were asked for.",
        [({"part": b.name}, b.limit_ms / 1e3) for b in report.budgets],
    )
    gauge(
        "budget_kept",
        "Whether they are kept; absent where the log does not say.",
        [({"part": b.name}, b.ok) for b in report.budgets if b.ok is not None],
    )
    gauge("unseen", "What could not be looked at.", [({}, len(report.unseen))])
    return "\n".join(lines) + "\n"


def _line(name: str, labels: dict[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_quoted(text)}"' for key, text in labels.items())
    where = f"{{{inside}}}" if inside else ""
    return f"{name}{where} {float(value):.9g}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
