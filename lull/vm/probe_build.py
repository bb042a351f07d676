# SPDX-License-Identifier: GPL-2.0-only
"""Builds the probe: one static program from probe/ and the rooms of all features
and scenarios."""

from __future__ import annotations

from pathlib import Path

from lull.catalog import ROOMS
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


def build_probe(root: Path) -> Path:
    """The probe of the source tree ``root``; raises as ``compiled`` does."""
    recipe = Recipe(
        name=NAME,
        room="probe",
        flags=FLAGS,
        sources=_found(root, "c"),
        headers=_found(root, "h"),
    )
    return compiled(root, recipe)


def _found(root: Path, suffix: str) -> tuple[str, ...]:
    rooms = ("probe", *(f"{room}/*" for room in ROOMS))
    found = [path for room in rooms for path in root.glob(f"{room}/*.{suffix}")]
    return tuple(sorted(str(path.relative_to(root)) for path in found))
