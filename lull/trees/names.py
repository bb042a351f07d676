# SPDX-License-Identifier: GPL-2.0-only
"""Names for devices that are called what a description cannot hold. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

LONGEST = 63
_ODD = re.compile(r"[^A-Za-z0-9._:-]")


def unique(names: Iterable[str]) -> list[str]:
    """Each name fit for a description: legal, not too long, no two alike.

    What a name must not hold becomes ``_``; of several alike the first keeps
    the name and the others get ``:2``, ``:3`` and so on.
    """
    legal = [_ODD.sub("_", name)[:LONGEST] or "_" for name in names]
    # What is called a:2 on its own keeps that, whatever comes before it.
    reserved = set(legal)
    found: set[str] = set()
    again: Counter[str] = Counter()
    result = []
    for name in legal:
        new = name
        while new in found or (new != name and new in reserved):
            again[name] += 1
            tail = f":{again[name] + 1}"
            new = name[: LONGEST - len(tail)] + tail
        found.add(new)
        result.append(new)
    return result
