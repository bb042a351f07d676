# SPDX-License-Identifier: GPL-2.0-only
"""Packages that were built: whole in the cache, by key, and how long it took."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field, ValidationError

from lull.host.files import write_file
from lull.kernels.cache import Cache
from lull.kernels.record import sha256
from lull.model import Record

#: Of each base and flavour; a set is some hundred MB.
KEEP = 2

_RECORD = "packages.json"


class Packages(Record):
    """The packages of a flavour, complete."""

    base: str
    flavour: str
    release: str  #: what uname -r says
    version: str  #: of the packages
    key: str
    compiler: str
    built: str  #: when, ISO 8601 in UTC
    files: dict[str, str]  #: sha256 by file name
    directory: Path = Field(exclude=True)


class Cost(Record):
    """What a build took, from a tree made anew to the packages."""

    seconds: float
    cpu_seconds: float
    largest_mb: int  #: the largest process, in MiB
    disk_mb: int  #: tree and objects, in MB
    lines: int  #: that make said
    jobs: int


def packages_dir(cache: Cache, name: str, key: str) -> Path:
    """The place of a set of packages; ``name`` is its plan's."""
    return cache.root / "packages" / f"{name}-{key}"


def keep(packages: Packages) -> None:
    """Write the record: the last file of a set, without which it is none."""
    text = packages.model_dump_json(indent=1)
    write_file(packages.directory / _RECORD, text.encode())


def load(directory: Path) -> Packages | None:
    """The packages in a directory, if all are there and as they were made."""
    try:
        data = json.loads((directory / _RECORD).read_text("utf-8"))
        found = Packages(directory=directory, **data)
        whole = all(
            sha256(directory / name) == digest for name, digest in found.files.items()
        )
    except (OSError, ValueError, TypeError, ValidationError):
        return None
    return found if whole else None


def prune(cache: Cache, name: str) -> None:
    """Remove the sets of packages that were made longest ago."""
    found = sorted(
        (cache.root / "packages").glob(f"{name}-*"),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    for path in found[KEEP:]:
        cache.discard(path)


def _cost_file(cache: Cache, name: str) -> Path:
    return cache.stamps / f"{name}.json"


def keep_cost(cache: Cache, name: str, cost: Cost) -> None:
    """Note what a build took here, for who asks before the next."""
    write_file(_cost_file(cache, name), cost.model_dump_json(indent=1).encode())


def last_cost(cache: Cache, name: str) -> Cost | None:
    """What the last build of this name took on this machine, if there was one."""
    try:
        return Cost.model_validate_json(_cost_file(cache, name).read_text("utf-8"))
    except (OSError, ValueError):
        return None
