# SPDX-License-Identifier: GPL-2.0-only
"""What ``lull doctor`` says, as its JSON has it.

``python -m lull.doctor.model`` prints the JSON Schema, which is checked in as
lull/schema/doctor.json.
"""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lull.doctor.read_measures import Measured
from lull.doctor.read_power import Power
from lull.doctor.read_swap import Swap
from lull.doctor.read_tasks import Zombies
from lull.doctor.waits import Waiting


class _Said(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Grade(StrEnum):
    """What a finding is, the gravest first: this is the order of the report, and
    within one the cost."""

    FAILS = "fails"  #: a suspend has failed, or will if nothing changes
    WRONG = "wrong"  #: something is there that nobody wants
    COSTS = "costs"  #: time goes there, as on any such machine
    SETTING = "setting"  #: a switch that decides what things cost
    NOTE = "note"  #: worth knowing


class Estimate(_Said):
    """What a feature of Lull would take off, in milliseconds: the interval.

    ``saved_ms`` is None where there is no basis, and ``why_not`` says so. ``of_ms``
    is the phase, of which it is never more; None where only the lab has one.
    ``clock`` is of ``saved_ms``: ``log`` is this machine's time, all others are not.
    """

    feature: str
    saved_ms: tuple[float, float] | None = None
    of_ms: float | None = None
    clock: str = ""
    basis: str = ""
    why_not: str = ""


class Remedy(_Said):
    """What can be done without Lull; ``helped`` says where it was measured."""

    id: str
    text: str
    command: str = ""
    price: str
    back: str
    helped: str


class Vain(_Said):
    """What is recommended and does not help."""

    id: str
    text: str
    why: str


class Finding(_Said):
    """``cost_ms`` is what ``cost`` says in words: a suspend's, or an exit's; None
    where nothing is known."""

    id: str
    grade: Grade
    title: str
    cost_ms: float | None = None
    cost: str = ""
    evidence: tuple[str, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    vain: tuple[Vain, ...] = ()


class Swapped(_Said):
    """A process with memory swapped out, in KiB."""

    name: str
    pid: int
    swap_kb: int


class Times(_Said):
    """Milliseconds of a part of a suspend, from the log: median and longest of n."""

    n: int
    median: float
    longest: float


class Facts(_Said):
    """What was seen, without judgement. None is what nobody could see.

    ``measured`` is what --measure has asked for; suspends that it had the kernel turn
    back are in the log like others.
    """

    kernel: str
    machine: str
    options: dict[str, str]
    lull: dict[str, str]
    power: Power
    async_devices: int | None
    sync_devices: int | None
    threads: int
    processes: int
    forks_s: float | None
    containers: int
    zombies: tuple[Zombies, ...]
    zombies_by_container: tuple[tuple[str, int], ...]
    waits: tuple[Waiting, ...]
    waits_unknown: int
    cgroup_v2: bool | None
    favordynmods: bool | None
    swap: Swap
    swapped: tuple[Swapped, ...]
    measured: Measured
    suspends: int
    times: dict[str, Times]


class Budget(_Said):
    """A limit that was asked for. ``seen_ms`` is the median of n, None where the log
    has none: then ``ok`` is None, too."""

    name: str
    limit_ms: float
    seen_ms: float | None
    n: int
    ok: bool | None


class Report(_Said):
    """All of it. ``gains`` has one estimate of each feature of Lull; of zfree it is of
    the process with the most in compressed swap. ``unseen`` are sentences: what could
    not be looked at, and why."""

    schema_: Literal[1] = Field(alias="schema")
    time: int
    root: bool
    facts: Facts
    findings: tuple[Finding, ...]
    gains: tuple[Estimate, ...]
    unseen: tuple[str, ...]
    budgets: tuple[Budget, ...]


def to_json(report: Report) -> str:
    """Indented, ends in a newline."""
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def schema_text() -> str:
    """The text of lull/schema/doctor.json (JSON Schema 2020-12)."""
    found: dict[str, Any] = Report.model_json_schema(
        by_alias=True, mode="serialization"
    )
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
    return json.dumps(found, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
