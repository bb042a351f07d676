# SPDX-License-Identifier: GPL-2.0-only
"""What a feature of Lull would take off: counts seen here, times the lab's costs. Pure.

Where a phase's time is known it bounds the estimate. What nobody measured is not
estimated.
"""

from __future__ import annotations

from lull.doctor.costs import Cost, around, costs, each, hull
from lull.doctor.model import Estimate, Times
from lull.doctor.read_recording import Recorded


def _sources(rows: tuple[Cost, ...]) -> str:
    return "; ".join(dict.fromkeys(f"{row.source} ({row.clock})" for row in rows))


def _at_most(low: float, high: float, of: float | None) -> tuple[float, float]:
    if of is None:
        return max(0.0, low), max(0.0, high)
    return max(0.0, min(low, of)), max(0.0, min(high, of))


def freeze(dead: int, alive: int, phase: Times | None) -> Estimate:
    """By the many: of zombies, or of threads that live. The lab's figures are of one
    kind at a time, so that a machine with few of both has no estimate."""
    many = "zombies" if dead > alive else "sleepers"
    n = max(dead, alive)
    rows = tuple(c for c in costs(f"freeze {many}") if c.clock == "insn")
    near = around(rows, n)
    of = phase.median if phase else None
    if not near:
        return Estimate(
            feature="freeze",
            of_ms=of,
            why_not=f"{n:,} {many} here; the lab has measured {rows[0].n:,} to "
            f"{rows[-1].n:,}",
        )
    low, high = hull([row.ratios for row in near])
    basis = f"{n:,} {many}; {_sources(near)}"
    if of is not None:
        return Estimate(
            feature="freeze",
            saved_ms=_at_most(of * (1 - high), of * (1 - low), of),
            of_ms=of,
            clock="log",
            basis=basis,
        )
    stock = _between(near, n)
    return Estimate(
        feature="freeze",
        saved_ms=_at_most(stock[0] * (1 - high), stock[1] * (1 - low), None),
        clock="insn",
        basis=basis,
    )


def _between(near: tuple[Cost, ...], n: int) -> tuple[float, float]:
    """Stock's time at n: on the line between the figures on both sides of it."""
    size, beyond = near[0].n, near[-1].n
    low = hull([row.stock for row in near if row.n == size])
    high = hull([row.stock for row in near if row.n == beyond])
    share = (n - size) / (beyond - size) if beyond > size else 0.0
    first, last = (a + (b - a) * share for a, b in zip(low, high, strict=True))
    return first, last


def zombies_ms(n: int) -> float:
    """Milliseconds (insn) that so many cost each freeze of stock: their share of
    what 30,000 do, of which the walks are nearly all."""
    return n * sum(each(costs("freeze zombies", "insn")[-1:])) / 2


def thaw(woken: int, phase: Times | None) -> Estimate:
    """By how many sleepers a thaw of stock wakes, of those that Lull lets rest."""
    rows = costs("thaw woken")
    of = phase.median if phase else None
    if not woken:
        return Estimate(feature="thaw", of_ms=of, why_not="nobody seen would be woken")
    low, high = each(rows)
    ratios = hull([row.ratios for row in rows])
    saved = woken * low * (1 - ratios[1]), woken * high * (1 - ratios[0])
    return Estimate(
        feature="thaw",
        saved_ms=_at_most(*saved, of),
        of_ms=of,
        clock="insn",
        basis=f"threads that only stock wakes: {woken:,}; {_sources(rows)}",
    )


def exit_ms(mib: float) -> tuple[float, float]:
    """What the end of a process with so much in zram takes on stock, over all clocks
    on which it was measured."""
    low, high = each(costs("zfree munmap"))
    return mib * low, mib * high


def zfree(mib: float) -> Estimate:
    """At most: how the slots lie was not seen, and the lab's figures are of the best
    case, in which they lie in rows."""
    rows = tuple(row for row in costs("zfree munmap") if row.ratio is not None)
    low, _ = hull([row.ratios for row in rows])
    _, most = exit_ms(mib)
    return Estimate(
        feature="zfree",
        saved_ms=(0.0, most * (1 - low)),
        clock="insn, wall",
        basis=f"{mib:,.0f} MiB, at best; {_sources(rows)}",
    )


def zfree_measured(mib: float, ms: float) -> Estimate:
    """As above, by the time that it took here."""
    rows = tuple(row for row in costs("zfree munmap") if row.ratio is not None)
    low, _ = hull([row.ratios for row in rows])
    return Estimate(
        feature="zfree",
        saved_ms=(0.0, ms * (1 - low)),
        of_ms=ms,
        clock="log",
        basis=f"{mib:,.0f} MiB, at best; {_sources(rows)}",
    )


def attach() -> Estimate:
    """How often processes move is not seen, so there is no sum."""
    rows = costs("attach start")
    per = ", ".join(
        f"{row.stock_ms:.3g} to {row.stock_ms * row.ratio:.2g} ms ({row.clock})"
        for row in rows
        if row.stock_ms is not None and row.ratio is not None
    )
    return Estimate(
        feature="attach",
        basis=f"a program that moves itself to a cgroup, in the lab: {per}",
        why_not="how often processes move here was not counted",
    )


def recorded(found: Recorded) -> Estimate:
    """What `lull graph --what-if mode=lull` says of a recording of this machine."""
    total = found.down_ms + found.up_ms
    if found.saved_ms is None:
        why = "the recorded cycle was not whole"
        return Estimate(feature="devices", of_ms=total, why_not=why)
    return Estimate(
        feature="devices",
        saved_ms=found.saved_ms,
        of_ms=total,
        clock="model",
        basis="the recording of this machine under the rules of mode lull, give or "
        "take what the model is off in telling the recording itself",
    )


def devices(phases: Times | None) -> Estimate:
    """From recordings of other machines; one of this machine says far more."""
    rows = costs("devices phases")
    if phases is None:
        return Estimate(
            feature="devices",
            why_not="no times of the devices' phases in the log: --measure devices "
            "has them",
        )
    low, high = hull([row.ratios for row in rows])
    return Estimate(
        feature="devices",
        saved_ms=_at_most(
            phases.median * (1 - high), phases.median * (1 - low), phases.median
        ),
        of_ms=phases.median,
        clock="model",
        basis=f"the best and the usual of {rows[0].n} machines; {_sources(rows)}",
    )
