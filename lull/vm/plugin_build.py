# SPDX-License-Identifier: GPL-2.0-only
"""Builds the plugin of the profile instrument for the QEMU that is there."""

from __future__ import annotations

import re
from pathlib import Path

from lull.errors import CannotRun
from lull.vm.compile import Recipe, compiled

NAME = "profile.so"


def build_plugin(root: Path, qemu: str) -> Path:
    """The plugin for a QEMU that says ``qemu`` of its version.

    Raises CannotRun for one too old for plugins, else as ``compiled`` does.
    """
    recipe = Recipe(
        name=NAME,
        room="plugin",
        flags=(
            "-O2",
            "-shared",
            "-fPIC",
            "-fvisibility=hidden",
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-DQEMU_API={plugin_api(qemu)}",
        ),
        sources=("plugin/profile.c",),
        headers=("plugin/qemu_api.h",),
    )
    return compiled(root, recipe)


def plugin_api(qemu: str) -> int:
    """The version of the plugin interface of a QEMU, as plugin/qemu_api.h has
    it. ``qemu`` is what ``qemu-system-x86_64 --version`` prints. Pure."""
    found = re.search(r"version (\d+)\.(\d+)", qemu)
    if found is None:
        raise CannotRun(f"QEMU does not say its version: {qemu.strip()!r}")
    version = (int(found[1]), int(found[2]))
    if version < (4, 2):
        raise CannotRun(
            f"QEMU {found[1]}.{found[2]} has no plugins",
            hint="apt-get install qemu-system-x86 (Debian 12 or newer)",
        )
    if version < (9, 0):
        return 1
    return 2 if version < (9, 1) else 3
