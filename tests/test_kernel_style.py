# SPDX-License-Identifier: GPL-2.0-only
"""The kernel code as the kernel wants it: checkpatch --strict, and sparse."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lull.host.files import cache_root
from lull.kernels.bases import base_names
from lull.kernels.inputs import gather
from lull.model import Arm
from lull.proof.stamps import Stamps
from tests.kernel_trees import (
    BASE,
    OURS,
    checkpatch,
    configure,
    had,
    hooked,
    kernel_parts,
    make,
    opened,
    run,
)

pytestmark = pytest.mark.vm

ME = "tests/test_kernel_style.py"
ROOT = Path(__file__).resolve().parents[1]


def kernel_files() -> list[Path]:
    overlay = gather(ROOT, BASE, Arm.LULL).overlay.values()
    return sorted(path for path in overlay if path.suffix in (".c", ".h"))


@pytest.mark.seconds(30)
def test_new_files_pass_checkpatch(stamp: Stamps) -> None:
    files = kernel_files()
    assert len(files) >= 8
    with stamp(kernel_parts(Arm.LULL, ME)) as new:
        found = [line for file in files if new for line in checkpatch("-f", file)]
        assert not found, "\n".join(found)


@pytest.mark.seconds(30)
@pytest.mark.parametrize("base", base_names())
def test_hooks_pass_checkpatch(base: str, stamp: Stamps) -> None:
    had(base)
    hooks = gather(ROOT, base, Arm.LULL).hooks
    # Another base may have the frame alone yet.
    assert len(hooks) >= (6 if base == BASE else 1)
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        # Whoever sends one adds their own sign-off.
        words = ["--no-signoff"]
        if base != BASE:
            # The list is of one kernel: another may write what that only reads.
            words += ["--ignore", "CONST_STRUCT"]
        wanted = [hook for hook in hooks if new]
        found = [line for hook in wanted for line in checkpatch(*words, hook)]
        assert not found, "\n".join(found)


BAD = "// SPDX-License-Identifier: GPL-2.0\nint f( int a ){return a;}\n"


def test_checkpatch_is_heard_whatever_its_user_does_not_want_to_hear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text(BAD)
    found = checkpatch("-f", bad)
    (tmp_path / ".checkpatch.conf").write_text("--ignore SPACING,OPEN_BRACE\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_root().parent))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(found) > 2 and checkpatch("-f", bad) == found


def test_a_file_that_checkpatch_cannot_open_passes_nothing(tmp_path: Path) -> None:
    """It names that to a shell, of which it hears nothing."""
    bad = tmp_path / "a b"
    bad.write_text(BAD)
    with pytest.raises(AssertionError, match="operand"):
        checkpatch("-f", bad)


@pytest.mark.parametrize("dies", ["exit 2", "kill -9 $$", "exit 1"])
def test_a_checkpatch_that_died_has_found_something(
    dies: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    perl = tmp_path / "perl"
    perl.write_text(f"#!/bin/sh\necho no such module >&2\n{dies}\n")
    perl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(AssertionError, match="no such module"):
        checkpatch("-f", perl)


#: From 7.3 on the kernel takes a checker for one that knows the word
#: (include/linux/compiler_types.h). Debian's does not, and dies of what comes of it.
UNQUAL = "-D__typeof_unqual__=__typeof__"


def sparse(obj: Path, *targets: str) -> str:
    """What sparse says, of files by their names in the tree."""
    said = make(obj, "C=2", "CHECK=sparse", f"CF={UNQUAL}", *targets)
    return said.replace(f"{obj.parent}/", "")


def test_sparse_reads_what_7_3_has_for_a_checker(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("static const int a;\nextern __typeof_unqual__(a) b;\n")
    assert "error" not in run(["sparse", UNQUAL, str(file)], tmp_path)


@pytest.mark.seconds(60)
@pytest.mark.parametrize(
    "arm", [Arm.DEBUG, pytest.param(Arm.LULL, marks=pytest.mark.proof)]
)
def test_sparse_finds_nothing_in_our_files(base: str, arm: Arm, stamp: Stamps) -> None:
    version = run(["sparse", "--version"], ROOT)
    parts = {**kernel_parts(arm, ME, base=base), "sparse": version}
    with stamp(parts) as new:
        if not new:
            return
        with opened(arm, base) as tree:
            obj = configure(tree, arm, base=base)
            out = sparse(obj, "-j2", OURS, *hooked(base))
        assert "CHECK" in out
        ours = [
            line
            for line in out.splitlines()
            if re.search(r"(warning|error):", line)
            and re.search(r"lull|freezer_lock", line)
        ]
        assert not ours, "\n".join(ours)
