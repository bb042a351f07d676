# SPDX-License-Identifier: GPL-2.0-only
"""Swap in zram and behind zswap: the steps ``swap`` and ``system``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lull.doctor.bundle import number, sections

_ZRAM = re.compile(r"^/sys/block/(zram\d+)/(\w+)$")
_BRACKETS = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True)
class Zram:
    """Sizes in bytes: of the device, of what is stored, and what that takes."""

    name: str
    size: int
    stored: int
    takes: int
    algorithm: str


@dataclass(frozen=True)
class Swap:
    """``used_kb`` by swap area. Zswap is None where the kernel has none."""

    used_kb: dict[str, int]
    zrams: tuple[Zram, ...]
    zswap: bool | None

    @property
    def all_zram(self) -> bool:
        """Whether all that is swapped out is in zram, and something is."""
        used = [name for name, kb in self.used_kb.items() if kb]
        return bool(used) and all(name.startswith("/dev/zram") for name in used)

    @property
    def compressed(self) -> bool:
        """Whether some of what is swapped out is in memory, compressed."""
        used = [name for name, kb in self.used_kb.items() if kb]
        return any(name.startswith("/dev/zram") for name in used) or (
            bool(used) and self.zswap is True
        )


def read_swap(swap: str, system: str) -> Swap:
    """From /sys/block/zram*, zswap's parameters and /proc/swaps."""
    parts = sections(swap)
    names = sorted({match[1] for path in parts if (match := _ZRAM.match(path))})
    enabled = parts.get("/sys/module/zswap/parameters/enabled", "").strip()
    return Swap(
        used_kb=_areas(sections(system).get("/proc/swaps", "")),
        zrams=tuple(_zram(name, parts) for name in names),
        zswap=enabled == "Y" if enabled else None,
    )


def _zram(name: str, parts: dict[str, str]) -> Zram:
    room = f"/sys/block/{name}/"
    stat = [number(word) for word in parts.get(room + "mm_stat", "").split()]
    stored, _, takes = (*stat, 0, 0, 0)[:3]
    chosen = _BRACKETS.search(parts.get(room + "comp_algorithm", ""))
    size = number(parts.get(room + "disksize", "").strip())
    return Zram(name, size, stored, takes, chosen[1] if chosen else "")


def _areas(text: str) -> dict[str, int]:
    found = {}
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) >= 5:
            found[fields[0]] = number(fields[-2])
    return found
