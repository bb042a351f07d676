# SPDX-License-Identifier: GPL-2.0-only
"""A profile as a file: ``profiles/NAME.json`` in the folder of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from lull.errors import LabError
from lull.host.files import write_file
from lull.model import Record
from lull.report.profile import Count, Profile

PROFILES = "profiles"


class Side(Record):
    """What was counted in a mode; ``functions`` have executed instructions, and
    how many were locked."""

    mode: str
    kernel: str
    windows: int
    work: float
    functions: Mapping[str, tuple[int, int]]

    def profile(self) -> Profile:
        """The same as the table has it."""
        counts = {name: Count(*pair) for name, pair in self.functions.items()}
        return Profile(self.mode, self.kernel, self.windows, self.work, counts)


class Counted(Record):
    """A profile and what it is compared with; per ``unit`` of work."""

    title: str
    unit: str
    of: Side
    vs: Side | None = None


def counted(of: Profile, vs: Profile | None, title: str, unit: str) -> Counted:
    """The record of what ``lull profile`` has counted."""
    return Counted(title=title, unit=unit, of=_side(of), vs=_side(vs) if vs else None)


def keep(run: Path, found: Counted) -> Path:
    """Write it into a run's folder; an earlier one of the same title goes.

    Raises LabError where that cannot be done.
    """
    words = [found.title, found.of.mode, *([found.vs.mode] if found.vs else [])]
    name = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(words)).strip("-")[:200]
    path = run / PROFILES / f"{name}.json"
    try:
        write_file(path, (found.model_dump_json() + "\n").encode())
    except OSError as error:
        raise LabError(
            f"the profile cannot be kept: {error.strerror or error}", where=str(path)
        ) from error
    return path


def kept(run: Path) -> tuple[Counted, ...]:
    """All profiles of a run's folder, by name. Raises LabError for a broken one."""
    return tuple(_read(path) for path in sorted((run / PROFILES).glob("*.json")))


def _side(of: Profile) -> Side:
    return Side(
        mode=of.mode,
        kernel=of.kernel,
        windows=of.windows,
        work=of.work,
        functions={name: (c.insns, c.locked) for name, c in of.functions.items()},
    )


def _read(path: Path) -> Counted:
    try:
        return Counted.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise LabError(f"not a profile: {first}", where=str(path)) from error
