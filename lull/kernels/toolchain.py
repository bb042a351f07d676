# SPDX-License-Identifier: GPL-2.0-only
"""What a machine needs to build a kernel, and what it says it is."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

from lull.errors import CannotRun
from lull.host.resources import available_mb

#: Program -> the Debian package that brings it.
PROGRAMS = {
    "gcc": "gcc",
    "ld": "binutils",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "gzip": "gzip",
    "setpriv": "util-linux",
    "perl": "perl",
    "tar": "tar",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
}

#: Header -> the Debian package that brings it. objtool wants libelf.
HEADERS = {"libelf.h": "libelf-dev", "stdio.h": "libc6-dev"}

#: What the kernel's packaging target and Debian's configuration want besides.
PACKAGING = {
    "dpkg-buildpackage": "dpkg-dev",
    "dh": "debhelper",
    "fakeroot": "fakeroot",
    "rsync": "rsync",
    "depmod": "kmod",
    "cpio": "cpio",
    "zstd": "zstd",
}
#: Where depmod is; an ordinary user's PATH may not name it.
SBIN = "/usr/sbin:/sbin"
PACKAGING_HEADERS = {"openssl/opensslv.h": "libssl-dev"}

#: In MiB: two compilers and the final link with KASAN, next to whatever else runs.
NEED_MEMORY_MB = 1464

_FETCH = ("apt-get", "dpkg-deb", "tar", "xz")


def has_header(name: str) -> bool:
    """Whether the compiler finds a header."""
    done = subprocess.run(
        ["gcc", "-E", "-o", "/dev/null", "-x", "c", "-"],
        input=f"#include <{name}>\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0


def need_programs(
    names: tuple[str, ...],
    which: Callable[[str], str | None] = shutil.which,
    header: Callable[[str], bool] = has_header,
    headers: tuple[str, ...] = (),
) -> None:
    """Raise CannotRun that names all that is missing and its packages."""
    known = PROGRAMS | PACKAGING | HEADERS | PACKAGING_HEADERS
    missing = {name: known[name] for name in names if which(name) is None}
    if "gcc" not in missing:
        missing |= {name: known[name] for name in headers if not header(name)}
    if missing:
        packages = " ".join(sorted(set(missing.values())))
        raise CannotRun(
            f"missing: {', '.join(sorted(missing))} (Debian: {packages})",
            hint=f"sudo apt-get install {packages}",
        )


def need_build_tools(
    which: Callable[[str], str | None] = shutil.which,
    header: Callable[[str], bool] = has_header,
) -> None:
    """Everything that ``make bzImage`` with the lab's config calls."""
    names = tuple(name for name in PROGRAMS if name not in _FETCH)
    need_programs(names, which, header, tuple(HEADERS))


def which_sbin(name: str) -> str | None:
    """A program in PATH, or in the folders of an administrator's."""
    return shutil.which(name) or shutil.which(name, path=SBIN)


def need_packaging_tools(
    which: Callable[[str], str | None] = which_sbin,
    header: Callable[[str], bool] = has_header,
) -> None:
    """Everything that ``make bindeb-pkg`` with Debian's configuration calls."""
    names = (*(name for name in PROGRAMS if name not in _FETCH), *PACKAGING)
    need_programs(names, which, header, (*HEADERS, *PACKAGING_HEADERS))


def need_fetch_tools(which: Callable[[str], str | None] = shutil.which) -> None:
    """Everything that fetching and unpacking the sources calls."""
    need_programs(_FETCH, which)


def need_memory(meminfo: str | None = None) -> None:
    """Refuse a build that would drive the machine into the ground."""
    free = available_mb(meminfo)
    if free is not None and free < NEED_MEMORY_MB:
        raise CannotRun(
            f"a kernel build needs {_gb(NEED_MEMORY_MB)} GB of free memory, "
            f"{_gb(free)} GB are available",
            hint="end something that uses much, and run again",
        )


def _gb(mib: int) -> str:
    return f"{mib * 2**20 / 1e9:.1f}"


def compiler() -> str:
    """The compiler's and the linker's own names for themselves."""
    return "; ".join(_first_line(program) for program in ("gcc", "ld"))


def _first_line(program: str) -> str:
    done = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[0]


def ccache() -> str | None:
    """Where ccache is, if it is."""
    return shutil.which("ccache")
