# SPDX-License-Identifier: GPL-2.0-only
"""What is in the cache, and whether it is what would be built now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lull.errors import LullError
from lull.host.files import repo_root
from lull.kernels import source
from lull.kernels.bases import base_names, load_base
from lull.kernels.build import blueprint
from lull.kernels.cache import Cache
from lull.kernels.record import Kernel, load
from lull.kernels.verify import is_verified
from lull.model import Arm


@dataclass(frozen=True)
class Listed:
    """One kernel of the list."""

    kernel: Kernel
    size: int  #: of everything that is kept of it, in bytes
    current: bool  #: the project's files, now, would give this one
    verified: bool


def _current_keys(cache: Cache, root: Path) -> set[str]:
    keys = set()
    for name in base_names(root):
        base = load_base(name, root)
        src = source.cached(base, cache)
        if src is None:
            continue
        for arm in Arm:
            try:
                keys.add(blueprint(base, arm, src, root).key)
            except (LullError, OSError):
                continue  # an arm that cannot be built now is not current
    return keys


def listing(cache: Cache | None = None, root: Path | None = None) -> list[Listed]:
    """The kernels in the cache, by base and arm, newest first."""
    cache = cache or Cache()
    keys = _current_keys(cache, root or repo_root())
    arms = list(Arm)
    found = [load(path) for path in cache.kernels.glob("*-*-*")]
    kernels = sorted((k for k in found if k), key=lambda k: k.built, reverse=True)
    kernels.sort(key=lambda k: (k.base, arms.index(k.arm)))
    return [
        Listed(
            kernel,
            sum(file.stat().st_size for file in kernel.directory.iterdir()),
            kernel.key in keys,
            is_verified(cache, kernel),
        )
        for kernel in kernels
    ]


def table(entries: list[Listed]) -> str:
    """The list as plain text, at most 75 columns."""
    form = "{:<6} {:<6} {:<9} {:<12} {:>6}  {:<16}  {}"
    lines = [form.format("base", "arm", "version", "sha256", "MB", "built", "state")]
    for entry in entries:
        kernel = entry.kernel
        state = "current" if entry.current else "old"
        lines.append(
            form.format(
                kernel.base,
                kernel.arm,
                kernel.version,
                kernel.digest[:12],
                f"{entry.size / 1e6:.0f}",
                kernel.built[:16].replace("T", " "),
                state + (" =" if entry.verified else ""),
            )
        )
    return "\n".join(lines)
