# SPDX-License-Identifier: GPL-2.0-only
"""How often each statement was tried, over all runs on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_uppercase, digits
from textwrap import wrap

from pydantic import ValidationError

from lull.host.files import cache_root
from lull.model import Record
from lull.proof.attempt import Attempt
from lull.proof.faults import Result
from lull.proof.key import key_of
from lull.proof.trial import Trial

#: Tries without a failure that each statement is to come to.
GOAL = 10**5

#: The number of a statement (docs/statements.md), as checks are named by it and names
#: of trials begin with it.
_NUMBER = re.compile(r"[A-Z]+[0-9]+")


class TryCount(Record):
    """One trial that was made; ``what`` is the digest of what was tried."""

    id: str
    base: str
    what: str
    seed: int
    result: Result
    tries: int
    seconds: float
    when: str


def entry(trial: Trial, base: str, parts: Mapping[str, str], done: Attempt) -> TryCount:
    """The line for an attempt that was just made."""
    return TryCount(
        id=trial.id,
        base=base,
        what=key_of(parts),
        seed=done.seed,
        result=done.result,
        tries=done.tries,
        seconds=done.seconds,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )


class Ledger:
    """A file of lines that are only added; a line is one write."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_root() / "proofs" / "ledger.jsonl"

    def add(self, line: TryCount) -> None:
        """Append; processes may do so at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        file = os.open(self.path, flags, 0o600)
        try:
            # A line of its own, even where somebody's write was cut short.
            os.write(file, f"\n{line.model_dump_json()}\n".encode())
        finally:
            os.close(file)

    def lines(self) -> tuple[TryCount, ...]:
        """All that can be read; what cannot is passed over."""
        try:
            data = self.path.read_bytes()
        except OSError:
            return ()
        return tuple(_entries(data.split(b"\n")))


def _entries(lines: Iterable[bytes]) -> Iterable[TryCount]:
    for line in lines:
        if line.strip():
            try:
                yield TryCount.model_validate_json(line)
            except ValidationError:
                continue


@dataclass(frozen=True)
class Count:
    """Verdicts of a trial, or of a statement's trials: of what is tried now, and of
    all that ever was. Boots without one do not count."""

    id: str
    now: int
    failed_now: int
    ever: int
    failed_ever: int
    hours: float


def count(
    lines: Iterable[TryCount], current: Mapping[str, str], base: str
) -> tuple[Count, ...]:
    """Counts of the trials in ``current``, which are today's digests, on ``base``.
    Pure."""
    found: dict[str, list[TryCount]] = {name: [] for name in current}
    for line in lines:
        told = line.result in (Result.PASS, Result.FAIL)
        if line.id in found and line.base == base and told:
            found[line.id].append(line)
    return tuple(
        Count(
            id=name,
            now=sum(e.what == current[name] for e in entries),
            failed_now=sum(
                e.result is Result.FAIL for e in entries if e.what == current[name]
            ),
            ever=len(entries),
            failed_ever=sum(e.result is Result.FAIL for e in entries),
            hours=sum(e.seconds for e in entries) / 3600,
        )
        for name, entries in found.items()
    )


def statements_of(trial: Trial) -> tuple[str, ...]:
    """Numbers of statements that a trial which has to hold tries: ``FZ1 FZ13``.

    Those of its checks, and the one that its name begins with: ``ZS11 group`` looks for
    what breaks ZS11 with the checks of ZS1 and ZS4.
    """
    words = (trial.name.partition(" ")[0], *trial.checks)
    return tuple(dict.fromkeys(word for word in words if _NUMBER.fullmatch(word)))


def without_trial(numbers: Iterable[str], found: Iterable[Trial]) -> tuple[str, ...]:
    """Those of the statements that no trial of ``found`` tries, by number. Pure."""
    tried = {name for trial in found for name in statements_of(trial)}
    return tuple(sorted(set(numbers) - tried, key=_by_number))


def by_statement(counts: Iterable[Count], found: Iterable[Trial]) -> tuple[Count, ...]:
    """Counts of trials added up for each statement that they try, by number: one
    try of a trial is one of each of its statements. Pure."""
    tried = {trial.id: statements_of(trial) for trial in found}
    sums: dict[str, Count] = {}
    for one in counts:
        for name in tried[one.id]:
            sums[name] = _sum(sums.get(name), replace(one, id=name))
    return tuple(sums[name] for name in sorted(sums, key=_by_number))


def _sum(one: Count | None, other: Count) -> Count:
    if one is None:
        return other
    return Count(
        id=one.id,
        now=one.now + other.now,
        failed_now=one.failed_now + other.failed_now,
        ever=one.ever + other.ever,
        failed_ever=one.failed_ever + other.failed_ever,
        hours=one.hours + other.hours,
    )


def _by_number(name: str) -> tuple[str, int]:
    return name.rstrip(digits), int(name.lstrip(ascii_uppercase))


def render(
    counts: Iterable[Count], sums: Iterable[Count], without: Iterable[str]
) -> str:
    """A line a trial, then a line a statement, at most 79 columns; last the statements
    ``without`` a trial that could count."""
    lines = [_head("trial"), *map(_row, counts), ""]
    lines += [_head("statement, in the trials above"), *map(_row, sums), ""]
    lines.append(f"goal: {GOAL:,} tries each without a failure; make soak MINUTES=N")
    if names := " ".join(without):
        lines += wrap(f"no random trial: {names}", width=79, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def _head(what: str) -> str:
    head = f"{what:38} {'tries now':>9} {'failed':>6} {'ever':>8} {'failed':>6}"
    return f"{head} {'hours':>6}"


def _row(one: Count) -> str:
    return (
        f"{one.id[:38]:38} {one.now:>9} {one.failed_now:>6} {one.ever:>8} "
        f"{one.failed_ever:>6} {one.hours:>6.1f}"
    )
