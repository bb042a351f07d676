# SPDX-License-Identifier: GPL-2.0-only
"""What guests that were stressed have said: a boot a mode. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from lull.errors import LullError
from lull.vm.outcome import message

STOCK = "stock"


@dataclass(frozen=True)
class Try:
    """A stressor that has run, or one run of a test: its status, and what it printed,
    a stressor's last."""

    name: str
    status: int
    suspends: int  #: meanwhile
    text: str


@dataclass(frozen=True)
class Mode:
    """What became of a mode's boot; ``error`` where it did not come to its end."""

    name: str
    tries: tuple[Try, ...]
    error: LullError | None = None

    def of(self, name: str) -> tuple[Try, ...]:
        """Those of one stressor, or of one test."""
        return tuple(one for one in self.tries if one.name == name)


def read_tries(results: bytes) -> tuple[Try, ...]:
    """What a guest has said, whole or not."""
    found = []
    for line in results.split(b"\n"):
        kind, members = message(line)
        if kind == "try":
            numbers = [members.get(name) for name in ("status", "suspends")]
            status, suspends = (n if isinstance(n, int) else -1 for n in numbers)
            name, text = (str(members.get(name, "")) for name in ("name", "text"))
            found.append(Try(name, status, suspends, text))
    return tuple(found)
