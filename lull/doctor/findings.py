# SPDX-License-Identifier: GPL-2.0-only
"""From what was seen to what is said, in the order of what it costs. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lull.doctor.bundle import Bundle
from lull.doctor.gains import gains, with_gains
from lull.doctor.model import Budget, Finding, Grade, Report, Times
from lull.doctor.rules_cost import costs
from lull.doctor.rules_fail import fails
from lull.doctor.rules_measured import measured, without_guesses
from lull.doctor.seen import Seen, facts, see, unseen
from lull.errors import UsageError

#: What a budget can be of: parts of a suspend that the log times.
BUDGETS = ("resume", "freeze", "thaw", "sync")

_LIMIT = re.compile(r"^(\w+)=(\d+(?:\.\d+)?)(us|ms|s)$")
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


def judge(bundle: Bundle, budgets: Sequence[tuple[str, float]] = ()) -> Report:
    """The report; ``budgets`` as ``read_budget`` gives them."""
    seen = see(bundle)
    return Report(
        schema=1,
        time=bundle.manifest.time,
        root=bundle.manifest.uid == 0,
        facts=facts(seen),
        findings=tuple(sorted(_all(seen), key=_order)),
        gains=gains(seen),
        unseen=(
            *(f"{m.name} was not measured: {m.why}" for m in seen.measured.missing),
            *unseen(bundle.manifest),
        ),
        budgets=tuple(_budget(name, ms, seen.times.get(name)) for name, ms in budgets),
    )


def _all(seen: Seen) -> list[Finding]:
    found = without_guesses([*fails(seen), *costs(seen), *measured(seen)])
    return [with_gains(seen, finding) for finding in found]


def _order(finding: Finding) -> tuple[int, float]:
    """By grade, then by cost: the dearest first, what is not known last."""
    cost = finding.cost_ms
    return list(Grade).index(finding.grade), -cost if cost is not None else 1.0


def read_budget(words: str) -> tuple[str, float]:
    """ "resume=800ms" -> ("resume", 800.0). Raises UsageError."""
    match = _LIMIT.match(words)
    if match is None or match[1] not in BUDGETS:
        raise UsageError(
            f"'{words}' is no budget",
            hint=f"--budget resume=800ms; of {', '.join(BUDGETS)}; us, ms or s",
        )
    return match[1], float(match[2]) * _MS[match[3]]


def _budget(name: str, limit: float, times: Times | None) -> Budget:
    if times is None:
        return Budget(name=name, limit_ms=limit, seen_ms=None, n=0, ok=None)
    ok = times.median <= limit
    return Budget(name=name, limit_ms=limit, seen_ms=times.median, n=times.n, ok=ok)
