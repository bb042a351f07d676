# SPDX-License-Identifier: GPL-2.0-only
"""What the lab measured, as costs.toml has it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

Range = tuple[float, float]


class Cost(BaseModel):
    """One figure: of what, at how many, on which clock; see costs.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: str
    n: int
    clock: str
    source: str
    stock_ms: float | None = None
    within: float = 0.0
    ratio: float | None = None
    interval: Range | None = None

    @property
    def stock(self) -> Range:
        """The interval of stock's milliseconds; a point where none was given."""
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
    found = [Cost.model_validate(item) for item in tomllib.loads(text)["costs"]]
    chosen = [c for c in found if c.of == of and clock in ("", c.clock)]
    return tuple(sorted(chosen, key=lambda cost: cost.n))


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
