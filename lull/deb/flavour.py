# SPDX-License-Identifier: GPL-2.0-only
"""Debian's own configuration of a flavour, from the package that holds it."""

from __future__ import annotations

import lzma
from enum import StrEnum
from pathlib import Path

from lull.errors import CannotRun, LabError
from lull.host.files import write_file
from lull.host.programs import run, tail
from lull.host.suite import Suite, download_command, open_suite
from lull.kernels.bases import DEFAULT_BASE, Base
from lull.kernels.cache import Cache
from lull.kernels.source import Source, download_error
from lull.kernels.toolchain import need_fetch_tools
from lull.kernels.update import Update, silent


class Flavour(StrEnum):
    """Which of Debian's kernels: for virtual machines, or for all machines."""

    CLOUD = "cloud-amd64"
    AMD64 = "amd64"


def member(base: Base, flavour: Flavour) -> str:
    """The path of a flavour's configuration inside the package: Debian's naming,
    architecture, feature set (none, rt) and flavour."""
    return f"usr/src/{base.config}/config.amd64_none_{flavour}.xz"


def config_commands(
    base: Base, version: str, suite: Suite | None = None
) -> list[list[str]]:
    """The commands that fetch the configurations, in an empty directory.

    ``suite`` is that of a base which is not in the machine's own.
    """
    wanted = f"{base.config}={version}"
    return [
        download_command(wanted, suite),
        ["dpkg-deb", "-x", f"{base.config}.deb", "package"],
    ]


def config_file(base: Base, source: Source, flavour: Flavour, cache: Cache) -> Path:
    """Where the cache keeps a flavour's configuration, unpacked."""
    place = cache.root / "configs" / base.name / source.package_version
    return place / f"config.{flavour}"


def fetch_config(
    base: Base,
    source: Source,
    flavour: Flavour,
    cache: Cache,
    progress: Update = silent,
) -> Path:
    """A flavour's configuration: from the cache, else downloaded.

    It is that of the very version of the sources. Raises CannotRun where the
    package, or the flavour in it, is not to be had.
    """
    if not base.config:
        raise CannotRun(
            "Debian has no package with this kernel's configurations",
            where=f"base {base.name}",
            hint="lull kernel deb --base 6.12",
        )
    file = config_file(base, source, flavour, cache)
    if file.is_file():
        return file
    need_fetch_tools()
    with cache.temp("config") as temp:
        progress(f"downloading {base.config}", 0, 0)
        suite = open_suite(base.suite, temp / "apt") if base.suite else None
        download, extract = config_commands(base, source.package_version, suite)
        done = run(download, temp)
        if done.returncode:
            raise _not_downloaded(base, source, done.stdout)
        package = next(temp.glob("*.deb"), None)
        if package is None:
            raise LabError(f"apt-get left no package\n{done.stdout}", where="fetch")
        package.rename(temp / f"{base.config}.deb")
        done = run(extract, temp)
        if done.returncode:
            raise LabError(
                f"the package cannot be unpacked\n{tail(done.stdout)}",
                where=base.config,
                hint="see that the disk is not full, and run again",
            )
        write_file(file, unpacked(temp / "package", base, flavour))
    return file


def unpacked(package: Path, base: Base, flavour: Flavour) -> bytes:
    """A flavour's configuration from the unpacked package; CannotRun without."""
    packed = package / member(base, flavour)
    if not packed.is_file():
        there = ", ".join(sorted(path.name for path in packed.parent.glob("config.*")))
        raise CannotRun(
            f"{base.config} has no configuration of {flavour}; it has: "
            f"{there or 'none'}",
            where=member(base, flavour),
            hint="another --flavour",
        )
    return lzma.decompress(packed.read_bytes())


def _not_downloaded(base: Base, source: Source, output: str) -> CannotRun:
    error = download_error(base.model_copy(update={"package": base.config}), output)
    if "was not found" in output:
        of_base = "" if base.name == DEFAULT_BASE else f" --base {base.name}"
        return CannotRun(
            f"{base.config} {source.package_version}, the version of the sources "
            f"here, is gone from the archive\n{tail(output)}",
            where=f"base {base.name}",
            hint=("" if base.suite else "sudo apt-get update; ")
            + f"lull kernel deb --refresh{of_base}",
        )
    return error
