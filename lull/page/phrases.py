# SPDX-License-Identifier: GPL-2.0-only
"""Figures as words: how much faster, how sure; and names made harmless."""

from __future__ import annotations

import math
import unicodedata

from lull.report.answer import NOTHING_LEFT, OnClock
from lull.report.stats import Interval
from lull.report.table import number, quantity, ratio

#: No name is printed longer than this, whatever a file says.
LONGEST = 120
#: Units of which less is better, and more; of others nothing is said.
LESS = ("ns",)
MORE = ("/s",)


def clean(text: object, most: int = LONGEST) -> str:
    """``text`` as one line that changes nothing around it.

    Control characters and such as turn the direction of writing become the
    replacement character: a picture is XML, which does not have them. What is
    longer than ``most`` ends in an ellipsis.
    """
    line = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c)[0] == "C" else c
        for c in " ".join(str(text)[: 4 * most].split())
    )
    return line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def good(unit: str, value: float) -> bool | None:
    """Whether a ratio is for the better; None where nobody can say."""
    if value == 1 or unit not in LESS + MORE:
        return None
    return (value < 1) == (unit in LESS)


def verdict(found: OnClock) -> tuple[str, str]:
    """A headline's ``factor``; in its place that nothing is left to win, or shown."""
    if found.nothing_left:
        return "", NOTHING_LEFT
    if not found.shown or found.ratio is None:
        return "", "no difference shown"
    return factor(found.unit, found.ratio)


def tone(unit: str, value: float | None, shown: bool) -> str:
    """The class of a figure: ``better``, ``worse``, ``other`` or ``same``."""
    if not shown:
        return "same"
    judged = good(unit, value) if value is not None else None
    return "other" if judged is None else "better" if judged else "worse"


def factor(unit: str, value: float) -> tuple[str, str]:
    """("28.6x", "faster") for a ratio of 0.035, ("12%", "less time"), and so on."""
    if value <= 0 or not math.isfinite(value):
        return ratio(value), "of stock"
    if unit in LESS:
        if value <= 0.5:
            return f"{_times(1 / value)}x", "faster"
        if value >= 2:
            return f"{_times(value)}x", "slower"
        return _percent(value), "less time" if value < 1 else "more time"
    if value >= 2:
        return f"{_times(value)}x", "as many"
    return _percent(value), "fewer" if value < 1 else "more"


def _times(value: float) -> str:
    return number(value) if value >= 100 else f"{value:.3g}"


def _percent(value: float) -> str:
    change = abs(1 - value) * 100
    return f"{change:.2g}%" if change < 10 else f"{change:.0f}%"


def amount(value: float, unit: str) -> str:
    """A quantity with its unit: ``18.7ms``, ``12.3k /s``."""
    text = quantity(value, unit)
    return text if unit == "ns" else f"{text} {unit}".rstrip()


def interval(found: Interval | None) -> str:
    """``0.0318 to 0.0409``; empty for none."""
    return f"{ratio(found[0])} to {ratio(found[1])}" if found else ""


def chance(p: float | None) -> str:
    """``p = 0.002``, ``p < 0.0001``; empty for none."""
    if p is None:
        return ""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def sentence(found: OnClock, what: str) -> str:
    """The verdict on a headline: what, from how much to how much, how sure."""
    before, after = (amount(v, found.unit) for v in (found.stock, found.lull))
    arrow = "\N{RIGHTWARDS ARROW}"
    sure = [f"ratio {ratio(found.ratio)}"] if found.ratio is not None else []
    if found.ratio_ci95:
        sure.append(f"95% interval {interval(found.ratio_ci95)}")
    if found.p is not None:
        sure.append(chance(found.p))
    behind = f" ({', '.join(sure)})" if sure else ""
    return f"{what}: {before} {arrow} {after}{behind}"


def of_undecided(number: int) -> str:
    """What is to say of promises that hold since nothing is shown, after how many
    hold; empty where there are none."""
    if not number:
        return ""
    some = "one" if number == 1 else f"{number}"
    return f", {some} of them A/A out of bounds with no difference shown"
