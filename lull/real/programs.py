# SPDX-License-Identifier: GPL-2.0-only
"""What a boot of a scenario gets beside its job: files, and programs compiled here."""

from __future__ import annotations

from pathlib import Path

from lull.host.files import repo_root
from lull.real.catalog import SCRIPT, Scenario
from lull.vm.compile import Recipe, compiled

_FILES = "lull/real/files"
DRIVER = f"{_FILES}/driver.sh"  #: the guest's job: it runs the plan beside it

FLAGS = (
    *("-O2", "-static", "-s", "-no-pie", "-fno-pie", "-std=gnu11"),
    *("-Wall", "-Wextra", "-Werror", "-Wl,--build-id=none", f"-I{_FILES}"),
)


def recipes(one: Scenario, root: Path) -> tuple[Recipe, ...]:
    """Of each C file of a scenario. Pure but for their names."""
    return tuple(
        Recipe(
            name=path.stem,
            room=str(path.parent.relative_to(root)),
            flags=FLAGS,
            sources=(str(path.relative_to(root)),),
            headers=(f"{_FILES}/measure.h",),
        )
        for path in one.programs
    )


def files_of(one: Scenario, root: Path | None = None) -> dict[str, Path]:
    """Name in the guest -> file here. Raises what ``compiled`` raises."""
    base = root or repo_root()
    found = {name: one.room / name for name in (SCRIPT, *one.guest.files)}
    for recipe in recipes(one, base):
        found[recipe.name] = compiled(base, recipe)
    return found
