# SPDX-License-Identifier: GPL-2.0-only
"""Running make: exact commands, a log, progress, and no survivors.

The environment is made here rather than inherited: MAKEFLAGS of a make that
called us, ARCH, KCFLAGS or a locale would all change what is built.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lull.errors import LabError
from lull.host.process import end_group
from lull.kernels.config import merge_command
from lull.kernels.update import Update, silent

#: The object directory is inside the source tree: then the kernel's Makefile
#: names the sources by the relative path "..", and no result, and no key of
#: ccache, depends on where the tree is.
OBJ = "lull-obj"

#: What a kernel says of its own origin; fixed, so that builds compare.
IDENTITY = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 2026",
    "KBUILD_BUILD_USER": "lull",
    "KBUILD_BUILD_HOST": "lull",
    "KBUILD_BUILD_VERSION": "1",
}

#: The temporary place of a tree, in what goes into a key.
_ANYWHERE = Path("/src")

_CCACHE_SIZE = "4G"


class Interrupted(KeyboardInterrupt):
    """A command was asked to end and has ended by itself: make has then removed
    what was half made, and the next one may go on from there."""


@dataclass(frozen=True)
class Step:
    """One command of a build."""

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    counted: bool = False  #: its lines are the build's progress

    def __str__(self) -> str:
        """As it can be pasted into a shell."""
        env = (f"{name}={shlex.quote(value)}" for name, value in self.env.items())
        return f"cd {shlex.quote(str(self.cwd))} && env -i {' '.join(env)} \\\n  " + (
            shlex.join(self.argv)
        )


def make_flags(source: Path, ccache: bool) -> list[str]:
    """What every make call gets; the paths in it do not reach the result."""
    # The compiler tries the last one first.
    prefix = f"-ffile-prefix-map={source}=.. -ffile-prefix-map={source}/{OBJ}=."
    cc = "ccache gcc" if ccache else "gcc"
    return [
        f"O={source}/{OBJ}",
        # Not x86_64: then allnoconfig would also say no to what only 64 bit
        # has, VMAP_STACK and SPARSEMEM_VMEMMAP among it. The fragment turns
        # 64 bit on, and those take the defaults that distributions ship.
        "ARCH=x86",
        f"CC={cc}",
        f"HOSTCC={cc}",
        f"KCFLAGS={prefix}",
        f"KAFLAGS={prefix}",
        "LOCALVERSION=",
        *(f"{name}={value}" for name, value in IDENTITY.items()),
    ]


def build_identity() -> list[str]:
    """The flags as they go into the key: without places."""
    return make_flags(_ANYWHERE, ccache=False)


def environment(ccache_dir: Path | None, shared: Path | None) -> dict[str, str]:
    """The environment of a step; without ``ccache_dir`` ccache is off.

    ``shared`` is the directory of all trees: ccache takes paths below it as
    relative to the tree, so that a tree made anew finds what the last compiled.
    """
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C",
        "TZ": "UTC",
    }
    if ccache_dir is None:
        return env | {"CCACHE_DISABLE": "1"}
    return env | {
        "CCACHE_DIR": str(ccache_dir),
        "CCACHE_BASEDIR": str(shared),
        "CCACHE_NOHASHDIR": "1",
        # What the compiler reads decides: no preprocessing first.
        "CCACHE_DEPEND": "1",
        # Trees are written anew, and no time stamp or __DATE__ gets compiled.
        "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime,time_macros",
        "CCACHE_MAXSIZE": _CCACHE_SIZE,
    }


def build_steps(
    source: Path,
    fragments: tuple[Path, ...],
    env: dict[str, str],
    jobs: int,
    targets: tuple[str, ...] = ("bzImage",),
) -> list[Step]:
    """The commands that make ``targets`` from a tree, in order."""
    flags = make_flags(source, "CCACHE_DIR" in env)
    obj = source / OBJ

    def make(*words: str, counted: bool = False) -> Step:
        return Step(
            ("make", "--no-print-directory", *flags, *words), source, env, counted
        )

    return [
        make("allnoconfig"),
        Step(tuple(merge_command(source, obj, fragments)), source, env),
        make("olddefconfig"),
        make(f"-j{jobs}", *targets, counted=True),
    ]


def run_step(
    step: Step,
    log: Path,
    keep_open: tuple[int, ...] = (),
    progress: Update = silent,
    label: str = "",
    expected: int = 0,
    before: int = 0,
) -> int:
    """Run a command to its end and append what it says to ``log``.

    ``expected`` lines are all of it, of which ``before`` were said by one that this
    goes on with. Returns the number of lines it said. However this function is left,
    the command and its children have ended; ``keep_open`` are descriptors of locks,
    which then live as long as the last of them does.
    """
    tail: list[str] = []
    count = 0
    with log.open("a", buffering=1, encoding="utf-8") as file:
        file.write(f"$ {step}\n")
        file.flush()
        # setpriv: if this process is killed outright, make hears of it.
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "--", *step.argv],
            cwd=step.cwd,
            env=step.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            # Not a session of its own, to which our niceness would be nothing.
            process_group=0,
            pass_fds=keep_open,
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                file.write(line)
                count += 1
                tail = [*tail[-19:], line.rstrip()]
                if step.counted:
                    progress(f"{label}: {line.strip()[:60]}", before + count, expected)
            status = process.wait()
        except KeyboardInterrupt as error:
            if end_group(process):
                raise Interrupted from error
            raise
        finally:
            end_group(process)
    if status:
        last = "\n".join(f"    {line}" for line in tail)
        raise LabError(
            f"the command failed with status {status}\n{last}\n  command: {step}",
            where=label,
            hint=f"see the whole log: {log}",
        )
    return count
