# SPDX-License-Identifier: GPL-2.0-only
"""KTAP version 1, the kernel's format of test results: records to text and back.

The format is described in the kernel's Documentation/dev-tools/ktap.rst. What is
read may as well be TAP 13 as the kernel's selftests print it.

A character that could be taken for something else in its place is written as
``\\x23``, ``\\u2028`` or ``\\U0001f600``; such text is read back as the character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

VERSION = "KTAP version 1"
STEP = "  "  #: what a subtest is further in than its parent
UNNAMED = "(unnamed)"

#: Names of the points that the reader adds, for what is wrong with a text.
PLAN = "(plan)"
BAIL_OUT = "(bail out)"
NO_RESULT = "(no result)"
OUTPUT = "(output)"
#: And for a plan of nothing that says why.
ALL = "(all)"

#: Levels that are told apart. What is further in counts to the last of them.
MAX_DEPTH = 32
_EXCERPT = 5  #: lines of a text without results that are kept

_ESCAPED = re.compile(
    r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4}))"
)
_VERSION = re.compile(r"K?TAP version [0-9]+$")
_PLAN = re.compile(r"1\.\.([0-9]{1,9})\s*(#.*)?$", re.ASCII)
_RESULT = re.compile(r"(not )?ok +([0-9]{1,9})(?![^\s#])\s*(.*)$", re.ASCII)
_BAIL_OUT = re.compile(r"Bail out!\s*(.*)$")
_DIRECTIVE = re.compile(
    r"#\s*(SKIP(?:PED)?|TODO|XFAIL|TIMEOUT|ERROR)\b:?\s*", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Point:
    """One test and its result.

    ``skipped`` is why it was not run, and ``expected`` why its failure was
    expected, where that is so; both count as ``ok``. Diagnostics are lines.
    """

    name: str
    ok: bool = True
    skipped: str | None = None
    expected: str | None = None
    diagnostics: tuple[str, ...] = ()
    subtests: tuple[Point, ...] = ()


def fails(point: Point) -> bool:
    """It has failed, or something in it has."""
    return not point.ok or any(map(fails, point.subtests))


def write(points: Sequence[Point]) -> str:
    """The text of a whole file: ASCII, each line what it says it is."""
    return "".join(f"{line}\n" for line in _block(points, ""))


def parse(text: str, *, planned: bool = True) -> tuple[Point, ...]:
    """The points of a text. Never raises, whatever it is.

    Lines that are none of the format's are diagnostics of the result that comes
    next. What is wrong with the text itself is a failed point, whose diagnostics say
    what: results that are missing or too many, no result at all, subtests without
    the result of their parent, a bail-out; with ``planned``, a plan that is missing.

    The same result line again is no second result: a program that forks while its
    output is in a buffer writes it more than once.
    """
    reader = _Reader(planned)
    lines = [line.rstrip(" \t\r") for line in text.split("\n")]
    for line in lines:
        if line.strip():
            reader.take(line)
    return reader.finish() or _nothing(reader, lines)


def _block(points: Sequence[Point], indent: str) -> Iterator[str]:
    yield indent + VERSION
    yield f"{indent}1..{len(points)}"
    for number, point in enumerate(points, 1):
        if point.subtests:
            yield from _block(point.subtests, indent + STEP)
        for line in point.diagnostics:
            yield f"{indent}# {_diagnostic(line)}".rstrip()
        failed = fails(point)
        result = "not ok" if failed else "ok"
        line = f"{indent}{result} {number} {_field(point.name) or UNNAMED}"
        if not failed and point.skipped is not None:
            line = f"{line} # SKIP {_field(point.skipped)}"
        elif not failed and point.expected is not None:
            line = f"{line} # XFAIL {_field(point.expected)}"
        yield line.rstrip()


def _code(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _plain(text: str) -> str:
    """Printable ASCII, from which the text can be had back."""
    text = _ESCAPED.sub(lambda found: _code("\\") + found[0][1:], text)
    text = "".join(c if " " <= c <= "~" else _code(c) for c in text)
    kept = text.rstrip(" ")
    return kept + _code(" ") * (len(text) - len(kept))


def _field(text: str) -> str:
    """A name or a reason: no hash sign, no edge that a reader would trim."""
    plain = _plain(text).replace("#", _code("#"))
    return _code(plain[0]) + plain[1:] if plain[:1] in (" ", "-") else plain


def _diagnostic(text: str) -> str:
    """What follows ``# ``. KUnit's reader takes a Subtest line for a header."""
    plain = _plain(text)
    return _code("S") + plain[1:] if plain.startswith("Subtest:") else plain


def _back(text: str) -> str:
    return _ESCAPED.sub(
        lambda found: chr(int(found[1] or found[2] or found[3], 16)), text
    )


def _nothing(reader: _Reader, lines: Sequence[str]) -> tuple[Point, ...]:
    """No points: that is right where none were planned."""
    if reader.levels[0].plan is not None:
        return ()
    said = [line for line in lines if line.strip()][-_EXCERPT:]
    return (Point(OUTPUT, ok=False, diagnostics=("there is no result", *said)),)


