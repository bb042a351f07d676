# SPDX-License-Identifier: GPL-2.0-only
"""Builds the probe: one static program from probe/ and every feature's room."""

from __future__ import annotations

from pathlib import Path

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
    "-Wl,--build-id=none",
)


def build_probe(root: Path) -> Path:
    """The probe of the source tree ``root``; raises as ``compiled`` does."""
    recipe = Recipe(
        name=NAME,
        room="probe",
        flags=FLAGS,
        sources=_found(root, "probe/*.c", "features/*/*.c"),
        headers=_found(root, "probe/*.h", "features/*/*.h"),
    )
    return compiled(root, recipe)


def _found(root: Path, *patterns: str) -> tuple[str, ...]:
    found = [path for pattern in patterns for path in root.glob(pattern)]
    return tuple(sorted(str(path.relative_to(root)) for path in found))
