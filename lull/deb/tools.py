# SPDX-License-Identifier: GPL-2.0-only
"""The package lull-tools: the probe, settings, a unit, and ``lull status``.

Made with dpkg-deb alone; what is in it needs no Python. The same inputs give the
same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from lull import __version__
from lull.ask.catalog import ROOMS, features
from lull.ask.on_base import native_modes, on_base
from lull.ask.presence import absent_from
from lull.deb.commit import NOT_LEFT_ABOUT, Commit, last_commit, version_of
from lull.deb.tools_text import (
    OfBase,
    changelog,
    compared,
    default_file,
    feature_table,
    fill,
)
from lull.errors import CannotRun, LabError
from lull.host.files import repo_root, write_file
from lull.host.programs import run, tail
from lull.kernels.bases import DEFAULT_BASE, Base, base_names, load_base
from lull.model import Feature
from lull.vm.probe_build import build_probe

PACKAGE = "lull-tools"

#: Of every file in it.
_TIME = datetime(2026, 1, 1, tzinfo=UTC)

#: Where the files of deb/tools go, and whether they are programs.
_PLACES = {
    "lull": ("usr/bin/lull", True),
    "lull.service": ("usr/lib/systemd/system/lull.service", False),
    "tmpfiles": ("usr/lib/tmpfiles.d/lull.conf", False),
    "copyright": (f"usr/share/doc/{PACKAGE}/copyright", False),
    "README.Debian": (f"usr/share/doc/{PACKAGE}/README.Debian", False),
    "lintian-overrides": (f"usr/share/lintian/overrides/{PACKAGE}", False),
    "postinst": ("DEBIAN/postinst", True),
    "prerm": ("DEBIAN/prerm", True),
    "postrm": ("DEBIAN/postrm", True),
}
_PAGES = ("lull.1", "lull-probe.1")
_CONFIG = "etc/default/lull"

#: Where the files are that go into it, as git's patterns.
PATHS = (
    "deb/tools",
    "lull/deb/tools.py",
    "lull/deb/tools_text.py",
    "lull/vm/probe_build.py",
    "kernel/bases",
    ":(glob)features/*/bases/*",
    ":(glob)features/*/feature.toml",
    ":(glob)features/*/kernel/**/*.c",
    ":(glob)probe/*.[ch]",
    *(f":(glob){room}/*/*.[ch]" for room in ROOMS),
    *NOT_LEFT_ABOUT,
)


@dataclass(frozen=True)
class File:
    """A file of the package."""

    data: bytes
    program: bool = False


def tools_version(commit: Commit | None) -> str:
    """0.1.0+git476.0288dfb: Lull's, and that of the commit."""
    return f"{__version__}{version_of(commit)}"


def contents(
    root: Path, probe: bytes, architecture: str, commit: Commit | None
) -> dict[str, File]:
    """All files of the package by their path in it, those of DEBIAN/ as well."""
    version = tools_version(commit)
    here = root / "deb" / "tools"
    sources = (p.read_text("utf-8") for p in root.glob("features/*/kernel/**/*.c"))
    left_out = compared(sources)
    known = features(root)
    files = {"usr/bin/lull-probe": File(probe, program=True)}
    for name, (place, program) in _PLACES.items():
        text = fill((here / name).read_text("utf-8"), VERSION=version)
        files[place] = File(text.encode(), program)
    for name in _PAGES:
        page = (here / name).read_bytes()
        files[f"usr/share/man/man1/{name}.gz"] = File(_gzip(page))
    when = format_datetime(commit.time if commit else _TIME)
    log = changelog(version, when, commit.number if commit else "")
    files[f"usr/share/doc/{PACKAGE}/changelog.gz"] = File(_gzip(log.encode()))
    files[_CONFIG] = File(default_file(known).encode())
    files["usr/share/lull/features"] = File(feature_table(known, left_out).encode())
    for base in map(load_base, base_names(root)):
        if base.name != DEFAULT_BASE:
            text = table_of(base, known, left_out, root)
            files[f"usr/share/lull/features-{base.name}"] = File(text.encode())
    files |= _control(here, files, version, architecture)
    return files


def table_of(
    base: Base, known: Sequence[Feature], left_out: Collection[str], root: Path
) -> str:
    """What ``lull status`` says of features on a base's kernel."""
    there = OfBase(
        base.native,
        absent_from(base, root),
        {one.name: native_modes(one, base, root) for one in known},
    )
    as_there = [on_base(one, base, one.mode_names, root) for one in known]
    return feature_table(as_there, left_out, there)


def _control(
    here: Path, files: Mapping[str, File], version: str, architecture: str
) -> dict[str, File]:
    """What dpkg has to know, of the files so far."""
    payload = {
        name: file for name, file in files.items() if not name.startswith("DEBIAN/")
    }
    kib = sum(-(-len(file.data) // 1024) for file in payload.values())
    control = fill(
        (here / "control").read_text("utf-8"),
        VERSION=version,
        ARCHITECTURE=architecture,
        SIZE=str(kib),
    )
    sums = "".join(
        f"{hashlib.md5(file.data, usedforsecurity=False).hexdigest()}  {name}\n"
        for name, file in sorted(payload.items())
        if name != _CONFIG
    )
    return {
        "DEBIAN/control": File(control.encode()),
        "DEBIAN/conffiles": File(f"/{_CONFIG}\n".encode()),
        "DEBIAN/md5sums": File(sums.encode()),
    }


def build_tools(folder: Path, root: Path | None = None) -> Path:
    """Make the package in ``folder``; it is there whole or not at all.

    Raises CannotRun without dpkg or a C compiler, LabError where dpkg-deb fails.
    """
    root = root or repo_root()
    architecture = _architecture()
    probe = stripped(build_probe(root))
    commit = last_commit(root, PATHS)
    name = f"{PACKAGE}_{tools_version(commit)}_{architecture}.deb"
    with TemporaryDirectory(prefix="lull-tools-") as scratch:
        tree, made = Path(scratch) / "tree", Path(scratch) / name
        for path, file in contents(root, probe, architecture, commit).items():
            write_file(tree / path, file.data, 0o755 if file.program else 0o644)
        for place in (tree, *(path for path in tree.rglob("*") if path.is_dir())):
            place.chmod(0o755)
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build"]
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(int(_TIME.timestamp()))}
        done = subprocess.run(
            [*command, str(tree), str(made)],
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise LabError(f"dpkg-deb failed\n{tail(done.stderr)}", where=name)
        write_file(folder / name, made.read_bytes())
    return folder / name


def stripped(program: Path) -> bytes:
    """A program without its symbols, which only the lab's profile needs."""
    with TemporaryDirectory(prefix="lull-strip-") as scratch:
        out = Path(scratch) / program.name
        done = run(["strip", "-o", out, program])
        if done.returncode:
            raise LabError(f"strip failed\n{tail(done.stdout)}", where=str(program))
        return out.read_bytes()


def _architecture() -> str:
    try:
        done = run(["dpkg", "--print-architecture"])
    except OSError as error:
        raise CannotRun(
            "dpkg is not in PATH", hint="a Debian machine, or apt-get install dpkg"
        ) from error
    return done.stdout.strip()


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)
