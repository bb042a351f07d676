# SPDX-License-Identifier: GPL-2.0-only
"""C programs of the lab's own, compiled once for everything that goes in."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lull.errors import CannotRun, LabError
from lull.host.files import cache_root, digest, write_file
from lull.host.trust import is_ours

COMPILER = "gcc"


@dataclass(frozen=True)
class Recipe:
    """What to compile; paths are relative to the source tree.

    ``headers`` are the other files that the compiler may read.
    """

    name: str  #: of the result
    room: str  #: the folder of its sources, and of its results in the cache
    flags: tuple[str, ...]
    sources: tuple[str, ...]
    headers: tuple[str, ...] = ()
    compiler: str = COMPILER

    @property
    def hint(self) -> str:
        """What installs the compiler, with a C library to link with."""
        packages = f"{self.compiler} libc6-dev"
        if self.compiler != COMPILER:
            # "aarch64-linux-gnu-gcc" is in gcc-aarch64-linux-gnu.
            target = self.compiler.removesuffix("-gcc")
            arch = {"aarch64": "arm64", "x86_64": "amd64"}[target.partition("-")[0]]
            packages = f"gcc-{target.replace('_', '-')} libc6-dev-{arch}-cross"
        return f"apt-get install {packages}"


def compiled(root: Path, recipe: Recipe) -> Path:
    """The program of the source tree ``root``, compiled where it is not cached.

    One that is not what was put into the cache is forgotten, with a line on stderr: a
    machine that was cut off from its power may leave half a file. In a cache that
    another user could have put it into, or could change it in, nothing is looked for,
    and nothing is written: it is compiled for this process alone.

    Raises CannotRun without a C compiler or a static C library, and LabError
    with the compiler's words where the sources do not compile.
    """
    compiler = shutil.which(recipe.compiler)
    if compiler is None:
        raise CannotRun(f"{recipe.compiler} is not in PATH", hint=recipe.hint)
    root = root.resolve()
    where = str(root / recipe.room)
    if not recipe.sources:
        raise LabError(f"there are no C files of the {recipe.room}", where=where)
    key = recipe_key(root, recipe)
    kept = cache_root()
    if not is_ours(kept / recipe.room / key / recipe.name, kept):
        kept = _apart()
    folder = kept / recipe.room / key
    program = folder / recipe.name
    if _is_whole(program):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the rename is one step.
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as scratch:
        made = Path(scratch) / recipe.name
        _compile(compile_command(compiler, root, recipe, made), root, recipe, where)
        # First: two that compile at once make the same.
        write_file(_sum_file(program), digest(made.read_bytes()).encode())
        os.replace(made, program)
    return program


def _is_whole(program: Path) -> bool:
    """Whether it is there, as it was compiled; says so where it is there otherwise."""
    kept = _sum_file(program)
    if not program.is_file():
        return False
    if kept.is_file() and kept.read_bytes() == digest(program.read_bytes()).encode():
        return True
    line = f"lull: {program} is forgotten: it is not what was compiled"
    print(line, file=sys.stderr)
    return False


def _sum_file(program: Path) -> Path:
    return program.with_name(f"{program.name}.digest")


@cache
def _apart() -> Path:
    """A folder that nobody else can write to, and that goes with this process."""
    # TMPDIR may be another user's, too.
    place = tempfile.gettempdir()
    folder = tempfile.mkdtemp("-lull", dir=place if is_ours(Path(place)) else "/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def recipe_key(root: Path, recipe: Recipe) -> str:
    """What names the program: everything that it is compiled from."""
    names = (*recipe.sources, *recipe.headers)
    inputs = {name: (root / name).read_bytes() for name in names}
    return build_key(inputs, _tools(recipe.compiler), recipe.flags)


def build_key(
    inputs: Mapping[str, bytes], compiler: str, flags: Sequence[str] = ()
) -> str:
    """A name for everything that goes into a build: 20 hex digits. Pure."""
    named = (part for item in sorted(inputs.items()) for part in item)
    return digest(compiler, str(len(flags)), *flags, *named)


def compile_command(
    compiler: str, root: Path, recipe: Recipe, output: Path
) -> list[str]:
    """The compiler's command line, to be run in ``root``. Pure."""
    return [
        compiler,
        *recipe.flags,
        f"-ffile-prefix-map={root}=.",
        *("-o", str(output)),
        *recipe.sources,
    ]


def _compile(command: list[str], root: Path, recipe: Recipe, where: str) -> None:
    # The locale is pinned: the message about a missing library is looked for.
    environ = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=root, env=environ, capture_output=True, check=False
    )
    if done.returncode == 0:
        return
    words = done.stderr.decode("utf-8", "backslashreplace").strip()
    if lacks_libc(words):
        raise CannotRun("there is no static C library to link with", hint=recipe.hint)
    raise LabError(f"the {recipe.room} does not compile:\n{words}", where=where)


def lacks_libc(words: str) -> bool:
    """Whether a failed link, or a compile, was for want of the C library."""
    return any(
        sign in words
        for sign in ("cannot find -lc", "cannot find crt1.o", "stdio.h: No such file")
    )


@cache
def _tools(compiler: str) -> str:
    """What stands for the compiler, the assembler, the linker and the C library."""
    asked = [
        (compiler, "--version"),
        *((_named(compiler, name), "--version") for name in ("as", "ld")),
    ]
    libc = Path(_named(compiler, "libc.a", "-print-file-name"))
    there = libc.read_bytes() if libc.is_file() else b""
    return digest(*(_said(*words) for words in asked), there)


def _named(compiler: str, name: str, option: str = "-print-prog-name") -> str:
    """Which file the compiler takes for that."""
    return _said(compiler, f"{option}={name}").strip()


def _said(*words: str) -> str:
    # A compiler that knows no such program names none.
    if not words[0]:
        return ""
    done = subprocess.run(words, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "backslashreplace")
