# SPDX-License-Identifier: GPL-2.0-only
"""Some files of a kernel's sources, wherever these are: a folder, a tarball, a
package, or what apt has now.

A tarball is read once, from its beginning, and only what is asked for is kept.
"""

from __future__ import annotations

import tarfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from lull.errors import LabError, UsageError
from lull.host.programs import run, tail
from lull.host.suite import open_suite
from lull.kernels.bases import Base
from lull.kernels.source import download_error, fetch_commands, makefile_version
from lull.kernels.update import Update, silent
from lull.kernels.workspace import decode

MAKEFILE = "Makefile"
_WHAT = "a source tree, its tarball, or a linux-source package"


@dataclass(frozen=True)
class Files:
    """What was asked for, where it is there, and the version that the tree says."""

    version: str
    texts: dict[str, str]

    def read(self, path: str) -> str | None:
        return self.texts.get(path)


def files_of(
    place: Path | None,
    base: Base,
    paths: Collection[str],
    progress: Update = silent,
) -> Files:
    """``paths`` of the sources at ``place``; None is what apt has of the base.

    Raises UsageError for what holds no kernel's sources, CannotRun where apt has
    no such package.
    """
    wanted = {MAKEFILE, *paths}
    if place is None:
        return _downloaded(base, wanted, progress)
    if place.is_dir():
        return _said(place, {path: _text(place / path) for path in wanted})
    if not place.is_file():
        raise UsageError(
            "there is no such file or folder", where=str(place), hint=_WHAT
        )
    if place.suffix == ".deb":
        return _packaged(place, base, wanted, progress)
    progress(f"reading {place.name}", 0, 0)
    return _said(place, _unpacked(place, wanted))


def _text(file: Path) -> str | None:
    return decode(file.read_bytes()) if file.is_file() else None


def _said(place: Path, found: dict[str, str | None]) -> Files:
    texts = {path: text for path, text in found.items() if text is not None}
    try:
        return Files(makefile_version(texts[MAKEFILE]), texts)
    except (KeyError, LabError) as error:
        raise UsageError(
            "these are no sources of a kernel: there is no Makefile of one",
            where=str(place),
            hint=_WHAT,
        ) from error


def _unpacked(tarball: Path, wanted: set[str]) -> dict[str, str | None]:
    """The wanted files, below whatever one folder the tarball has."""
    found: dict[str, str | None] = {}
    try:
        with tarfile.open(tarball, "r|*") as tar:
            for member in tar:
                path = "/".join(PurePosixPath(member.name).parts[1:])
                if path not in wanted or not member.isfile():
                    continue
                data = tar.extractfile(member)
                found[path] = decode(data.read()) if data else None
                if len(found) == len(wanted):
                    break
    except (tarfile.TarError, EOFError, OSError) as error:
        raise UsageError(
            f"not a tarball: {error}", where=str(tarball), hint=_WHAT
        ) from error
    return found


def _packaged(package: Path, base: Base, wanted: set[str], progress: Update) -> Files:
    with TemporaryDirectory(prefix="lull-base-") as temp:
        progress(f"unpacking {package.name}", 0, 0)
        done = run(["dpkg-deb", "-x", package.resolve(), "package"], Path(temp))
        if done.returncode:
            raise UsageError(
                f"not a package\n{tail(done.stdout)}", where=str(package), hint=_WHAT
            )
        tarball = Path(temp) / "package" / base.tarball
        if not tarball.is_file():
            raise UsageError(
                f"it holds no {base.tarball}",
                where=str(package),
                hint=f"a package {base.package}, or --base",
            )
        progress(f"reading {tarball.name}", 0, 0)
        return _said(package, _unpacked(tarball, wanted))


def _downloaded(base: Base, wanted: set[str], progress: Update) -> Files:
    with TemporaryDirectory(prefix="lull-base-") as temp:
        progress(f"downloading {base.package}", 0, 0)
        suite = open_suite(base.suite, Path(temp) / "apt") if base.suite else None
        download, *_ = fetch_commands(base, suite)
        done = run(download, Path(temp))
        if done.returncode:
            raise download_error(base, done.stdout)
        package = next(Path(temp).glob("*.deb"), None)
        if package is None:
            raise LabError(f"apt-get left no package\n{tail(done.stdout)}")
        return _packaged(package, base, wanted, progress)
