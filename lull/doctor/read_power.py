# SPDX-License-Identifier: GPL-2.0-only
"""The steps ``power``, ``lull``, ``config`` and ``devices``: switches. Pure."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lull.doctor.bundle import number, sections

#: What a suspend step is, in the order of enum suspend_stat_step.
STEPS = {
    "freeze": "freezing processes",
    "prepare": "->prepare() of a device",
    "suspend": "->suspend() of a device",
    "suspend_late": "->suspend_late() of a device",
    "suspend_noirq": "->suspend_noirq() of a device",
    "resume_noirq": "->resume_noirq() of a device",
    "resume_early": "->resume_early() of a device",
    "resume": "->resume() of a device",
}

#: Options that decide what is seen here, or what costs what.
OPTIONS = (
    "SUSPEND", "FREEZER", "PM_SLEEP", "PM_ADVANCED_DEBUG", "PM_SLEEP_DEBUG",
    "SUSPEND_SKIP_SYNC", "PM_AUTOSLEEP", "PM_WAKELOCKS", "PREEMPT", "PREEMPT_DYNAMIC",
    "CGROUPS", "CGROUP_FAVOR_DYNMODS", "ZRAM", "ZSWAP", "ZSWAP_DEFAULT_ON", "ZSMALLOC",
    "FUSE_FS", "NFS_FS", "KVM", "DETECT_HUNG_TASK", "LULL",
)  # fmt: skip

_OPTION = re.compile(r"^(?:CONFIG_(\w+)=(.*)|# CONFIG_(\w+) is not set)$")
_CHOSEN = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True)
class Stats:
    """Suspends since boot. ``device``, ``error`` and ``step`` are of the last that
    failed, empty where none has; ``steps`` counts failures by step."""

    success: int
    fail: int
    steps: Mapping[str, int]
    device: str
    error: str
    step: str


@dataclass(frozen=True)
class Power:
    """None, or empty, is what the kernel does not have or nobody could read."""

    mem_sleep: str
    mem_sleeps: tuple[str, ...]
    pm_async: bool | None
    sync_on_suspend: bool | None
    freeze_timeout_ms: int | None
    pm_test: str
    print_times: bool | None
    rcu_expedited: bool | None
    states: tuple[str, ...] | None
    stats: Stats | None

    @property
    def can_suspend(self) -> bool:
        """Whether it can, or nobody could see that it cannot."""
        return self.states is None or bool(
            {"mem", "standby", "freeze"} & {*self.states}
        )


@dataclass(frozen=True)
class Device:
    """``path`` is below /sys/devices; the driver may be empty."""

    path: str
    driver: str
    async_: bool


def errno_name(value: int) -> str:
    """-16 -> "EBUSY (Device or resource busy)"; the number where it has no name."""
    name = errno.errorcode.get(abs(value))
    if name is None:
        return str(value)
    return f"{name} ({os.strerror(abs(value))})"


def read_power(text: str) -> Power:
    """The files of /sys/power, and suspend_stats from there or from debugfs."""
    found = {path.removeprefix("/sys/"): body for path, body in sections(text).items()}

    def flag(path: str) -> bool | None:
        value = found.get(path, "").strip()
        return None if value not in ("0", "1") else value == "1"

    sleeps = found.get("power/mem_sleep", "").replace("[", "").replace("]", "").split()
    chosen = _CHOSEN.search(found.get("power/mem_sleep", ""))
    test = _CHOSEN.search(found.get("power/pm_test", ""))
    states = found.get("power/state")
    timeout = found.get("power/pm_freeze_timeout", "").strip()
    return Power(
        mem_sleep=chosen[1] if chosen else "",
        mem_sleeps=tuple(sleeps),
        pm_async=flag("power/pm_async"),
        sync_on_suspend=flag("power/sync_on_suspend"),
        freeze_timeout_ms=number(timeout) if timeout.isdigit() else None,
        pm_test=test[1] if test else "",
        print_times=flag("power/pm_print_times"),
        rcu_expedited=flag("kernel/rcu_expedited"),
        states=tuple(states.split()) if states is not None else None,
        stats=_stats(found),
    )


def _stats(found: Mapping[str, str]) -> Stats | None:
    room = "power/suspend_stats/"
    values = {
        path.removeprefix(room): body.strip()
        for path, body in found.items()
        if path.startswith(room)
    }
    if not values:
        values = _debugfs(found.get("kernel/debug/suspend_stats", ""))
    if "success" not in values:
        return None
    steps = {
        name.removeprefix("failed_"): number(value)
        for name, value in values.items()
        if name.startswith("failed_") and number(value)
    }
    fail = number(values.get("fail", ""))
    error = number(values.get("last_failed_errno", ""))
    return Stats(
        success=number(values["success"]),
        fail=fail,
        steps=steps,
        device=values.get("last_failed_dev", "") if fail else "",
        error=errno_name(error) if fail and error else "",
        step=values.get("last_failed_step", "") if fail else "",
    )


def _debugfs(text: str) -> dict[str, str]:
    """Of several last ones the first is the last: the rest has no name."""
    found = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() not in found:
            found[name.strip()] = value.strip()
    return found


def read_lull(text: str) -> Mapping[str, str]:
    """Feature -> the mode it is in; empty for a kernel without Lull."""
    room = "/sys/module/lull/parameters/"
    return {
        path.removeprefix(room): body.strip()
        for path, body in sections(text).items()
        if path.startswith(room)
    }


def read_config(text: str) -> Mapping[str, str]:
    """Those of OPTIONS that the configuration has: y, m, n, or a value."""
    found = {}
    for line in text.splitlines():
        if match := _OPTION.match(line):
            found[match[1] or match[3]] = match[2] or "n"
    if not found:
        return {}
    return {name: found.get(name, "n") for name in OPTIONS}


def read_devices(text: str) -> tuple[Device, ...]:
    """Devices that say whether they are async."""
    found = []
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) == 3 and fields[0] in ("enabled", "disabled"):
            driver = "" if fields[1] == "-" else fields[1]
            path = fields[2].removeprefix("/sys/devices/")
            found.append(Device(path, driver, fields[0] == "enabled"))
    return tuple(found)
