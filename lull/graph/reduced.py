# SPDX-License-Identifier: GPL-2.0-only
"""What is kept of the callbacks of a cycle, to compare it with others. Pure.

A recorded callback is some hundreds of bytes, and a recording may have 40,000 of
them; here one is 45, so that many recordings can be compared in little memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lull.graph.recording import Callback


class Symptom(StrEnum):
    """What happened to a device that ran out of order."""

    HUNG = "never ended"
    FAILED = "failed"
    SLOW = "took longer"


_SYMPTOMS = (None, *Symptom)


@dataclass(frozen=True, slots=True)
class Call:
    """A callback without its names: ``Callback`` says what the members are.

    ``symptom`` is what happened to it, in a run with pm_async on; ``place`` is
    where it is in the order of its phase's callbacks.
    """

    start_s: float
    end_s: float
    until_s: float
    err: int
    ended: bool
    symptom: Symptom | None
    place: int

    @property
    def us(self) -> float:
        """How long it took, in microseconds; 0 where that is not recorded."""
        return (self.end_s - self.start_s) * 1e6

    @property
    def last_s(self) -> float:
        """When it has ended at the latest."""
        return self.end_s if self.ended else self.until_s


class Calls:
    """The callbacks of one phase of one cycle, by the device's number."""

    __slots__ = ("_end", "_err", "_number", "_place", "_start", "_until", "_what")

    def __init__(
        self, rows: Iterable[tuple[int, Callback, Symptom | None]] = ()
    ) -> None:
        """``rows`` are in the order of the phase; each number is there once."""
        self._number = array("i")
        self._place = array("i")
        self._start, self._end, self._until = array("d"), array("d"), array("d")
        self._err = array("q")
        self._what = bytearray()
        placed = [(number, i, c, s) for i, (number, c, s) in enumerate(rows)]
        for number, place, call, symptom in sorted(placed, key=lambda row: row[0]):
            self._number.append(number)
            self._place.append(place)
            self._start.append(call.start_s)
            self._end.append(call.end_s)
            self._until.append(call.until_s)
            self._err.append(call.err)
            self._what.append(call.ended | _SYMPTOMS.index(symptom) << 1)

    def get(self, number: int) -> Call | None:
        """That device's callback, if it has one."""
        at = bisect_left(self._number, number)
        if at < len(self._number) and self._number[at] == number:
            return self._call(at)
        return None

    def in_order(self) -> Iterator[tuple[int, Call]]:
        """All of them, with their devices' numbers, in the order of the phase."""
        for at in sorted(range(len(self._number)), key=self._place.__getitem__):
            yield self._number[at], self._call(at)

    def victims(self) -> Iterator[tuple[int, Call]]:
        """Those to which something happened, likewise."""
        worse = [at for at, what in enumerate(self._what) if what >> 1]
        for at in sorted(worse, key=self._place.__getitem__):
            yield self._number[at], self._call(at)

    def _call(self, at: int) -> Call:
        what = self._what[at]
        return Call(
            self._start[at],
            self._end[at],
            self._until[at],
            self._err[at],
            bool(what & 1),
            _SYMPTOMS[what >> 1],
            self._place[at],
        )


class Pairs:
    """A set of pairs of numbers below ``count``, a bit for each that could be."""

    def __init__(self, count: int) -> None:
        self._bits = bytearray(count * count // 16 + 1)

    def add(self, one: int, other: int) -> bool:
        """Whether the pair, in whatever order, was not there."""
        low, high = sorted((one, other))
        at = high * (high - 1) // 2 + low
        new = not self._bits[at >> 3] >> (at & 7) & 1
        self._bits[at >> 3] |= 1 << (at & 7)
        return new
