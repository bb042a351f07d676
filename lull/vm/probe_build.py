# SPDX-License-Identifier: GPL-2.0-only
"""Builds the probe: one static program from probe/ and the rooms of all features
and scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lull.ask.catalog import ROOMS
from lull.vm.compile import Recipe, compiled

NAME = "lull-probe"

#: Not PIE, so that the profile instrument finds the marks by address; no
#: build id and no paths of this machine, so that two builds are the same.
FLAGS = (
    "-O2",
    "-static",
    "-no-pie",
    "-fno-pie",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pthread",
    "-Iprobe",
    # A scenario includes what its features have: "features/devices/tree.h".
    "-I.",
    "-Wl,--build-id=none",
)


def build_probe(root: Path, rooms: Sequence[str] | None = None) -> Path:
    """The probe of the source tree ``root``; raises as ``compiled`` does.

    ``rooms`` are the features and scenarios whose workloads it has, all by
    default. With one alone its program does not change with others'.
    """
    return compiled(root, probe_recipe(root, rooms))


def probe_recipe(root: Path, rooms: Sequence[str] | None = None) -> Recipe:
    """What the probe is compiled from; ``rooms`` as in ``build_probe``."""
    return Recipe(
        name=NAME,
        room="probe",
        flags=FLAGS,
        sources=_found(root, "c", rooms),
        headers=_found(root, "h", rooms),
    )


def _found(root: Path, suffix: str, rooms: Sequence[str] | None) -> tuple[str, ...]:
    places = [root / "probe"]
    for kind in ROOMS:
        places += sorted(
            place
            for place in root.glob(f"{kind}/*")
            if rooms is None or place.name in rooms
        )
    found = [path for place in places for path in place.glob(f"*.{suffix}")]
    return tuple(sorted(str(path.relative_to(root)) for path in found))
