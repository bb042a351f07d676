# SPDX-License-Identifier: GPL-2.0-only
"""Sources: the distribution's package, downloaded and unpacked into the cache.

No root is needed, nothing is installed, and where the package comes from is
the machine's own business (its apt configuration).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from lull.errors import CannotRun, LabError
from lull.host.files import write_file
from lull.host.programs import run, tail
from lull.host.suite import Suite, download_command, open_suite
from lull.kernels.bases import Base
from lull.kernels.cache import NEED_COLD, Cache, replace_tree
from lull.kernels.toolchain import need_fetch_tools
from lull.kernels.update import Update, silent
from lull.model import Record

#: What apt says when it knows no such package, or no version of it.
_UNKNOWN = re.compile(
    r"Unable to locate|No packages found|Can't select|no installation"
)
#: What it says when its lists are older than the archive.
_STALE = re.compile(r"\b404\b|Hash Sum mismatch|Can't find a source")


class Source(Record):
    """Pristine sources in the cache."""

    base: str
    package_version: str  #: 6.12.117-1~deb12u1
    version: str  #: 6.12.117
    tree: Path


def fetch_commands(base: Base, suite: Suite | None = None) -> list[list[str]]:
    """The commands that ``fetch`` runs, in an empty directory.

    ``suite`` is that of a base which is not in the machine's own.
    """
    return [
        download_command(base.package, suite),
        ["dpkg-deb", "-x", f"{base.package}.deb", "package"],
        ["tar", "-xf", f"package/{base.tarball}", "--no-same-owner"],
    ]


def makefile_version(text: str) -> str:
    """6.12.117 from the first lines of a kernel's Makefile."""
    parts = []
    for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL"):
        match = re.search(rf"^{name} = (\d+)$", text, re.MULTILINE)
        if not match:
            raise LabError(f"no {name} in the kernel's Makefile")
        parts.append(match[1])
    return ".".join(parts)


def cached(base: Base, cache: Cache) -> Source | None:
    """The sources that were fetched last, if any."""
    found: list[tuple[float, Source]] = []
    for stamp in (cache.sources / base.name).glob("*/source.json"):
        try:
            data = json.loads(stamp.read_text("utf-8"))
            source = Source(tree=stamp.parent / "tree", **data)
        except (OSError, ValueError, TypeError):
            continue
        found.append((stamp.stat().st_mtime, source))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def fetch(
    base: Base,
    cache: Cache,
    progress: Update = silent,
    refresh: bool = False,
) -> Source:
    """The sources of a base: from the cache, else downloaded and unpacked.

    With ``refresh`` the archive is asked again, and what it has now is used.
    """
    cache.prepare()

    def waiting(text: str) -> None:
        progress(text, 0, 0)

    with cache.lock(f"source-{base.name}", waiting):
        source = cached(base, cache)
        if source and not refresh:
            return source
        need_fetch_tools()
        cache.need(NEED_COLD, "fetching and building a kernel")
        return _fetch(base, cache, progress)


def _fetch(base: Base, cache: Cache, progress: Update) -> Source:
    with cache.temp("fetch") as temp:
        suite = None
        if base.suite:
            progress(f"{base.name}: reading what {base.suite} has", 0, 3)
            suite = open_suite(base.suite, temp / "apt")
        download, extract, unpack = fetch_commands(base, suite)
        progress(f"{base.name}: downloading {base.package}", 0, 3)
        done = run(download, temp)
        if done.returncode:
            raise download_error(base, done.stdout)
        package = next(temp.glob("*.deb"), None)
        if package is None:
            raise LabError(f"apt-get left no package\n{done.stdout}", where="fetch")
        package = package.rename(temp / f"{base.package}.deb")
        package_version = _unpack(
            ["dpkg-deb", "-f", package.name, "Version"], temp
        ).strip()
        progress(f"{base.name}: unpacking {package_version}", 1, 3)
        _unpack(extract, temp)
        package.unlink()
        progress(f"{base.name}: unpacking {base.tarball}", 2, 3)
        _unpack(unpack, temp)
        place = cache.sources / base.name / package_version
        new = temp / "new"
        new.mkdir()
        (temp / base.top).rename(new / "tree")
        version = makefile_version((new / "tree" / "Makefile").read_text("utf-8"))
        data = {
            "base": base.name,
            "package_version": package_version,
            "version": version,
        }
        write_file(new / "source.json", json.dumps(data).encode())
        replace_tree(new, place)
    progress(f"{base.name}: sources of {version}", 3, 3)
    return Source(tree=place / "tree", **data)


def _unpack(command: list[str], cwd: Path) -> str:
    done = run(command, cwd)
    if done.returncode:
        raise LabError(
            f"{' '.join(command)} failed ({done.returncode})\n{tail(done.stdout)}",
            where="unpacking the sources",
            hint="see that the disk is not full, and run again",
        )
    return done.stdout


def download_error(base: Base, output: str) -> CannotRun:
    """What a failed ``apt-get download`` means to the user."""
    if _UNKNOWN.search(output) and base.suite:
        what = f"the package {base.package} is not in {base.suite}"
        hint = "another --base, or another suite in kernel/bases"
    elif _UNKNOWN.search(output):
        what = f"the package {base.package} is not known to apt on this machine"
        hint = "sudo apt-get update; where no suite of the machine's has it: another"
        hint += " --base"
    elif _STALE.search(output) and base.suite:
        what = f"{base.suite} has changed while {base.package} was downloaded"
        hint = "run again"
    elif _STALE.search(output):
        what = f"apt's lists are too old to download {base.package}"
        hint = "sudo apt-get update"
    else:
        what = f"the package {base.package} cannot be downloaded"
        hint = f"apt-get download {base.package}, to see what is wrong"
    return CannotRun(f"{what}\n{tail(output)}", where=f"base {base.name}", hint=hint)
