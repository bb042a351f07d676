# SPDX-License-Identifier: GPL-2.0-only
"""proof.json: what was tried in a session, and how it differs from the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from lull.model import Record

#: The user properties by which a test tells of a verdict, and says a line.
VERDICT = "verdict"
SAID = "said"


class Tried(Record):
    """One test. ``parts`` are digests of what a verdict depends on, by kind;
    ``tries`` the boots it took, 0 where it made none; ``seconds`` of host time. What
    is ``remembered`` has those of ``when`` it was tried (UTC)."""

    outcome: Literal["passed", "failed", "skipped"]
    seconds: float
    tries: int = 0
    seed: int | None = None
    when: str = ""
    remembered: bool = False
    how: str = ""
    parts: Mapping[str, str] = Field(default_factory=dict)


class Proof(Record):
    """proof.json. ``tests`` has them by name.

    ``asked`` is what narrowed or widened it, as words of a command line: ``ok``,
    none failed and all of these ran, is said of no more than that. ``part`` are those
    that leave tests out, ``seeds`` how many each had of what is random. ``ended``: it
    came to its end.
    """

    schema_version: Literal[1] = 1
    created: str
    commit: str
    base: str
    size: str
    asked: str = ""
    part: str = ""
    seeds: int = 1
    ended: bool = True
    machine: str
    seconds: float
    ok: bool
    tests: Mapping[str, Tried]


def read(path: Path) -> Proof | None:
    """The proof that is there; None for none, and for one that cannot be read."""
    try:
        return Proof.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def to_json(proof: Proof) -> str:
    """As it is written: indented, ends in a newline."""
    return proof.model_dump_json(indent=1) + "\n"


def differences(old: Proof, new: Proof) -> Iterator[str]:
    """Lines that say what another run of the same would not have: tests that
    came or went, other outcomes, and which inputs had changed. Where not the same
    was asked, of what both have alone. Pure."""
    same = _question(old) == _question(new)
    if not same:
        both = len(old.tests.keys() & new.tests.keys())
        yield f"not what was asked last time: {both} tests are of both"
    for name, tried in new.tests.items():
        before = old.tests.get(name)
        if before is None:
            if same:
                yield f"new: {name}: {tried.outcome}"
        elif before.outcome != tried.outcome:
            yield f"{name}: was {before.outcome}, is {tried.outcome}"
    for name, before in old.tests.items():
        if same and name not in new.tests:
            yield f"gone: {name}: was {before.outcome}"
    changed: dict[str, int] = {}
    for name, tried in new.tests.items():
        parts = old.tests[name].parts if name in old.tests else {}
        for kind, digest in tried.parts.items():
            if parts.get(kind, digest) != digest:
                changed[kind] = changed.get(kind, 0) + 1
    for kind, number in changed.items():
        yield f"another {kind} than last time: {number} verdicts"


def _question(proof: Proof) -> tuple[object, ...]:
    """What its tests were asked for by; of one that was stopped nobody knows."""
    return proof.base, proof.size, proof.part, proof.seeds, proof.ended


def is_part(old: Proof | None, new: Proof) -> bool:
    """Whether the new one would replace a proof that has more, and was asked for
    otherwise, or one that came to its end by one that did not. Pure."""
    if not new.ended:
        return True
    if old is None or not new.part or new.part == old.part:
        return False
    return bool(old.tests.keys() - new.tests.keys())


def beside(path: Path) -> Path:
    """Where a part goes, for the last whole one to stay: ``proof.partial.json``."""
    return path.with_suffix(f".partial{path.suffix}")
