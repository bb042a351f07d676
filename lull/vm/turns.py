# SPDX-License-Identifier: GPL-2.0-only
"""What keeps QEMU's main thread from setting the insn clock forward too early:
``turns.c``, which says how, loaded into QEMU."""

from __future__ import annotations

import shutil
from pathlib import Path

from lull.errors import CannotRun, Late
from lull.host.files import repo_root
from lull.vm.compile import Recipe, compiled

NAME = "turns.so"


def recipe() -> Recipe:
    """How it is compiled."""
    return Recipe(
        name=NAME,
        room="lull/vm",
        flags=("-O2", "-shared", "-fPIC", "-std=gnu11", "-Wall", "-Wextra", "-Werror"),
        sources=("lull/vm/turns.c",),
    )


def put_turns(scratch: Path) -> Path:
    """Put it into ``scratch``, for one boot; raises as ``compiled`` does."""
    return Path(shutil.copy(compiled(repo_root(), recipe()), scratch / NAME))


def require_turns(library: Path | None, folder: Path) -> None:
    """Raise where the boot that ended was on a clock that may have gone wrong, so that
    no figure is of it: CannotRun where ``library`` has not found its two threads in
    that QEMU, and Late where one of them came out of turn."""
    if library is None:
        return
    if not library.with_name(f"{library.name}.found").exists():
        raise CannotRun(
            "QEMU's threads were not found, which must take turns on the clock insn",
            where=str(folder / "qemu.log"),
            hint="where ld.so could not load turns.so, that file says why (TMPDIR"
            " mounted noexec?); a QEMU that is linked statically takes none",
        )
    if library.with_name(f"{library.name}.forced").exists():
        raise Late(
            "QEMU's thread of the CPUs did not come by for a minute, and the clock insn"
            " may be wrong",
            where=str(folder),
            hint="on a busy host it was late: run it again with less beside",
        )
