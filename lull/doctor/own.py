# SPDX-License-Identifier: GPL-2.0-only
"""What a kernel has of Lull itself, or cannot have; the lab's costs are of one."""

from __future__ import annotations

import re
from functools import cache

from lull.ask.presence import switch_of
from lull.kernels.bases import DEFAULT_BASE, Base, base_names, load_base


@cache
def _bases() -> dict[str, Base]:
    return {name: load_base(name) for name in base_names()}


def _base(release: str) -> Base | None:
    """The base of a release; None where Lull has none."""
    found = re.match(r"\d+\.\d+(?!\d)", release)
    return _bases().get(found[0]) if found else None


def why_absent(release: str, feature: str) -> str:
    """Why the kernel of a release cannot have a feature, or ""."""
    base = _base(release)
    reason = base.absent.get(feature) if base else None
    return f"not on {base.name}: {reason}" if base and reason else ""


def why_less(release: str, feature: str) -> str:
    """What the kernel of a release has of a feature itself, and the one that the lab's
    costs are of has not, or "". A switch of its own need not be on."""
    base = _base(release)
    native = base.native.get(feature, "") if base else ""
    measured = _bases()[DEFAULT_BASE].native.get(feature)
    if base is None or not native or switch_of(native) or native == measured:
        return ""
    return (
        f"{base.name} has of it itself: {native}; what is left there:"
        f" lull run {feature} --base {base.name}"
    )
