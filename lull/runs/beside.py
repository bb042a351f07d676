# SPDX-License-Identifier: GPL-2.0-only
"""Runs of several bases, and what they say beside each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from lull.ask.catalog import select
from lull.ask.presence import absent_from, why_absent
from lull.host.files import shown_path
from lull.kernels.bases import Base
from lull.model import Feature
from lull.report.beside import Kernel, render
from lull.report.compare import read
from lull.runs.experiment import Result


def on_some(names: Collection[str], base: Base, bases: Sequence[Base]) -> list[str]:
    """Of the names those that are on a base, where others of ``bases`` have the rest.

    One that is on none of them stays: whoever selects it says why. Raises UsageError
    for a name that is unknown.
    """
    if len(bases) < 2 or not names:
        return list(names)
    return [
        one.name
        for one in select(names)
        if not why_absent(one, base) or all(why_absent(one, b) for b in bases)
    ]


def tell(
    results: Mapping[str, Sequence[Result]],
    bases: Sequence[Base],
    features: Sequence[Feature],
    program: str,
    warn: Callable[[str], None],
) -> str:
    """The answer of these runs, by the name of their base.

    Their folders are read again: samples are there. Raises what ``read`` raises.
    """
    there = [base for base in bases if results.get(base.name)]
    kernels = [
        Kernel(
            base.name,
            tuple(read(r.folder, features, warn) for r in results[base.name]),
            absent_from(base),
            base.native,
        )
        for base in there
    ]
    folders = [shown_path(r.folder) for base in there for r in results[base.name]]
    following = [
        f"{program} compare {shown_path(one)} {shown_path(other)}"
        for other in _folders(results, there[1:])
        for one in _folders(results, there[:1])
        if one.name == other.name or len(results[there[0].name]) == 1
    ]
    return render(kernels, features, folders, following)


def _folders(
    results: Mapping[str, Sequence[Result]], bases: Sequence[Base]
) -> list[Path]:
    return [result.folder for base in bases for result in results[base.name]]
