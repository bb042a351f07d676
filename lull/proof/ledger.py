# SPDX-License-Identifier: GPL-2.0-only
"""How often each statement was tried, over all runs on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from lull.host.files import cache_root
from lull.model import Record
from lull.proof.attempt import Attempt
from lull.proof.faults import Result
from lull.proof.key import key_of
from lull.proof.trial import Trial

#: Tries without a failure that each statement is to come to.
GOAL = 10**5


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
    """A trial's verdicts: of what is tried now, and of all that ever was. Boots
    without one do not count."""

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


def render(counts: Iterable[Count]) -> str:
    """A line a trial, at most 79 columns."""
    head = f"{'trial':38} {'tries now':>9} {'failed':>6} {'ever':>8} {'failed':>6}"
    lines = [f"{head} {'hours':>6}"]
    for one in counts:
        lines.append(
            f"{one.id[:38]:38} {one.now:>9} {one.failed_now:>6} {one.ever:>8} "
            f"{one.failed_ever:>6} {one.hours:>6.1f}"
        )
    lines.append(f"goal: {GOAL:,} tries each without a failure; make soak MINUTES=N")
    return "\n".join(lines) + "\n"
