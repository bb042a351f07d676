# SPDX-License-Identifier: GPL-2.0-only
"""Memory and disk: what is free, and refusing what would not fit."""

from __future__ import annotations

import shutil
from pathlib import Path

from lull.errors import CannotRun

MB = 1_000_000
GB = 1000 * MB


def available_mb(meminfo: str | None = None) -> int | None:
    """MemAvailable in MiB, of this machine or of a /proc/meminfo's text.

    None where it is not told.
    """
    return _meminfo_mb("MemAvailable", meminfo)


def total_mb(meminfo: str | None = None) -> int | None:
    """MemTotal, likewise."""
    return _meminfo_mb("MemTotal", meminfo)


def _meminfo_mb(wanted: str, meminfo: str | None) -> int | None:
    text = Path("/proc/meminfo").read_text("ascii") if meminfo is None else meminfo
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name == wanted:
            return int(rest.split()[0]) // 1024
    return None


def require_disk(path: Path, need: int, step: str, hint: str) -> None:
    """Raise CannotRun where fewer than ``need`` bytes are free at ``path``."""
    free = shutil.disk_usage(path).free
    if free < need:
        size = f"{need / GB:.0f} GB" if need >= GB else f"{need / MB:.0f} MB"
        raise CannotRun(
            f"{step} needs {size} of disk, {free / GB:.1f} GB are free",
            where=str(path),
            hint=hint,
        )
