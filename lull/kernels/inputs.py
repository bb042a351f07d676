# SPDX-License-Identifier: GPL-2.0-only
"""The files of the project that go into a kernel, and in which order.

Which files an arm takes is decided here and nowhere else, so that the key
of a build and the build itself cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lull.errors import LabError
from lull.model import Arm

_SYMBOL = re.compile(r"^(?:menu)?config (\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Inputs:
    """What one arm of one base is made from."""

    overlay: dict[str, Path] = field(default_factory=dict)  #: tree path -> file
    hooks: tuple[Path, ...] = ()
    fragments: tuple[Path, ...] = ()
    features: tuple[str, ...] = ()  #: features with a Kconfig in the overlay
    absent: frozenset[str] = frozenset()  #: options of features not on the base

    def files(self) -> dict[str, Path]:
        """Every file, under a name that does not depend on where we are."""
        named = {f"overlay/{path}": file for path, file in self.overlay.items()}
        named |= {f"hook/{n}/{p.name}": p for n, p in enumerate(self.hooks)}
        named |= {f"config/{n}/{p.name}": p for n, p in enumerate(self.fragments)}
        return named


def feature_dirs(root: Path) -> list[Path]:
    """The features' directories, sorted by name.

    What else is beside them is none: Python leaves a ``__pycache__`` there, and git
    leaves what it does not know where a feature was.
    """
    return sorted(path.parent for path in root.glob("features/*/feature.toml"))


def is_on(room: Path, base: str) -> bool:
    """Whether a feature is on a base: it is hooked in there, or hooks in nowhere.

    ``room`` is the feature's directory.
    """
    hooks = room / "hooks"
    return not hooks.is_dir() or (hooks / base).is_dir()


def _is_source(path: Path) -> bool:
    """Whether a file is meant: editors and compilers leave others about."""
    return not path.name.startswith(".") and not path.name.endswith(
        ("~", ".o", ".orig", ".rej")
    )


def _overlay(root: Path, rooms: Iterable[Path]) -> dict[str, Path]:
    overlay: dict[str, Path] = {}
    places = [root / "kernel" / "overlay", *(room / "kernel" for room in rooms)]
    for place in places:
        for file in sorted(place.rglob("*")):
            if not file.is_file() or not _is_source(file):
                continue
            path = file.relative_to(place).as_posix()
            if path in overlay:
                raise LabError(
                    f"{path} is also in {overlay[path].parent}",
                    where=str(file),
                    hint="two overlays cannot bring the same file",
                )
            overlay[path] = file
    return overlay


def _hooks(root: Path, base: str) -> tuple[Path, ...]:
    places = [root / "kernel" / "hooks" / base]
    places += [feature / "hooks" / base for feature in feature_dirs(root)]
    return tuple(patch for place in places for patch in sorted(place.glob("*.patch")))


def _options(rooms: Iterable[Path]) -> frozenset[str]:
    """The options that features have, as a configuration names them."""
    texts = (
        file.read_text("utf-8")
        for room in rooms
        for file in sorted((room / "kernel").rglob("Kconfig"))
    )
    return frozenset(f"CONFIG_{name}" for t in texts for name in _SYMBOL.findall(t))


def _fragments(
    root: Path, base: str, arm: Arm, rooms: Iterable[Path]
) -> tuple[Path, ...]:
    config = root / "kernel" / "config"
    fragments = [config / "base.config"]
    if arm is not Arm.STOCK:
        fragments.append(config / "lull.config")
        own = (room / "config" for room in rooms)
        fragments += [path for path in own if path.is_file()]
    if arm in (Arm.LULL, Arm.DEBUG):
        fragments.append(config / "compare.config")
    if arm is Arm.DEBUG:
        fragments.append(config / "faults.config")
    if arm in (Arm.DEBUG, Arm.KCSAN):
        fragments.append(config / f"{arm}.config")
    # Last: it takes back what is otherwise on this base.
    differs = root / "kernel" / "bases" / f"{base}.config"
    if differs.is_file():
        fragments.append(differs)
    return tuple(fragments)


def gather(root: Path, base: str, arm: Arm) -> Inputs:
    """Find what goes into ``arm`` of ``base``; stock takes fragments only."""
    known = feature_dirs(root)
    rooms = [room for room in known if is_on(room, base)]
    fragments = _fragments(root, base, arm, rooms)
    if arm is Arm.STOCK:
        return Inputs(fragments=fragments)
    overlay = _overlay(root, rooms)
    features = tuple(
        room.name for room in rooms if f"kernel/lull/{room.name}/Kconfig" in overlay
    )
    absent = _options(room for room in known if room not in rooms)
    return Inputs(overlay, _hooks(root, base), fragments, features, absent)
