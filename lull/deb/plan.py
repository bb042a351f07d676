# SPDX-License-Identifier: GPL-2.0-only
"""A build of packages, decided but not begun: its inputs, its key, its commands."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from lull import __version__
from lull.deb.commit import NOT_LEFT_ABOUT, Commit, last_commit, version_of
from lull.deb.config import fragments, identity, local_version
from lull.deb.flavour import Flavour
from lull.kernels.bases import Base
from lull.kernels.cache import Cache
from lull.kernels.config import merge_command
from lull.kernels.inputs import Inputs, gather
from lull.kernels.make import OBJ, Step, build_identity, environment, make_flags
from lull.kernels.record import make_key
from lull.kernels.source import Source
from lull.kernels.toolchain import ccache, compiler
from lull.model import Arm

#: The fragment that names the kernel, below the tree's objects.
IDENTITY_FILE = "lull-identity.config"


@dataclass(frozen=True)
class Plan:
    """What goes into the packages of a flavour."""

    base: Base
    flavour: Flavour
    source: Source
    config: Path  #: Debian's
    inputs: Inputs  #: of a kernel with Lull; its fragments are ours alone
    package_version: str
    key: str

    @property
    def name(self) -> str:
        """Of the tree, the lock, the log and the record."""
        return f"{self.base.name}-deb-{self.flavour}"

    @property
    def release(self) -> str:
        """What uname -r says: 6.12.117-lull-cloud-amd64."""
        return f"{self.source.version}{local_version(self.flavour)}"


def kernel_paths(base: Base) -> tuple[str, ...]:
    """Where the files are that go into the packages' kernel, as git's patterns.

    A commit that changes none of them must not be in the packages' version: it would
    have them built again.
    """
    return (
        "kernel/overlay",
        f"kernel/hooks/{base.name}",
        "kernel/config/lull.config",
        "kernel/config/deb.config",
        ":(glob)features/*/kernel/**",
        f":(glob)features/*/hooks/{base.name}/*.patch",
        ":(glob)features/*/config",
        *NOT_LEFT_ABOUT,
    )


def package_version(source: Source, commit: Commit | None) -> str:
    """Debian's of the sources, Lull's, and that of the commit:
    6.12.117-1~deb12u1+lull0.1.0+git476.0288dfb.

    It is above that of the sources, and above what Debian adds to that (+b1,
    +deb13u1: another letter); below a next revision, or a next deb12u2.
    """
    return f"{source.package_version}+lull{__version__}{version_of(commit)}"


def plan(
    base: Base, flavour: Flavour, source: Source, config: Path, root: Path
) -> Plan:
    """Gather the inputs and compute the key."""
    lull = gather(root, base.name, Arm.LULL)
    inputs = replace(lull, fragments=fragments(root))
    files = {name: path.read_bytes() for name, path in inputs.files().items()}
    files["debian"] = config.read_bytes()
    files["identity"] = identity(flavour).encode()
    # The version is in the kernel (uname -v), and so it is in the key.
    version = package_version(source, last_commit(root, kernel_paths(base)))
    flags = [*build_identity(), *package_flags(version)]
    key = make_key(source.package_version, files, compiler(), flags)
    return Plan(base, flavour, source, config, inputs, version, key)


def package_flags(version: str) -> list[str]:
    """What make gets on top of the lab's flags; of two of a name the last counts."""
    # The packaging gives what is behind the last dash to the kernel as the number
    # of its build. The same from the start, or vmlinux is linked twice.
    revision = version.rpartition("-")[2]
    return ["ARCH=x86_64", f"KBUILD_BUILD_VERSION={revision}"]


def package_environment(cache: Cache, version: str) -> dict[str, str]:
    """The environment of all steps: that of the lab's builds, and the packages'."""
    with_ccache = cache.ccache if ccache() is not None else None
    return environment(with_ccache, cache.work) | {
        "KDEB_PKGVERSION": version,
        "KDEB_SOURCENAME": "linux-lull",
        "KDEB_CHANGELOG_DIST": "local",
        "DEBFULLNAME": "Whoever built this",
        "DEBEMAIL": "root@localhost",
        "DEB_BUILD_OPTIONS": "terse",
        # What is needed is looked for before anything is built. The kernel's own list
        # has what only other configurations need: 7.3's libdw, for module versions.
        "DPKG_FLAGS": "-d",
    }


def steps(tree: Path, plan: Plan, env: dict[str, str], jobs: int) -> list[Step]:
    """The commands that make the packages from a tree with Debian's .config in it.

    In a build of hours everybody else goes first.
    """
    obj = tree / OBJ
    flags = make_flags(tree, "CCACHE_DIR" in env)
    flags += package_flags(plan.package_version)

    def make(*words: str, counted: bool = False, root: bool = False) -> Step:
        fake = ("fakeroot", "--") if root else ()
        argv = ("nice", "-n", "19", *fake, "make", "--no-print-directory")
        return Step((*argv, *flags, *words), tree, env, counted)

    ours = (*plan.inputs.fragments, obj / IDENTITY_FILE)
    return [
        Step(tuple(merge_command(tree, obj, ours)), tree, env),
        make("olddefconfig"),
        make(f"-j{jobs}", "all", counted=True),
        make(f"-j{jobs}", "bindeb-pkg", root=True),
    ]


def default_jobs() -> int:
    """One more than CPUs: one of them waits for the disk."""
    return (os.cpu_count() or 1) + 1


def tree_place(cache: Cache, base: Base, flavour: Flavour) -> Path:
    """Where the tree and its objects are, and stay."""
    return cache.work / f"{base.name}-deb-{flavour}"


def output_names(release: str, version: str) -> tuple[str, ...]:
    """The packages that are kept of those that the kernel's target makes. Its
    linux-libc-dev would take the place of Debian's own, and is not."""
    # A file's name is without the epoch, and Debian's kernels have none.
    return tuple(
        f"{name}-{release}_{version}_amd64.deb"
        for name in ("linux-image", "linux-headers")
    )
