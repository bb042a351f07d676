# SPDX-License-Identifier: GPL-2.0-only
"""herd7: runs litmus tests under the memory model of a kernel's own sources.

The model changes with the kernel and wants a herd7 that is no older than it.
Where the machine has none, Debian's package is taken from sid with all that it
links, unpacked in the cache and started through its own loader: nothing is
installed, no root is needed, and the machine's libraries stay what they are.
"""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lull.errors import CannotRun, LabError
from lull.host.programs import run as run_command
from lull.host.programs import tail
from lull.host.resources import GB
from lull.kernels.cache import Cache, replace_tree
from lull.kernels.toolchain import need_fetch_tools
from lull.kernels.update import Update, silent

PACKAGE = "herdtools7"
SUITE = "sid"

#: 0.07 GB of lists and packages, 0.27 GB unpacked.
_NEED = GB // 2
#: What stays of it: the package has fifty programs of 5 MB each.
_KEEP = ("usr/bin/herd7", "usr/lib", "usr/share/herdtools7/herd")
#: Names that an archive has for its suites, next to the machine's codename.
_SUITES = ("stable", "oldstable", "testing", "unstable", "sid")
_TRUST = ("signed-by", "trusted")

_ONE_LINE = re.compile(r"deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)")
_FIELD = re.compile(r"^(\S+?):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)
_RESULT = re.compile(r"^[( ]\* Result: (Always|Sometimes|Never)\s*$", re.MULTILINE)
_OBSERVATION = re.compile(
    r"^Observation (\S+) (Always|Sometimes|Never) \d+ \d+$", re.MULTILINE
)
_STATES = re.compile(r"^States \d+\n((?:.*;\n)*)", re.MULTILINE)
_FLAG = re.compile(r"^Flag (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class AptSource:
    """One place that the machine's apt takes binary packages from."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    trust: tuple[tuple[str, str], ...] = ()  #: fields: (signed-by, /a/keyring)


@dataclass(frozen=True)
class Herd:
    """A herd7 that starts: the words of the command before its own options."""

    command: tuple[str, ...]
    version: str


@dataclass(frozen=True)
class Verdict:
    """What herd7 says of one litmus test."""

    name: str
    holds: str  #: the ``exists`` clause: Always, Sometimes or Never
    states: tuple[str, ...]  #: every final state that the model allows
    flags: tuple[str, ...]  #: data-race: with it ``holds`` means nothing
    text: str  #: the whole output


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


def expected(litmus: str) -> str:
    """What the comment of a litmus test says it gives; raises LabError."""
    match = _RESULT.search(litmus)
    if not match:
        raise LabError("no line '* Result: Always|Sometimes|Never'")
    return match[1]


def parse(text: str) -> Verdict:
    """Read herd7's output; raises LabError where it has no verdict."""
    match = _OBSERVATION.search(text)
    if not match:
        raise LabError(f"herd7 gives no verdict\n{tail(text)}")
    states = _STATES.search(text)
    return Verdict(
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


def run(herd: Herd, model: Path, litmus: Path) -> Verdict:
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
    source = choose(_machine_sources(), _codename())
    if source is None:
        raise _cannot("apt's sources name no archive of Debian")
    for name in ("lists/partial", "cache/archives/partial", "new"):
        (temp / name).mkdir(parents=True)
    (temp / "status").touch()
    (temp / "suite.sources").write_text(sources_entry(source, SUITE), "utf-8")
    (temp / "apt.conf").write_text(apt_config(temp), "utf-8")
    apt = ["apt-get", "-q", "-c", str(temp / "apt.conf")]
    progress(f"herd7: reading what {SUITE} has", 0, 3)
    _check([*apt, "update"], temp, f"the lists of {SUITE} cannot be had")
    progress(f"herd7: downloading {PACKAGE}", 1, 3)
    get = [*apt, "install", "-y", "--no-install-recommends", "--download-only"]
    _check([*get, PACKAGE], temp, f"{PACKAGE} of {SUITE} cannot be downloaded")
    progress("herd7: unpacking", 2, 3)
    for package in sorted(temp.glob("cache/archives/*.deb")):
        unpack = ["dpkg-deb", "-x", str(package), "unpacked"]
        _check(unpack, temp, f"{package.name} cannot be unpacked")
    for name in _KEEP:
        if (temp / "unpacked" / name).exists():
            (temp / "new" / name).parent.mkdir(parents=True, exist_ok=True)
            (temp / "unpacked" / name).rename(temp / "new" / name)
    progress("herd7: unpacked", 3, 3)


def _machine_sources() -> list[AptSource]:
    etc, found = Path("/etc/apt"), []
    for path in [etc / "sources.list", *sorted(etc.glob("sources.list.d/*"))]:
        with suppress(OSError):
            text = path.read_text("utf-8", "replace")
            if path.suffix == ".list":
                found += parse_one_line(text)
            elif path.suffix == ".sources":
                found += parse_deb822(text)
    return found


def _codename() -> str:
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""


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
