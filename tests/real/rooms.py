# SPDX-License-Identifier: GPL-2.0-only
"""A made-up scenario of real programs, and what asks for a short run."""

from __future__ import annotations

from pathlib import Path

from lull.model import Clock
from lull.real.catalog import FILE, GUEST, Scenario, load
from lull.real.plan import Request
from tests import synthetic

#: A feature that has a mode which a kernel without Lull has, too.
TOML = synthetic.TOML.replace(', unsafe = "skips too much"', "")
NEEDS = 'packages = ["dog"]\nbare = ["stock", "quick"]\n'


def room(
    root: Path, name: str = "walk", needs: str = NEEDS, switches: tuple[str, ...] = ()
) -> Scenario:
    """A scenario in a room below ``root``, which switches these features."""
    place = root / "scenarios" / name
    place.mkdir(parents=True)
    more = f"switches = {list(switches)}\n" if switches else ""
    (place / FILE).write_text(more + TOML.replace('"walk"', f'"{name}"'))
    (place / GUEST).write_text(needs)
    (place / "scenario.sh").write_text("check() { :; }\n")
    return load(place)


def short(scenarios: tuple[Scenario, ...], output: Path, bare: bool = False) -> Request:
    """What asks for one short boot of each, as time goes; ``bare`` without Lull."""
    return Request(
        scenarios=scenarios,
        base="6.12",
        clock=Clock.WALL,
        quick=True,
        seeds=(1,),
        bare=bare,
        output=output,
    )
