# SPDX-License-Identifier: GPL-2.0-only
"""The scenarios of real programs: ``scenario.toml`` and ``guest.toml`` as records.

A room below scenarios/ that has the two is one. ``scenario.toml`` is what feature.toml
is elsewhere (docs/contracts.md); ``lull run`` does not know it, for what runs is not
in the probe.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lull.ask import catalog
from lull.errors import LabError, UsageError
from lull.guest.boot import MEMORY_MB
from lull.guest.image import More
from lull.host.files import repo_root
from lull.host.records import read_toml
from lull.model import Feature, Headline, Record

FILE, GUEST = "scenario.toml", "guest.toml"
SCRIPT = "scenario.sh"  #: its part that runs in the guest
MEASURE = "guest measure"  #: the command that measures them
SCENARIOS = "lull guest scenarios"  #: and the one that lists them
#: What boots a scenario, by the file that its room has.
_COMMANDS = {
    FILE: f"lull {MEASURE} {{}}",
    "stress.toml": "lull guest stress",
    "feature.toml": "lull run {}",
}


class Felt(Headline):
    """What a feature comes to in real programs."""

    feature: str


class Guest(Record):
    """What a scenario needs in its Debian, and who is to be told of it: guest.toml."""

    #: Of Debian's; their versions are held against the guest's own.
    packages: tuple[str, ...]
    asleep: tuple[str, ...] = ()  #: services of theirs, not started by themselves
    bare: tuple[str, ...] = ("stock",)  #: modes that a kernel without Lull has
    files: tuple[str, ...] = ()  #: beside it, for the guest
    memory_mb: int = MEMORY_MB
    limit_s: float = 3600.0  #: for a boot, on the machine that README's times are of
    felt: tuple[Felt, ...] = ()  #: for the front page


@dataclass(frozen=True)
class Scenario:
    """A room with all that is the scenario's."""

    room: Path
    feature: Feature
    guest: Guest

    @property
    def name(self) -> str:
        """The room's."""
        return self.feature.name

    @property
    def programs(self) -> tuple[Path, ...]:
        """C files, each a program of its own."""
        return tuple(sorted((self.room / "programs").glob("*.c")))


def scenarios(root: Path | None = None) -> tuple[Scenario, ...]:
    """All there are, by name. Raises LabError for a broken file."""
    base = root or repo_root()
    return tuple(load(path.parent) for path in sorted(base.glob(f"scenarios/*/{FILE}")))


def select(names: Iterable[str], root: Path | None = None) -> tuple[Scenario, ...]:
    """Those named, in that order; all for no names. Raises UsageError."""
    known = {one.name: one for one in scenarios(root)}
    wanted = tuple(dict.fromkeys(names)) or tuple(known)
    for name in wanted:
        if name not in known:
            there = f"of real programs there is: {', '.join(known) or 'none'}"
            raise UsageError(
                f"unknown scenario: {name!r}", hint=booted_by(name, root) or there
            )
    return tuple(known[name] for name in wanted)


def booted_by(name: str, root: Path | None = None) -> str:
    """The command for the scenario of that name; empty where there is none."""
    if not catalog.NAME.fullmatch(name):
        return ""
    room = (root or repo_root()) / "scenarios" / name
    found = (text for file, text in _COMMANDS.items() if (room / file).is_file())
    return next(found, "").format(name)


def refuse_real(
    names: Iterable[str], instead: str = "", root: Path | None = None
) -> None:
    """Raises UsageError for a scenario that is not of the probe: with the command that
    boots it, or ``instead`` of one that measures it."""
    for name in names:
        command = booted_by(name, root)
        if command.startswith("lull guest "):
            measured = command.startswith(f"lull {MEASURE} ")
            raise UsageError(
                f"{name} runs real programs in a Debian",
                hint=instead if instead and measured else command,
            )


def features(root: Path | None = None) -> tuple[Feature, ...]:
    """What reports need of each."""
    return tuple(one.feature for one in scenarios(root))


def more(root: Path | None = None) -> More:
    """What all of them need in an image, so that there is one for all."""
    found = scenarios(root)
    return More(
        packages=_each(p for one in found for p in one.guest.packages),
        asleep=_each(s for one in found for s in one.guest.asleep),
    )


def _each(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))


def load(room: Path) -> Scenario:
    """The scenario of a room. Raises LabError that names file and field."""
    feature = catalog.load(room / FILE)
    where = str(room / GUEST)
    guest = read_toml(room / GUEST, Guest)
    for name in guest.bare:
        if name not in feature.mode_names:
            raise LabError(f"bare: {name!r} is no mode", where=where)
    for item in guest.felt:
        if item.metric not in feature.metrics or item.workload not in feature.workloads:
            raise LabError(f"felt: no {item.workload} {item.metric}", where=where)
        if item.feature not in feature.switches:
            raise LabError(f"felt: {item.feature!r} is not switched", where=where)
    for name in (SCRIPT, *guest.files):
        if not (room / name).is_file():
            raise LabError(f"{name} is not there", where=str(room))
    return Scenario(room, feature, guest)
