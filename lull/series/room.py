# SPDX-License-Identifier: GPL-2.0-only
"""The files of a feature, and the kernel's with its hooks: what a series for
upstream is evaluated from."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lull.errors import LabError
from lull.kernels.patches import FilePatch, Hunk, apply_file, parse_patch
from lull.kernels.workspace import decode
from lull.series import definitions
from lull.series.description import Patch, Upstream
from lull.series.evaluate import Known, evaluate
from lull.series.stages import DoesNotFit, Read

_NEAR = re.compile(r'^#include "(\w+\.h)"$', re.MULTILINE)
_FAR = re.compile(r"^#include <([\w/]+\.h)>\n", re.MULTILINE)
_FAR_LINE = re.compile(r"\+#include <([\w/]+\.h)>")
#: The first line of a file.
LICENCE = re.compile(r"\A(?://|/\*) SPDX-License-Identifier:.*\n")
_GUARD = re.compile(
    r"^#ifndef (_\w+_H)\n#define \1\n(.*)^#endif\b[^\n]*\1[^\n]*\n?",
    re.MULTILINE | re.DOTALL,
)
#: README's numbers of what must never happen.
_NUMBER = r"(?:FZ|ZS|CG|PM|C)\d+(?: i+)?"
_STATEMENTS = re.compile(rf" \({_NUMBER}(?:, {_NUMBER})*\)")
#: What a header that is included in the middle of a file says first.
_FOR_A_FILE = re.compile(r"(/\*(?:\n \*)? )For [\w/.]+: (\w)")


def hooked(
    hooks: Sequence[Path], read: Read, overlay: Mapping[str, Path]
) -> dict[str, str]:
    """The kernel's own files after these hooks, and those of features that a base
    wants otherwise. What does no more than to include a header of the feature may be
    left out: hooks made on another's find no place for that. Raises DoesNotFit where
    one does not apply."""
    texts: dict[str, str] = {}
    for hook in hooks:
        for part in parse_patch(str(hook), decode(hook.read_bytes())):
            mine = overlay.get(part.path)
            data = mine.read_bytes() if mine else read(part.path)
            was = texts.get(part.path, decode(data or b""))
            try:
                texts[part.path] = apply_file(str(hook), part, was)
            except LabError as error:
                rest = tuple(h for h in part.hunks if not _includes(h, overlay))
                if rest == part.hunks:
                    raise DoesNotFit(error.what, where=error.where) from error
                texts[part.path] = _without_includes(str(hook), part, rest, was)
    return texts


def _without_includes(
    name: str, part: FilePatch, rest: tuple[Hunk, ...], text: str
) -> str:
    try:
        return apply_file(name, replace(part, hunks=rest), text) if rest else text
    except LabError as error:
        raise DoesNotFit(error.what, where=error.where, hint=error.hint) from error


def _includes(hunk: Hunk, overlay: Mapping[str, Path]) -> bool:
    """Whether that is all it does."""
    new = [line for line in hunk.lines if line[0] != " "]
    found = (_FAR_LINE.fullmatch(line) for line in new)
    return all(m is not None and f"include/{m[1]}" in overlay for m in found)


@dataclass(frozen=True)
class Sources:
    """A feature's files, with what series.toml has for them instead."""

    where: str  #: the file that has that
    overlay: Mapping[str, Path]
    changed: Mapping[str, str]  #: those of them that hooks change
    says: Upstream
    patches: Sequence[Patch]  #: so far
    later: Sequence[Patch]
    used: set[object]

    def text(self, path: str) -> str:
        """A file of the feature."""
        text = self.changed.get(path) or decode(self.overlay[path].read_bytes())
        return self.first(path, text)

    def first(self, path: str, text: str) -> str:
        """A file with what is replaced before anything is settled."""
        for name in (name for patch in self.patches for name in patch.remove):
            if definitions.has(text, name, path):
                self.used.add(name)
                text = definitions.without(text, name, path)
        for said in self.says.define:
            if said.file != path:
                continue
            start, end = definitions.find(text, said.name, path)
            if (was := definitions.digest(text[start:end])) != said.was:
                raise LabError(
                    f"{said.name} in {path} is not what another was written for",
                    where=self.where,
                    hint=f'look whether that is right still, and say was = "{was}"',
                )
            self.used.add(said)
            text = text[:start] + said.text.lstrip("\n") + text[end:]
        of_patches = (edit for patch in self.patches for edit in patch.first)
        undone = (edit for patch in reversed(self.later) for edit in patch.before)
        for edit in (*of_patches, *self.says.first, *undone):
            if edit.file == path and edit.old in text:
                if text.count(edit.old) != 1:
                    raise LabError(
                        f"there is more than one of it in {path}: {edit.old!r}",
                        where=self.where,
                    )
                self.used.add(edit)
                text = text.replace(edit.old, edit.new)
        return text


def settled(path: str, text: str, sources: Sources, known: Known) -> str:
    """A file with the feature's headers in place, evaluated."""
    inside: set[str] = set()

    def near(match: re.Match[str]) -> str:
        header = posixpath.join(posixpath.dirname(path), match[1])
        if header not in sources.overlay:
            return match[0]
        if header in inside:
            return ""
        inside.add(header)
        inner = _STATEMENTS.sub("", LICENCE.sub("", sources.text(header)))
        inner = _GUARD.sub(r"\2", inner)
        inner = _FOR_A_FILE.sub(lambda m: m[1] + m[2].upper(), inner.strip(), count=1)
        return _NEAR.sub(near, inner)

    def far(match: re.Match[str]) -> str:
        return "" if f"include/{match[1]}" in sources.overlay else match[0]

    text = _FAR.sub(far, _NEAR.sub(near, text))
    if path in sources.overlay:
        text = _STATEMENTS.sub("", text)
    for name in (*known.calls, *known.dropped):
        if name.isidentifier():
            text = definitions.without(text, name, path)
    return evaluate(text, known, path)
