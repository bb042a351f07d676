# SPDX-License-Identifier: GPL-2.0-only
"""A made-up scenario of real programs."""

from __future__ import annotations

from pathlib import Path

from lull.real.catalog import FILE, GUEST, Scenario, load
from tests import synthetic

#: A feature that has a mode which a kernel without Lull has, too.
TOML = synthetic.TOML.replace(', unsafe = "skips too much"', "")
NEEDS = 'packages = ["dog"]\nbare = ["stock", "quick"]\n'


def room(root: Path, name: str = "walk", needs: str = NEEDS) -> Scenario:
    """A scenario in a room below ``root``."""
    place = root / "scenarios" / name
    place.mkdir(parents=True)
    (place / FILE).write_text(TOML.replace('"walk"', f'"{name}"'))
    (place / GUEST).write_text(needs)
    (place / "scenario.sh").write_text("check() { :; }\n")
    return load(place)
