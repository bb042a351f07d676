# SPDX-License-Identifier: GPL-2.0-only
"""Whether apt knows newer sources than those in the cache; the archive is not asked."""

from __future__ import annotations

import re

from lull.host.programs import run
from lull.kernels.bases import Base
from lull.kernels.source import Source

_CANDIDATE = re.compile(r"^  Candidate: (\d\S*)$", re.MULTILINE)


def newer(base: Base, source: Source) -> str:
    """The version that a download would get, if it is above that of the sources.

    Empty where it is not, and where apt cannot tell: without apt or its lists, or of
    a base that is in another suite than the machine's own.
    """
    if base.suite:
        return ""
    try:
        said = run(["apt-cache", "policy", base.package]).stdout
        found = _CANDIDATE.search(said)
        return found[1] if found and _above(found[1], source.package_version) else ""
    except OSError:
        return ""


def _above(one: str, other: str) -> bool:
    return run(["dpkg", "--compare-versions", one, "gt", other]).returncode == 0


def newer_text(base: Base, source: Source) -> str:
    """What is said of it before a build; empty where there is nothing to say."""
    found = newer(base, source)
    if not found:
        return ""
    return (
        f"apt has {base.package} {found}, this is {source.package_version}: "
        "add --refresh"
    )
