# SPDX-License-Identifier: GPL-2.0-only
"""Bases: the kernels that Lull is maintained for, as data in kernel/bases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.host.records import read_toml
from lull.model import Clock, Record

DEFAULT_BASE = "6.12"


class Base(Record):
    """One kernel/bases/<name>.toml: where the sources come from."""

    name: str = Field(pattern=r"^[0-9]+\.[0-9]+$")
    package: str = Field(pattern=r"^[a-z0-9][a-z0-9.+-]+$")
    tarball: str  #: path inside the package
    top: str  #: directory inside the tarball
    config: str = ""  #: the package that holds Debian's configurations, by flavour
    suite: str | None = None  #: where the machine's own suite lacks the package
    #: Of the command line, on the clock insn alone.
    insn_words: tuple[str, ...] = ()
    #: By feature: what this kernel has of it by itself, which is then in `stock`.
    native: Mapping[str, str] = Field(default_factory=dict)
    #: By feature: why it is not on this base. Where there is no reason it is.
    absent: Mapping[str, str] = Field(default_factory=dict)


def _directory(root: Path | None) -> Path:
    return (root or repo_root()) / "kernel" / "bases"


def base_names(root: Path | None = None) -> list[str]:
    """The names that ``load_base`` takes, oldest kernel first."""
    names = (path.stem for path in _directory(root).glob("*.toml"))
    return sorted(names, key=lambda name: [int(n) for n in name.split(".")])


def base_words(name: str, clock: Clock) -> tuple[str, ...]:
    """What the command line of a base's kernels has more than others' on a clock."""
    return load_base(name).insn_words if clock is Clock.INSN else ()


def load_base(name: str, root: Path | None = None) -> Base:
    """Read one base; an unknown name is answered with the valid ones."""
    names = base_names(root)
    if name not in names:
        raise UsageError(
            f"there is no base {name!r}; there is: {', '.join(names) or 'none'}",
            hint=f"--base {DEFAULT_BASE}" if DEFAULT_BASE in names else "",
        )
    path = _directory(root) / f"{name}.toml"
    base = read_toml(path, Base)
    if base.name != name:
        raise LabError(f"names itself {base.name!r}", where=str(path))
    return base
