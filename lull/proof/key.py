# SPDX-License-Identifier: GPL-2.0-only
"""Everything that a verdict depends on, by kind.

A verdict is remembered under these: what is not in here could change, and the
old verdict would be taken for the new one. The seed is not: each run tries some
anew, what is random with another.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import sys
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath

from lull.ask.job import job_text
from lull.host.files import digest
from lull.kernels import toolchain
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.inputs import Inputs, gather
from lull.kernels.make import build_identity
from lull.kernels.source import fetch
from lull.kernels.workspace import decode, encode
from lull.model import Arm, Clock
from lull.proof.reads import began, written_since
from lull.proof.stock_code import added, stock_code
from lull.proof.trial import Size, Trial
from lull.runs.boot import machine_spec
from lull.runs.standby import NOWHERE
from lull.trees.guest import guest_files
from lull.vm import standby, tsc
from lull.vm.accel import ACCEL_VARIABLE, device_obstacle, emulator
from lull.vm.command import qemu_command
from lull.vm.compile import recipe_key
from lull.vm.probe_build import probe_recipe

#: What makes a kernel, and the tree that it is built in.
MAKER = "lull/kernels/build.py"
#: What a command of the lab begins with.
COMMAND = "lull/cli.py"
#: MAKER, and what makes a verdict of a boot, with all that they import.
JUDGE = (
    MAKER,
    "lull/proof/attempt.py",
    "lull/runs/standby.py",
)

#: Of a feature's own C what watches on a test kernel, whatever the mode is.
_WATCHES = "debug.c"
#: Headers that call only where a switch is on, and those that call nothing.
_LOOKING = ("include/", "kernel/lull/")
#: Variables that say something to Python, its loader or its libraries.
_TELLS = ("PYTHON", "MALLOC_", "GLIBC_", "LD_", "OMP_", "OPENBLAS_")
#: Whose modules are read for what they import: the lab's, and its tests'.
_PACKAGES = ("lull", "tests")


def key_of(parts: Mapping[str, str]) -> str:
    """The name of a verdict."""
    return digest(json.dumps(dict(parts), sort_keys=True))


def parts_of(
    trial: Trial, size: Size, base: str, root: Path, *, boot_each: bool = False
) -> dict[str, str]:
    """Kind of input -> digest. Fetches the kernel's sources where they are not.

    With ``boot_each`` its guests boot, else they are resumed from one that stands by.
    """
    job = trial.job(size, 0)
    rooms = (trial.feature, *trial.needs)
    spec = machine_spec(Path("KERNEL"), base, 0, Clock.WALL, "tcg", arm=trial.arm)
    # What decides between KVM and TCG, without a kernel that could be tried.
    accel = f"{os.environ.get(ACCEL_VARIABLE)} {device_obstacle(Path('/dev/kvm'))}"
    files = guest_files(job)
    wiring = replace(NOWHERE, standby=None) if boot_each else NOWHERE
    said = trial.model_dump_json(exclude={"text", "seconds", "cases", "proof"})
    return {
        "source": _source(base),
        "kernel": kernel_of(root, base, trial.arm, rooms),
        **tools(),
        "machine": digest(accel, *qemu_command(spec, wiring)),
        "standby": "" if boot_each else recipe_key(root, standby.recipe()),
        "probe": recipe_key(root, probe_recipe(root, (trial.feature,))),
        "job": digest(job_text(job), *(n.encode() + t for n, t in files.items())),
        "wanted": digest(said),
        "judge": judging(root),
    }


@cache
def _source(base: str) -> str:
    return fetch(load_base(base), Cache()).package_version


def kernel_of(root: Path, base: str, arm: Arm, features: Collection[str]) -> str:
    """What of the project is in the kernel as some features see it, as a digest."""
    inputs = gather(root, base, arm)
    reached = kernel_code(root, inputs, features)
    files = kernel_files(root, inputs, features)
    return digest(_files(root, files), *(encode(text) for text in reached))


def kernel_files(root: Path, inputs: Inputs, features: Collection[str]) -> list[Path]:
    """What of that are whole files.

    The frame and those features whole. Others stay in their mode stock: of them all
    but the C below kernel/lull/, which holds what only their other modes do. What is
    beside the kernel's own files is here whole, since these include it in any mode.
    """
    found = [*inputs.fragments, *inputs.hooks]
    for place, path in inputs.overlay.items():
        if not _is_own(place) or _room(root, path) in ("", *features):
            found.append(path)
    return found


def kernel_code(root: Path, inputs: Inputs, features: Collection[str]) -> list[str]:
    """And of the other features' own C what runs in the mode stock, too."""
    own: dict[str, list[str]] = {}
    callers, looking = [added(tuple(map(_text, inputs.hooks)))], []
    for place, path in inputs.overlay.items():
        if _is_own(place):
            own.setdefault(_room(root, path), []).append(_text(path))
        elif path.suffix == ".h" and place.startswith(_LOOKING):
            looking.append(_text(path))
        elif path.suffix in (".c", ".h"):
            callers.append(_text(path))
    return [
        text
        for name in sorted(own.keys() - {"", *features})
        for text in stock_code(tuple(own[name]), tuple(callers), tuple(looking))
    ]


