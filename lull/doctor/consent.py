# SPDX-License-Identifier: GPL-2.0-only
"""What a measurement does to a machine is said, and asked for, before it is made."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from lull.doctor.read_measures import NAMES
from lull.errors import UsageError

#: These only read, and are not asked for.
READS = ("sleep-hooks",)


def read_measure_names(words: Sequence[str]) -> tuple[str, ...]:
    """Each once, in the order in which they are taken. Raises UsageError. Pure."""
    for word in words:
        if word not in NAMES:
            raise UsageError(
                f"'{word}' is nothing that it measures",
                hint=f"--measure NAME; of {', '.join(NAMES)}",
            )
    return tuple(name for name in NAMES if name in words)


def consent(plan: str, where: str, yes: bool) -> None:
    """Says on stderr what is done, and asks on the terminal unless ``yes``.

    ``plan`` has a line ``NAME: what it does`` for each. Raises UsageError where nobody
    can be asked, and where the answer is no.
    """
    changes = [line for line in plan.splitlines() if not line.startswith(READS)]
    if not changes:
        return
    print(f"On {where}:", file=sys.stderr)
    for line in plan.splitlines():
        print(f"  {line}", file=sys.stderr)
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "nothing was measured: there is no terminal to ask on", hint="--yes"
        )
    if not typer.confirm("Go on?", default=False, err=True):
        raise UsageError("nothing was measured: the answer was no")
