# SPDX-License-Identifier: GPL-2.0-only
"""Builds the probe: one static program from probe/ and every feature's room."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.errors import CannotRun, LabError
from lull.files import cache_root

NAME = "lull-probe"
COMPILER = "gcc"

#: Not PIE, so that the profile instrument finds the marks by address; no
#: build id and no paths of this machine, so that two builds are the same.
FLAGS = (
    "-O2",
    "-static",
    "-no-pie",
    "-fno-pie",
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pthread",
    "-Iprobe",
    "-Wl,--build-id=none",
)

_APT = "apt-get install gcc libc6-dev"


def build_probe(root: Path) -> Path:
    """The probe of the source tree ``root``, compiled where it is not cached.

    Raises CannotRun without a C compiler or a static C library, and LabError
    with the compiler's words where the sources do not compile.
    """
    compiler = shutil.which(COMPILER)
    if compiler is None:
        raise CannotRun(f"{COMPILER} is not in PATH", hint=_APT)
    root = root.resolve()
    sources = probe_sources(root)
    if not sources:
        raise LabError("there are no C files of the probe", where=str(root / "probe"))
    inputs = {name: (root / name).read_bytes() for name in probe_inputs(root)}
    folder = cache_root() / "probe" / build_key(inputs, _version(compiler))
    program = folder / NAME
    if program.is_file():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the rename is one step.
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as scratch:
        made = Path(scratch) / NAME
        _compile(compiler, root, sources, made)
        os.replace(made, program)
    return program


def probe_sources(root: Path) -> list[str]:
    """The C files of the probe and of the features, relative to ``root``, sorted."""
    found = [*root.glob("probe/*.c"), *root.glob("features/*/*.c")]
    return sorted(str(path.relative_to(root)) for path in found)


def probe_inputs(root: Path) -> list[str]:
    """Every file that a compile may read: the sources and their headers."""
    headers = [*root.glob("probe/*.h"), *root.glob("features/*/*.h")]
    return sorted(
        {*probe_sources(root), *(str(path.relative_to(root)) for path in headers)}
    )


def build_key(inputs: Mapping[str, bytes], compiler: str) -> str:
    """A name for everything that goes into a build: 16 hex digits. Pure."""
    digest = hashlib.sha256()
    for part in (compiler, *FLAGS):
        digest.update(f"{len(part)}:{part}".encode())
    for name, data in sorted(inputs.items()):
        digest.update(f"{name}:{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:16]


def compile_command(
    compiler: str, root: Path, sources: Sequence[str], output: Path
) -> list[str]:
    """The compiler's command line, to be run in ``root``. Pure."""
    return [
        compiler,
        *FLAGS,
        f"-ffile-prefix-map={root}=.",
        *("-o", str(output)),
        *sources,
    ]


def _compile(compiler: str, root: Path, sources: Sequence[str], output: Path) -> None:
    command = compile_command(compiler, root, sources, output)
    # The locale is pinned: the message about a missing library is looked for.
    environ = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=root, env=environ, capture_output=True, check=False
    )
    if done.returncode == 0:
        return
    words = done.stderr.decode("utf-8", "backslashreplace").strip()
    if lacks_static_libc(words):
        raise CannotRun("there is no static C library to link with", hint=_APT)
    raise LabError(f"the probe does not compile:\n{words}", where=str(root / "probe"))


def lacks_static_libc(words: str) -> bool:
    """Whether a failed link, or a compile, was for want of the C library."""
    return any(
        sign in words
        for sign in ("cannot find -lc", "cannot find crt1.o", "stdio.h: No such file")
    )


def _version(compiler: str) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "backslashreplace")