def _point(
    failed: bool, rest: str, said: Iterable[str], within: Iterable[Point]
) -> Point:
    """Of a result line: what comes after the number, before it, and further in."""
    directive = _DIRECTIVE.search(rest)
    if directive:
        name, word, data = (
            rest[: directive.start()],
            directive[1],
            rest[directive.end() :],
        )
    else:
        name, _, data = rest.partition("#")
        word = ""
    name, data, word = name.strip(), _back(data.strip()), word.upper()
    name = _back(name.removeprefix("-").strip() if name[:2] in ("-", "- ") else name)
    if word and not name:
        # As kselftest.h has it: "ok 2 # SKIP name".
        name, data = data, ""
    subtests, diagnostics = tuple(within), tuple(said)
    broken = any(map(fails, subtests))
    skipped = expected = None
    if word.startswith("SKIP") and not broken:
        skipped, failed = data, False
    elif word in ("TODO", "XFAIL") and not broken:
        expected, failed = data, False
    elif word or data:
        diagnostics += (f"{word} {data}".strip(),)
    failed = failed or broken or word in ("TIMEOUT", "ERROR")
    return Point(name or UNNAMED, not failed, skipped, expected, diagnostics, subtests)


@dataclass
class _Level:
    """One level of nesting, while it is read."""

    indent: int
    started: bool = False
    plan: int | None = None
    bailed: bool = False
    results: int = 0
    highest: int = 0
    seen: set[tuple[bool, int, str]] = field(default_factory=set)
    points: list[Point] = field(default_factory=list)
    #: For the result that comes next: diagnostics, and subtests.
    said: list[str] = field(default_factory=list)
    within: list[Point] = field(default_factory=list)

    def result(self, failed: bool, number: int, rest: str) -> None:
        key = failed, number, rest
        if key in self.seen and not self.within:
            return
        self.seen.add(key)
        self.results += 1
        self.highest = max(self.highest, number)
        self.points.append(_point(failed, rest, self.said, self.within))
        self.said, self.within = [], []

    def wrong(self, name: str, why: str) -> None:
        """Add a failed point, with what was said and is nobody's."""
        found = Point(
            name, ok=False, diagnostics=(*self.said, why), subtests=tuple(self.within)
        )
        self.points.append(found)
        self.said, self.within = [], []

    def take_plan(self, plan: int, rest: str) -> None:
        if self.plan is not None and self.plan != plan:
            self.wrong(PLAN, f"a plan of {plan} where {self.plan} were planned")
            return
        directive = _DIRECTIVE.match(rest)
        if self.plan is None and not plan and directive:
            reason = _back(rest[directive.end() :])
            self.points.append(Point(ALL, skipped=reason))
        self.plan = plan

    def end(self, planned: bool) -> None:
        """No more results will come: are all here?"""
        if self.within:
            self.wrong(
                NO_RESULT, "the result of the test that these belong to is missing"
            )
        if self.bailed:
            return
        if self.plan is None and planned and self.results:
            self.wrong(PLAN, "there is no plan, and maybe results are missing")
        due = self.highest if self.plan is None else self.plan
        if self.results != due:
            self.wrong(PLAN, f"{self.results} results of {due}")

    def again(self, planned: bool) -> None:
        """Another text begins where this one was."""
        self.end(planned)
        self.plan, self.bailed, self.results, self.highest = None, False, 0, 0
        self.seen = set()


class _Reader:
    def __init__(self, planned: bool) -> None:
        self.planned = planned
        self.levels = [_Level(0)]

    def take(self, line: str) -> None:
        body = line.lstrip(" \t")
        indent = len(line[: len(line) - len(body)].expandtabs())
        if _VERSION.match(body):
            level = self._at(indent)
            if level.started:
                level.again(self.planned)
            level.started = True
        elif found := _PLAN.match(body):
            level = self._at(indent)
            level.started = True
            level.take_plan(int(found[1]), found[2] or "")
        elif found := _RESULT.match(body):
            level = self._at(indent)
            level.started = True
            level.result(bool(found[1]), int(found[2]), found[3])
        elif found := _BAIL_OUT.match(body):
            self.levels[-1].wrong(BAIL_OUT, _back(found[1]))
            for level in self.levels:
                level.bailed = True
        elif body.startswith("#"):
            said = _back(body[1:].removeprefix(" "))
            inner = [each for each in self.levels if each.indent <= indent]
            (inner or self.levels)[-1].said.append(said)
        else:
            self.levels[-1].said.append(_back(body))

    def finish(self) -> tuple[Point, ...]:
        while len(self.levels) > 1:
            self._close()
        self.levels[0].end(self.planned)
        return tuple(self.levels[0].points)

    def _at(self, indent: int) -> _Level:
        """The level of a line that is so far in; those further in are at their end."""
        while len(self.levels) > 1 and self.levels[-1].indent > indent:
            self._close()
        last = self.levels[-1]
        if len(self.levels) == 1 and not last.started:
            last.indent = indent
        elif indent > last.indent and len(self.levels) < MAX_DEPTH:
            last = _Level(indent)
            self.levels.append(last)
        return last

    def _close(self) -> None:
        level = self.levels.pop()
        level.end(self.planned)
        self.levels[-1].within += level.points
        self.levels[-1].said += level.said
