# SPDX-License-Identifier: GPL-2.0-only
"""herd7: runs litmus tests under the memory model of a kernel's own sources.

The model changes with the kernel and wants a herd7 that is no older than it.
Where the machine has none, Debian's package is taken from sid with all that it
links, unpacked in the cache and started through its own loader: nothing is
installed, no root is needed, and the machine's libraries stay what they are.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from lull.errors import CannotRun, LabError
from lull.host.programs import run as run_command
from lull.host.programs import tail
from lull.host.resources import GB
from lull.host.suite import open_suite
from lull.kernels.cache import Cache, replace_tree
from lull.kernels.toolchain import need_fetch_tools
from lull.kernels.update import Update, silent

PACKAGE = "herdtools7"
SUITE = "sid"

#: 0.07 GB of lists and packages, 0.27 GB unpacked.
_NEED = GB // 2
#: What stays of it: the package has fifty programs of 5 MB each.
_KEEP = ("usr/bin/herd7", "usr/lib", "usr/share/herdtools7/herd")
_RESULT = re.compile(r"^[( ]\* Result: (Always|Sometimes|Never)\s*$", re.MULTILINE)
_OBSERVATION = re.compile(
    r"^Observation (\S+) (Always|Sometimes|Never) \d+ \d+$", re.MULTILINE
)
_STATES = re.compile(r"^States \d+\n((?:.*;\n)*)", re.MULTILINE)
_FLAG = re.compile(r"^Flag (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Herd:
    """A herd7 that starts: the words of the command before its own options."""

    command: tuple[str, ...]
    version: str


@dataclass(frozen=True)
class Litmus:
    """What herd7 says of one litmus test."""

    name: str
    holds: str  #: the ``exists`` clause: Always, Sometimes or Never
    states: tuple[str, ...]  #: every final state that the model allows
    flags: tuple[str, ...]  #: data-race: with it ``holds`` means nothing
    text: str  #: the whole output


def expected(litmus: str) -> str:
    """What the comment of a litmus test says it gives; raises LabError."""
    match = _RESULT.search(litmus)
    if not match:
        raise LabError("no line '* Result: Always|Sometimes|Never'")
    return match[1]


def parse(text: str) -> Litmus:
    """Read herd7's output; raises LabError where it has no verdict."""
    match = _OBSERVATION.search(text)
    if not match:
        raise LabError(f"herd7 gives no verdict\n{tail(text)}")
    states = _STATES.search(text)
    return Litmus(
        name=match[1],
        holds=match[2],
        states=tuple(states[1].splitlines()) if states else (),
        flags=tuple(_FLAG.findall(text)),
        text=text,
    )


def herd(progress: Update = silent, cache: Cache | None = None) -> Herd:
    """A herd7 that starts: the machine's, else the cache's, else sid's.

    Raises CannotRun where there is none and none can be had.
    """
    own = shutil.which("herd7")
    if own and (found := _try([own])):
        return found
    cache = cache or Cache()
    cache.prepare()
    place = cache.root / "herd"
    with cache.lock("herd", lambda text: progress(text, 0, 0)):
        found = _unpacked(place)
        if not found:
            need_fetch_tools()
            cache.need(_NEED, "fetching herd7")
            with cache.temp("herd") as temp:
                _fetch(temp, progress)
                replace_tree(temp / "new", place)
            found = _unpacked(place)
    if not found:
        raise _cannot(f"{PACKAGE} of {SUITE} does not start here")
    return found


def run(herd: Herd, model: Path, litmus: Path) -> Litmus:
    """Run one litmus test; ``model`` is tools/memory-model of a kernel."""
    if not (model / "linux-kernel.cfg").is_file():
        raise CannotRun("these sources have no memory model", where=str(model))
    done = run_command(
        [*herd.command, "-conf", "linux-kernel.cfg", litmus.resolve()], model
    )
    try:
        return parse(done.stdout)
    except LabError as error:
        raise LabError(error.what, where=str(litmus)) from error


def _fetch(temp: Path, progress: Update) -> None:
    (temp / "new").mkdir()
    progress(f"herd7: reading what {SUITE} has", 0, 3)
    try:
        suite = open_suite(SUITE, temp / "apt")
    except CannotRun as error:
        raise _cannot(error.what) from error
    progress(f"herd7: downloading {PACKAGE}", 1, 3)
    get = suite.apt("install", "-y", "--no-install-recommends", "--download-only")
    _check([*get, PACKAGE], suite.folder, f"{PACKAGE} of {SUITE} cannot be downloaded")
    progress("herd7: unpacking", 2, 3)
    for package in sorted(suite.folder.glob("cache/archives/*.deb")):
        unpack = ["dpkg-deb", "-x", str(package), "unpacked"]
        _check(unpack, temp, f"{package.name} cannot be unpacked")
    for name in _KEEP:
        if (temp / "unpacked" / name).exists():
            (temp / "new" / name).parent.mkdir(parents=True, exist_ok=True)
            (temp / "unpacked" / name).rename(temp / "new" / name)
    progress("herd7: unpacked", 3, 3)


def _unpacked(place: Path) -> Herd | None:
    loader = next(place.glob("usr/lib/*/ld-linux*"), None)
    if loader is None:
        return None
    start = [str(loader), "--library-path", str(loader.parent)]
    models = ["-set-libdir", str(place / _KEEP[2])]
    return _try([*start, str(place / _KEEP[0]), *models])


def _try(command: list[str]) -> Herd | None:
    try:
        done = run_command([*command, "-version"])
    except OSError:
        return None
    version = re.match(r"\d+\.\d+\S*?(?=[,\s])", done.stdout)
    if done.returncode or not version:
        return None
    return Herd(tuple(command), version[0])


def _check(command: list[str], cwd: Path, what: str) -> None:
    done = run_command(command, cwd)
    if done.returncode:
        raise _cannot(f"{what}\n{tail(done.stdout)}")


def _cannot(what: str) -> CannotRun:
    return CannotRun(
        what,
        where="herd7",
        hint=f"install {PACKAGE}, so that herd7 is in PATH; 7.58 will do",
    )
