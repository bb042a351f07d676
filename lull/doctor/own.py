# SPDX-License-Identifier: GPL-2.0-only
"""What a kernel has of Lull itself, or cannot have; the lab's costs are of one."""

from __future__ import annotations

from functools import cache

from lull.ask.presence import switch_of
from lull.doctor.waits import release
from lull.graph.recording import Header
from lull.graph.whatif import rules_of
from lull.kernels.bases import DEFAULT_BASE, Base, base_names, load_base
from lull.trees.schedule import Rules


@cache
def _bases() -> dict[tuple[int, int], Base]:
    return {release(name): load_base(name) for name in base_names()}


def why_absent(kernel: str, feature: str) -> str:
    """Why the kernel of a release cannot have a feature, or ""."""
    base = _bases().get(release(kernel))
    reason = base.absent.get(feature) if base else None
    return f"not on {base.name}: {reason}" if base and reason else ""


def why_less(kernel: str, feature: str) -> str:
    """What the kernel of a release has of a feature itself, and the one that the lab's
    costs are of has not, or "". A switch of its own need not be on."""
    base = _bases().get(release(kernel))
    if base is None:
        return _early(kernel) if feature == "devices" else ""
    native = base.native.get(feature, "")
    measured = _bases()[release(DEFAULT_BASE)].native.get(feature)
    if not native or switch_of(native) or native == measured:
        return ""
    return (
        f"{base.name} has of it itself: {native}; what is left there:"
        f" lull run {feature} --base {base.name}"
    )


def _early(kernel: str) -> str:
    """Of kernels between bases as much as the graph's model knows."""
    if rules_of(Header(kernel)).rules is Rules.STOCK:
        return ""
    return "this kernel starts devices early itself: --measure devices has what is left"
