# SPDX-License-Identifier: GPL-2.0-only
"""The folder of ``lull-probe collect``: its files as text, and its manifest. Pure."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from lull.errors import UsageError

#: What this code reads; the collector writes it first into the manifest.
VERSION = 1
MANIFEST = "manifest"

#: A configuration is some 300 KiB; what unpacks to more is none.
_CONFIG_SIZE = 8 << 20


@dataclass(frozen=True)
class Collected:
    """A step of the collector: ok, part, late or none."""

    name: str
    outcome: str
    ms: int


@dataclass(frozen=True)
class Gap:
    """What was not seen. ``kind`` is no, hung, cut or more; of ``more`` the path is
    how many besides. ``why`` is the errno's name, or the time that was waited."""

    kind: str
    step: str
    path: str
    why: str


@dataclass(frozen=True)
class Undone:
    """A change that was taken back; ``error`` is the errno's name where it could not
    be. Without a path: a start of the machine had taken back all of them."""

    path: str
    value: str
    error: str


@dataclass(frozen=True)
class Manifest:
    """Who wrote it, on what, when (seconds of the epoch), and what is missing.

    ``left`` are children that slept where no signal reached them. ``left_behind`` is
    of a measurement that was killed: what it had changed is taken back ("done", and
    ``undone``), or is not, for that errno; empty where there was none.
    """

    kernel: str
    machine: str
    uid: int
    time: int
    pid: int
    steps: tuple[Collected, ...]
    gaps: tuple[Gap, ...]
    left: int
    undone: tuple[Undone, ...] = ()
    left_behind: str = ""

    def complete(self, step: str) -> bool:
        """Whether that step saw all that it looks for."""
        return any(s.name == step and s.outcome == "ok" for s in self.steps)


@dataclass(frozen=True)
class Bundle:
    """The manifest, and the text of each step that has one."""

    manifest: Manifest
    files: Mapping[str, str]

    def text(self, step: str) -> str:
        """What that step wrote; empty where it wrote nothing."""
        return self.files.get(step, "")


def read_bundle(files: Mapping[str, bytes], where: str = "") -> Bundle:
    """Raises UsageError where it is none, or of another version; ``where`` they are of
    is said then."""
    if MANIFEST not in files:
        raise UsageError(
            "it has no manifest",
            where=where,
            hint="name a folder that lull-probe collect wrote",
        )
    texts = {name: _text(data) for name, data in files.items() if name != MANIFEST}
    return Bundle(read_manifest(_text(files[MANIFEST])), texts)


def read_manifest(text: str) -> Manifest:
    """Lines of fields with tabs between. Raises UsageError for another version."""
    values: dict[str, list[str]] = {}
    steps: list[Collected] = []
    gaps: list[Gap] = []
    undone: list[Undone] = []
    for line in text.splitlines():
        word, *rest = line.split("\t")
        if word == "step" and len(rest) >= 3:
            steps.append(
                Collected(rest[0], rest[1], number(rest[2].removesuffix(" ms")))
            )
        elif word in ("no", "hung", "cut", "more") and len(rest) >= 3:
            gaps.append(Gap(word, rest[0], rest[1], rest[2]))
        elif word == "undone" and len(rest) >= 3:
            undone.append(Undone(rest[0], rest[1], rest[2] if rest[2] != "0" else ""))
        else:
            values[word] = rest
    if values.get("lull-collect") != [str(VERSION)]:
        raise UsageError(
            f"it is not of version {VERSION} of lull-probe collect",
            hint="collect anew with the program of: lull doctor --collector FILE",
        )

    def value(name: str, at: int = 0) -> str:
        found = values.get(name, [])
        return found[at] if at < len(found) else ""

    return Manifest(
        kernel=value("kernel"),
        machine=value("kernel", 1),
        uid=number(value("uid"), -1),
        time=number(value("time")),
        pid=number(value("self")),
        steps=tuple(steps),
        gaps=tuple(gaps),
        left=number(value("left")),
        undone=tuple(undone),
        left_behind="done" if value("left-behind") == "0" else value("left-behind"),
    )


def sections(text: str) -> dict[str, str]:
    """Path -> contents, of ``== PATH`` and what follows it."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("== /"):
            lines = found.setdefault(line[3:], [])
        else:
            lines.append(line)
    return {path: "\n".join(part) for path, part in found.items()}


def number(text: str, other: int = 0, base: int = 10) -> int:
    """The text as a whole number of 64 bits, or the other."""
    try:
        # Python would take digits by the thousand, and underscores.
        return int(text, base) if len(text) <= 20 and "_" not in text else other
    except ValueError:
        return other


def _text(data: bytes) -> str:
    if data[:2] == b"\x1f\x8b":
        try:
            # By hand: what comes from elsewhere must not fill the memory.
            data = zlib.decompressobj(wbits=31).decompress(data, _CONFIG_SIZE)
        except zlib.error:
            data = b""
    return data.decode("utf-8", "replace")
