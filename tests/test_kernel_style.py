# SPDX-License-Identifier: GPL-2.0-only
"""The kernel code as the kernel wants it: checkpatch --strict, and sparse."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lull.kernels import source, toolchain
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.inputs import gather
from lull.kernels.make import OBJ, environment, make_flags
from lull.kernels.progress import silent
from lull.model import Arm
from tests.kernel_trees import opened

pytestmark = pytest.mark.vm

ROOT = Path(__file__).resolve().parents[1]

#: What checkpatch says of every trace event and every defining macro.
_EXPECTED = re.compile(
    r"include/trace/events/.*CHECK: (Alignment should match|Lines should not end)"
    r"|CHECK: Macro argument reuse"
    # It takes the word Kconfig in a path for the file's own name.
    r"|It's generally not useful to have the filename"
)


def checkpatch(*words: str | Path) -> list[str]:
    tree = source.fetch(load_base("6.12"), Cache(), silent).tree
    command = ["perl", str(tree / "scripts/checkpatch.pl"), "--strict", "--terse"]
    command += ["--no-summary", *map(str, words)]
    # In the tree: elsewhere it takes context lines for whole files.
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if ": " in line]
    return [line for line in lines if not _EXPECTED.search(line)]


def kernel_files() -> list[Path]:
    found = [
        *ROOT.glob("kernel/overlay/**/*.[ch]"),
        *ROOT.glob("features/*/kernel/**/*.[ch]"),
    ]
    return sorted(found)


def test_new_files_pass_checkpatch() -> None:
    files = kernel_files()
    assert len(files) >= 8
    found = [line for file in files for line in checkpatch("-f", file)]
    assert not found, "\n".join(found)


def test_hooks_pass_checkpatch() -> None:
    hooks = gather(ROOT, "6.12", Arm.LULL).hooks
    assert len(hooks) >= 6
    # Whoever sends one adds their own sign-off.
    found = [line for hook in hooks for line in checkpatch("--no-signoff", hook)]
    assert not found, "\n".join(found)


def test_checkpatch_is_heard(tmp_path: Path) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("// SPDX-License-Identifier: GPL-2.0\nint f( int a ){return a;}\n")
    assert checkpatch("-f", bad)


#: Where our code is, and what the files that it is included into make of it.
CHECKED = (
    "kernel/lull/",
    "kernel/freezer.o",
    "kernel/power/process.o",
    "kernel/cgroup/cgroup.o",
    "kernel/cgroup/cgroup-v1.o",
    "mm/zsmalloc.o",
    "mm/zswap.o",
    "mm/swapfile.o",
    "drivers/base/power/",
    "drivers/block/zram/",
    "fs/eventpoll.o",
    "fs/pipe.o",
    "fs/signalfd.o",
    "net/core/datagram.o",
    "net/ipv4/tcp.o",
)


def sparse(tree: Path, *targets: str) -> str:
    has_ccache = toolchain.ccache() is not None
    cache = Cache()
    env = environment(cache.ccache if has_ccache else None, cache.work)
    command = ["make", *make_flags(tree, has_ccache), "C=2", "CHECK=sparse", *targets]
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


@pytest.mark.parametrize("arm", [Arm.LULL, Arm.DEBUG])
def test_sparse_finds_nothing_in_our_files(arm: Arm) -> None:
    with opened(arm) as tree:
        assert (tree / OBJ).is_dir()
        out = sparse(tree, *CHECKED)
    assert "CHECK" in out
    ours = [
        line
        for line in out.splitlines()
        if re.search(r"(warning|error):", line)
        and re.search(r"lull|freezer_lock", line)
    ]
    assert not ours, "\n".join(ours)