def _is_own(place: str) -> bool:
    """Whether a file of the overlay is C of one feature, and not what watches."""
    path = PurePosixPath(place)
    return (
        place.startswith("kernel/lull/")
        and path.suffix == ".c"
        and path.name != _WATCHES
    )


def _text(path: Path) -> str:
    return decode(path.read_bytes())


def _room(root: Path, path: Path) -> str:
    """The feature that a file belongs to; empty for the frame."""
    rooms = root / "features"
    return path.relative_to(rooms).parts[0] if path.is_relative_to(rooms) else ""


def _files(root: Path, paths: Iterable[Path]) -> str:
    named = sorted((str(path.relative_to(root)), path) for path in paths)
    return digest(*(x for name, path in named for x in (name, path.read_bytes())))


def imports(root: Path, *start: str) -> list[Path]:
    """Modules of the lab and of its tests, and all such that they import."""
    found: dict[Path, None] = {}
    todo = [root / name for name in start]
    while todo:
        path = todo.pop()
        if path in found or not path.is_file():
            continue
        found[path] = None
        todo.append(path.parent / "__init__.py")
        for name in _imported(path.read_bytes()):
            place = root / name.replace(".", "/")
            todo += [place.with_suffix(".py"), place / "__init__.py"]
    return list(found)


@cache
def _imported(source: bytes) -> tuple[str, ...]:
    """The names of the lab's modules, and maybe of what is in them."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return tuple(name for name in names if name.partition(".")[0] in _PACKAGES)


@cache
def code(root: Path, *start: str) -> str:
    """Modules of the lab with all that they import, as they were when this process
    asked first: what is changed on the disk later is not what runs here."""
    return _files(root, imports(root, *start))


def rewritten(root: Path, *start: str) -> list[str]:
    """Of these modules, and all that they import, those that were written since this
    process began, which may have them as they were."""
    return written_since(began(), root, imports(root, *start))


def lab_parts(root: Path, *start: str) -> dict[str, str]:
    """What a test depends on that makes no kernel: modules, its own for one, with all
    that they import, and the Python that runs them."""
    return {"modules": code(root, *start), "python": python()}


@cache
def python() -> str:
    """It, its libraries, what they were told from outside, and the machine: how much
    memory it takes hangs on each."""
    told = {k: v for k, v in os.environ.items() if k.startswith(_TELLS)}
    return digest(
        sys.version,
        platform.machine(),
        platform.release(),
        str(os.cpu_count()),
        *platform.libc_ver(),
        zlib.ZLIB_RUNTIME_VERSION,
        *sorted(f"{one.name} {one.version}" for one in distributions()),
        *(word for name in sorted(told) for word in (name, told[name])),
    )


@cache
def judging(root: Path) -> str:
    """The code that judges, likewise."""
    return _files(root, [*imports(root, *JUDGE), root / tsc.SOURCE])


@cache
def tools() -> dict[str, str]:
    """The programs of this machine that have a part in it."""
    return {
        "compiler": digest(toolchain.compiler(), *build_identity()),
        "qemu": emulator(),
    }
