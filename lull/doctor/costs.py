# SPDX-License-Identifier: GPL-2.0-only
"""What the lab measured, as costs.toml has it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from lull.host.files import repo_root
from lull.model import Summary

Range = tuple[float, float]


class Measured(BaseModel):
    """Which row of ``results/insn.json`` in a feature's or a scenario's room it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at: str
    workload: str
    metric: str
    params: dict[str, int | str]


class Cost(BaseModel):
    """One figure: of what, at how many, on which clock; see costs.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: str
    n: int
    clock: str = ""
    source: str = ""
    stock_ms: float | None = None
    stock_within: Range | None = None
    within: float = 0.0
    ratio: float | None = None
    interval: Range | None = None
    row: Measured | None = None

    @property
    def stock(self) -> Range:
        """The interval of stock's milliseconds; a point where none was given."""
        if self.stock_within is not None:
            return self.stock_within
        middle = self.stock_ms or 0.0
        return middle * (1 - self.within), middle * (1 + self.within)

    @property
    def ratios(self) -> Range:
        """The interval of what Lull takes of it; (1, 1) where nobody measured."""
        if self.ratio is None:
            return 1.0, 1.0
        if self.interval is not None:
            return self.interval
        return self.ratio / (1 + self.within), min(1.0, self.ratio / (1 - self.within))


@cache
def costs(of: str, clock: str = "") -> tuple[Cost, ...]:
    """The figures of that, in the order of their size; on any clock without one."""
    text = Path(__file__).with_name("costs.toml").read_text("utf-8")
    found = [
        _resolved(Cost.model_validate(item)) for item in tomllib.loads(text)["costs"]
    ]
    chosen = [c for c in found if c.of == of and clock in ("", c.clock)]
    return tuple(sorted(chosen, key=lambda cost: cost.n))


def _resolved(cost: Cost) -> Cost:
    """With the figures of its row, and where they stand."""
    row = cost.row
    if row is None:
        return cost
    results = repo_root() / row.at / "results" / "insn.json"
    summary = Summary.model_validate_json(results.read_bytes())
    modes = {
        found.mode: found
        for found in summary.rows
        if (found.workload, found.metric) == (row.workload, row.metric)
        and found.params == row.params
    }
    stock, lull = modes["stock"], modes["lull"]
    low, high = stock.ci95 or (stock.median, stock.median)
    return cost.model_copy(
        update={
            "clock": summary.clock,
            "source": f"{row.at}/README.md: {stock.n} seeds",
            "stock_ms": stock.median / 1e6,
            "stock_within": (low / 1e6, high / 1e6),
            "ratio": lull.ratio,
            "interval": lull.ratio_ci95,
        }
    )


def around(rows: Sequence[Cost], n: int) -> tuple[Cost, ...]:
    """The figures at the nearest sizes on both sides of ``n``: those between which
    it lies. Empty where ``n`` is outside of what was measured."""
    below = [row for row in rows if row.n <= n]
    above = [row for row in rows if row.n >= n]
    if not below or not above:
        return ()
    low, high = below[-1].n, above[0].n
    return tuple(row for row in rows if row.n in (low, high))


def hull(ranges: Sequence[Range]) -> Range:
    """The smallest interval that holds all of these."""
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def each(rows: Sequence[Cost]) -> Range:
    """Milliseconds of stock for one of what is counted, over all figures."""
    return hull([(r.stock[0] / r.n, r.stock[1] / r.n) for r in rows if r.stock_ms])
