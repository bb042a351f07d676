# SPDX-License-Identifier: GPL-2.0-only
"""What there is to ask for: the text of ``lull list``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from lull.ask.on_base import native_modes, on_base
from lull.ask.presence import why_absent
from lull.kernels.bases import Base
from lull.model import Clock, Feature

WIDTH = 80  #: columns of what is one line a feature


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    """Words that stay whole, in lines with these indents."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def overview(features: Sequence[Feature], bases: Sequence[Base]) -> str:
    """All features by name, with the names of what each has, on one screen.

    Of one base each is as it is there, or why it is not; a star is at those of which
    the kernel has a part itself.
    """
    lines = []
    for one in features:
        feature, why, star = one, "", ""
        if len(bases) == 1:
            feature, why = on_base(one, bases[0]), why_absent(one, bases[0])
            star = "* " if one.name in bases[0].native else ""
        if why:
            text = f"{one.name}: not on {bases[0].name}: {why}"
            lines += _wrapped(text, "", "  ")
            continue
        lines += [
            f"{star}{feature.name}: {feature.title}",
            *_wrapped(f"modes: {' '.join(feature.mode_names)}", "  ", "    "),
            *_wrapped(f"workloads: {' '.join(feature.workloads)}", "  ", "    "),
        ]
    own = ""
    if any(line.startswith("* ") for line in lines):
        own = f" (*: {bases[0].name} has a part of it itself)"
    lines += [
        f"bases: {', '.join(base.name for base in bases)}{own}",
        f"clocks: {', '.join(Clock)}",
        "All of one, with what each is and its parameters: lull list NAME",
    ]
    return "\n".join(lines)


def details(feature: Feature, bases: Sequence[Base]) -> str:
    """One feature with all that is written about what it has.

    Of one base as it is there; of one that it is not on, why.
    """
    lines = [f"{feature.name}: {feature.title}"]
    modes = feature.modes
    if len(bases) == 1:
        if why := why_absent(feature, bases[0]):
            return "\n".join([*lines, f"  not on {bases[0].name}: {why}"])
        modes = on_base(feature, bases[0]).modes
    for mode in modes:
        unsafe = " (unsafe)" if mode.unsafe else ""
        lines.append(f"  mode {mode.name}{unsafe}: {mode.text}")
    lines += [f"  step {step.name}: {step.text}" for step in feature.steps]
    measured = {case.workload for case in feature.cases}
    for name, workload in feature.workloads.items():
        tried = "" if name in measured else " (tried, not measured)"
        lines.append(f"  workload {name}{tried}: {workload.text}")
        params = " ".join(f"{key}={value}" for key, value in workload.params.items())
        lines += _wrapped(params, "    ", "    ")
    for base in bases:
        if why := why_absent(feature, base):
            lines.append(f"  not on {base.name}: {why}")
        elif native := base.native.get(feature.name):
            lines.append(f"  in {base.name} itself: {native}")
        if names := native_modes(feature, base):
            lines.append(
                f"  without a mode of its own on {base.name}: {', '.join(names)}"
            )
    return "\n".join(lines)
