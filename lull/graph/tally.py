# SPDX-License-Identifier: GPL-2.0-only
"""What was left out of a recording, or doubted, counted by its text."""

from __future__ import annotations

from lull.graph.recording import Caveat

#: Texts that are told apart: some have the name of a device in them.
MOST_TEXTS = 1_000
OTHERS = "more that is missing or odd, of other kinds"


class Tally:
    """Caveats by their text: how many, and the first line."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def add(self, text: str, line: int = 0, count: int = 1) -> None:
        """One more of ``text``, at ``line`` (0: nowhere)."""
        if text not in self._found and len(self._found) >= MOST_TEXTS:
            text = OTHERS
        before, first = self._found.get(text, (0, line))
        self._found[text] = (before + count, first)

    def result(self) -> tuple[Caveat, ...]:
        """All of them, in the order of their first."""
        return tuple(Caveat(t, n, line) for t, (n, line) in self._found.items())
