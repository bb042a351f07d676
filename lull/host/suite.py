# SPDX-License-Identifier: GPL-2.0-only
"""Packages of another suite of the archive that the machine's apt already uses.

Nothing of the machine changes: an apt of our own knows one folder, and what it
downloads is unpacked there. No root is needed, and no host is named.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lull.errors import CannotRun
from lull.host.programs import run, tail

#: Names that an archive has for its suites, next to the machine's codename.
_SUITES = ("stable", "oldstable", "testing", "unstable", "sid")
_TRUST = ("signed-by", "trusted")

_ONE_LINE = re.compile(r"deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)")
_FIELD = re.compile(r"^(\S+?):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)


@dataclass(frozen=True)
class AptSource:
    """One place that the machine's apt takes binary packages from."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    trust: tuple[tuple[str, str], ...] = ()  #: fields: (signed-by, /a/keyring)


def parse_one_line(text: str) -> list[AptSource]:
    """The sources in a ``.list`` file."""
    found = []
    for line in text.splitlines():
        match = _ONE_LINE.match(line.partition("#")[0].strip())
        if not match:
            continue
        options, uri, suite, components = match.groups()
        pairs = (word.partition("=") for word in (options or "").split())
        trust = tuple((key, value) for key, _, value in pairs if key in _TRUST)
        found.append(AptSource(uri, (suite,), tuple(components.split()), trust))
    return found


def parse_deb822(text: str) -> list[AptSource]:
    """The sources in a ``.sources`` file, one for each address of a stanza."""
    found = []
    text = re.sub(r"^#.*\n?", "", text, flags=re.MULTILINE)
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields = {key.lower(): value for key, value in _FIELD.findall(stanza)}
        if fields.get("enabled", "yes").strip().lower() in ("no", "false", "0"):
            continue
        if "deb" not in fields.get("types", "").split():
            continue
        suites, components = (
            tuple(fields.get(key, "").split()) for key in ("suites", "components")
        )
        trust = tuple((key, fields[key]) for key in _TRUST if key in fields)
        for uri in fields.get("uris", "").split():
            found.append(AptSource(uri, suites, components, trust))
    return found


def choose(sources: Iterable[AptSource], codename: str) -> AptSource | None:
    """The source that is the distribution's own archive, not an add-on's."""
    for source in sources:
        if (
            "main" in source.components
            and not {codename, *_SUITES}.isdisjoint(source.suites)
            and not source.uri.startswith("cdrom:")
        ):
            return source
    return None


def sources_entry(source: AptSource, suite: str) -> str:
    """A ``.sources`` file that has another suite of the same archive."""
    trust = "".join(f"{key}: {value}\n" for key, value in source.trust)
    return f"Types: deb\nURIs: {source.uri}\nSuites: {suite}\nComponents: main\n{trust}"


def apt_config(folder: Path) -> str:
    """Makes an apt that knows ``folder`` only, and none of the machine's state.

    It believes that nothing is installed (an empty status file), so that all
    that a package needs is downloaded with it. Pins, a default release and what
    is to run after an update are the machine's, and about another suite.
    """
    return f"""\
#clear APT::Default-Release;
#clear APT::Update;
Dir::Etc::SourceList "{folder}/suite.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State::Lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Debug::NoLocking "true";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Update::Error-Mode "any";
"""


@dataclass(frozen=True)
class Suite:
    """An apt of one folder, which has read the lists of one suite."""

    name: str
    folder: Path

    def apt(self, *words: str) -> list[str]:
        """The command ``apt-get WORDS`` of that apt."""
        return ["apt-get", "-q", "-c", str(self.folder / "apt.conf"), *words]


def download_command(package: str, suite: Suite | None = None) -> list[str]:
    """apt-get's command that leaves ``package`` in the working directory.

    That one and no other: of a name that it does not know apt-get otherwise takes
    what contains it, linux-source-6.12 for linux-source-6.1 (apt-get(8), install).
    """
    words = ("-o", "APT::Cmd::Pattern-Only=true", "download", package)
    if suite:
        return suite.apt(*words)
    return ["apt-get", "-o", "Acquire::Retries=3", *words]


def open_suite(name: str, folder: Path) -> Suite:
    """Read the lists of the suite ``name`` into ``folder``, which is empty.

    Raises CannotRun where apt names no archive of the distribution, and where it
    has no such suite.
    """
    source = choose(machine_sources(), codename())
    if source is None:
        raise CannotRun(
            "apt's sources name no archive of Debian",
            where=f"suite {name}",
            hint="see /etc/apt/sources.list.d: a line of the archive's own, with main",
        )
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "suite.sources").write_text(sources_entry(source, name), "utf-8")
    (folder / "apt.conf").write_text(apt_config(folder), "utf-8")
    suite = Suite(name, folder)
    done = run(suite.apt("update"), folder)
    if done.returncode:
        raise CannotRun(
            f"the lists of {name} cannot be had\n{tail(done.stdout)}",
            where=f"suite {name}",
            hint="apt-get update, to see whether apt gets anything here",
        )
    return suite


def machine_sources() -> list[AptSource]:
    """What the machine's own apt takes packages from."""
    etc, found = Path("/etc/apt"), []
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*"))]:
        with suppress(OSError):
            text = path.read_text("utf-8", "replace")
            if path.suffix == ".list":
                found += parse_one_line(text)
            elif path.suffix == ".sources":
                found += parse_deb822(text)
    return found


def codename() -> str:
    """bookworm; empty where the system does not say."""
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""
