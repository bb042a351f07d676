# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests, run in a guest in several modes: what a mode has lost.

The guest gives what a program said, a note for each try (docs/contracts.md). It is
judged here, test by test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from lull.report.ktap import Point, fails, parse

_NOTE = re.compile(r"selftest (\S+) (\S+) ([0-9]{1,3})\n(.*)", re.DOTALL)

STATUS = "(exit status)"  #: what a program says besides, or alone
PASS, SKIP = 0, 4  #: as kselftest.h has it
#: A line of the format, without which a program does not speak it.
_KTAP = re.compile(r"^\s*(?:(?:not )?ok [0-9]|1\.\.[0-9]|Bail out!)", re.MULTILINE)
#: A script may go on after it, and end well.
_FAIL = re.compile(r"\bFAIL(?:ED)?\b")
_SIZE = re.compile(r"\b[0-9]+(?= ?[kKMG]i?B\b)")


class Rank(IntEnum):
    """Of a test, the worst first; the best of its tries counts."""

    MISSING = 0
    FAILED = 1
    SKIPPED = 2  #: or it fails as expected
    PASSED = 3


@dataclass(frozen=True)
class Try:
    """One run of a program in a mode, and what it said."""

    program: str
    mode: str
    status: int
    text: str


def read_tries(notes: Iterable[str]) -> tuple[Try, ...]:
    """Those of a guest's notes that are of such programs."""
    found = (_NOTE.fullmatch(note) for note in notes)
    return tuple(Try(m[1], m[2], int(m[3]), m[4]) for m in found if m)


def losses(
    tries: Iterable[Try], programs: Sequence[str], modes: Sequence[str]
) -> tuple[str, ...]:
    """A sentence for each test that does worse in a mode than in the first one.

    What passes there passes, and what is skipped there does not fail. A program
    that passes nothing there shows nothing, which is a sentence, too.
    """
    outputs: dict[tuple[str, str], list[str]] = {}
    for one in tries:
        outputs.setdefault((one.program, one.mode), []).append(one.text)
    found: list[str] = []
    for program in programs:
        by_mode = [verdicts(outputs.get((program, mode), ())) for mode in modes]
        reference = by_mode[0]
        if Rank.PASSED not in reference.values():
            found.append(f"{program}: {modes[0]}: no test has passed")
        for mode, here in zip(modes[1:], by_mode[1:], strict=True):
            found += (
                f"{program}: {mode}: {each} in {modes[0]}"
                for each in lost(reference, here)
            )
    return tuple(found)


def lost(reference: Mapping[str, Rank], here: Mapping[str, Rank]) -> Iterator[str]:
    """What does worse than there, and how it did there."""
    for name, due in reference.items():
        verdict = here.get(name, Rank.MISSING)
        if verdict < due and due >= Rank.SKIPPED:
            yield f"{name}: {verdict.name.lower()}, but {due.name.lower()}"


def results(tries: Iterable[Try]) -> dict[str, Rank]:
    """The tests of a program, as ``verdicts`` has them, and how it ended.

    A program that does not speak KTAP has this one alone: it fails by its exit status,
    or by a line that says so.
    """
    best: dict[str, Rank] = {}
    for one in tries:
        speaks = _KTAP.search(one.text) is not None
        found = verdicts([one.text]) if speaks else {}
        found[STATUS] = _ended(one, speaks)
        for name, verdict in found.items():
            best[name] = max(verdict, best.get(name, Rank.MISSING))
    return best


def _ended(one: Try, speaks: bool) -> Rank:
    if one.status == SKIP:
        return Rank.SKIPPED
    bad = one.status != PASS or (not speaks and _FAIL.search(one.text))
    return Rank.FAILED if bad else Rank.PASSED


def verdicts(texts: Iterable[str]) -> dict[str, Rank]:
    """The tests of a program, by name: the best of its tries, given their texts."""
    best: dict[str, Rank] = {}
    for text in texts:
        # These programs print no plan.
        for name, point in _told_apart(_tests(parse(text, planned=False))):
            best[name] = max(_verdict(point), best.get(name, Rank.MISSING))
    return best


def _told_apart(tests: Iterable[tuple[str, Point]]) -> Iterator[tuple[str, Point]]:
    """Tests of one name in one text are many tests: by which of them it is.

    A size in a name is what was measured, and another the next time.
    """
    seen: Counter[str] = Counter()
    for name, point in tests:
        name = _SIZE.sub("N", name)
        seen[name] += 1
        yield f"{name} ({seen[name]})" if seen[name] > 1 else name, point


def _tests(points: Iterable[Point], within: str = "") -> Iterator[tuple[str, Point]]:
    for point in points:
        yield within + point.name, point
        yield from _tests(point.subtests, f"{within}{point.name} / ")


def _verdict(point: Point) -> Rank:
    if fails(point):
        return Rank.FAILED
    if point.skipped is not None or point.expected is not None:
        return Rank.SKIPPED
    return Rank.PASSED
