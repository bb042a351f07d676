# SPDX-License-Identifier: GPL-2.0-only
"""Built kernels: the record of one, and how they are kept by key."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from lull.kernels.cache import Cache
from lull.model import Arm, Record

#: Goes up when the lab builds the same inputs to something else.
SCHEMA = 1
#: Kernels of one base and arm that are kept; the others have been replaced.
KEEP = 8


class Kernel(Record):
    """A kernel in the cache, complete."""

    base: str
    arm: Arm
    version: str  #: what uname says: 6.12.117
    package_version: str
    key: str
    digest: str  #: sha256 of bzImage
    #: sha256 of what else is kept of it, by name; of an older lab's, nothing
    files: dict[str, str] = Field(default_factory=dict)
    compiler: str
    built: str  #: when, ISO 8601 in UTC
    seconds: float
    directory: Path = Field(exclude=True)

    @property
    def bzimage(self) -> Path:
        return self.directory / "bzImage"

    @property
    def system_map(self) -> Path:
        return self.directory / "System.map"

    @property
    def vmlinux(self) -> Path:
        return self.directory / "vmlinux"

    @property
    def config(self) -> Path:
        return self.directory / "config"

    @property
    def log(self) -> Path:
        return self.directory / "build.log"


def sha256(path: Path) -> str:
    """The sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_key(
    package_version: str,
    files: Mapping[str, bytes],
    compiler: str,
    flags: Iterable[str],
) -> str:
    """The hash of everything that goes into a kernel."""
    parts = {
        "schema": SCHEMA,
        "source": package_version,
        "files": {
            name: hashlib.sha256(data).hexdigest() for name, data in files.items()
        },
        "compiler": compiler,
        "flags": list(flags),
    }
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def kernel_dir(cache: Cache, base: str, arm: Arm, key: str) -> Path:
    """The place of a kernel."""
    return cache.kernels / f"{base}-{arm}-{key}"


def load(directory: Path) -> Kernel | None:
    """The kernel in a directory, if it is whole: the digests are checked."""
    try:
        data = json.loads((directory / "kernel.json").read_text("utf-8"))
        kernel = Kernel(directory=directory, **data)
        kept = {kernel.bzimage.name: kernel.digest, **kernel.files}
        whole = all(sha256(directory / name) == kept[name] for name in kept)
    except (OSError, ValueError, TypeError, ValidationError):
        return None
    return kernel if whole else None


def touch(kernel: Kernel) -> None:
    """Note that a kernel is in use, so that it is kept."""
    os.utime(kernel.directory)


def prune(cache: Cache, base: str, arm: Arm) -> None:
    """Remove the kernels of an arm that were not used for longest."""
    found = sorted(
        cache.kernels.glob(f"{base}-{arm}-*"),
        key=lambda path: path.stat().st_mtime,
        reverse=True,
    )
    for path in found[KEEP:]:
        cache.discard(path)
