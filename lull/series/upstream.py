# SPDX-License-Identifier: GPL-2.0-only
"""``--for upstream``: the hooks and what they call, as if there had never been
a frame, a mode or a test.

Each hook that is not for comparison alone is a patch. Its files are evaluated
with the feature on, its best mode in force for good and nothing that tests and
figures need; the feature's headers are put where they are included. What the
text cannot say is data in series.toml: names, a few declarations, and what the
compiler would call unused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.errors import LabError, UsageError
from lull.kernels.inputs import Inputs
from lull.kernels.workspace import (
    KCONFIG_FEATURES,
    Change,
    decode,
    encode,
)
from lull.series.description import Edit, Entry, Upstream, Words, message
from lull.series.evaluate import Known, evaluate
from lull.series.stages import Read, Step, only, tree_after

_NEAR = re.compile(r'^#include "(\w+\.h)"$', re.MULTILINE)
_FAR = re.compile(r"^#include <([\w/]+\.h)>\n", re.MULTILINE)
_LICENCE = re.compile(r"\A(?://|/\*) SPDX-License-Identifier:.*\n")
#: README's numbers of what must never happen.
_STATEMENTS = re.compile(r" \((?:FZ|ZS|CG|PM|C)\d+(?:, (?:FZ|ZS|CG|PM|C)\d+)*\)")
#: What a header that is included in the middle of a file says first.
_FOR_A_FILE = re.compile(r"(/\*(?:\n \*)? )For [\w/.]+: (\w)")
#: A word of the frame, of its modes or of a feature's own.
_OURS = re.compile(r'.*(?:lull|LULL|Lull|the mode "|modes? other than).*')


@dataclass(frozen=True)
class Room:
    """A feature, as it is settled."""

    name: str
    inputs: Inputs
    says: Upstream
    known: Known


def room(inputs: Inputs, root: Path, name: str, entry: Entry) -> Room:
    """Raises UsageError for a feature whose upstream form nobody has described."""
    if entry.upstream is None:
        raise UsageError(
            f"there is no series for upstream of {name} yet: nobody has said what "
            "its modes and counters come to",
            where=f"features/{name}/series.toml",
            hint="[upstream], as features/zfree/series.toml has it; or --for distro",
        )
    upper = name.upper()
    known = Known(
        symbols={
            "CONFIG_LULL": True,
            f"CONFIG_LULL_{upper}": True,
            "CONFIG_LULL_COMPARE": False,
            "CONFIG_LULL_DEBUG": False,
        },
        calls={
            f"lull_{name}_guarded": True,
            f"lull_{name}_by": True,
            **dict.fromkeys(entry.upstream.true, True),
            **dict.fromkeys(entry.upstream.false, False),
        },
        dropped=frozenset(entry.upstream.drop),
    )
    mine = only(inputs, root, (name,))
    hooks = tuple(hook for hook in mine.hooks if name in hook.parts)
    overlay = {p: f for p, f in mine.overlay.items() if name in f.parts}
    return Room(name, Inputs(overlay=overlay, hooks=hooks), entry.upstream, known)


def steps(room: Room, read: Read) -> list[Step]:
    """A patch for each hook of which something is left.

    Raises LabError where a word of Lull would be left as well, where something
    cannot be settled, or where what series.toml says does not fit the hooks.
    """
    kept = _kept(room)
    done: list[Step] = []
    before: dict[str, Change] = {}
    used: set[int] = set()
    for count, hook in enumerate(kept, 1):
        whole = _tree(room, kept[:count], read, used)
        stages = [
            (part.words, _without(room, whole, part.without))
            for part in room.says.part
            if part.hook == hook.stem
        ]
        for words, after in [*stages, (None, whole)]:
            changes = {
                path: change
                for path, change in after.items()
                if change != before.get(path, Change(read(path)))
            }
            before |= changes
            if changes:
                done.append(Step(words or _words(room.says, hook), changes))
    if idle := [edit.old for n, edit in enumerate(room.says.edit) if n not in used]:
        raise _unfit(room, f"there is nothing to replace: {idle[0]!r}")
    return done


def _without(
    room: Room, whole: Mapping[str, Change], edits: Sequence[Edit]
) -> dict[str, Change]:
    """The files of a hook as they are before the second thing that it does."""
    done = dict(whole)
    for edit in edits:
        text = decode(done[edit.file].data or b"") if edit.file in done else ""
        done[edit.file] = Change(encode(_once(room, text, edit.old, edit.new)))
    return done


def _kept(room: Room) -> list[Path]:
    stems = [hook.stem for hook in room.inputs.hooks]
    named = [*room.says.skip, *room.says.words, *(d.hook for d in room.says.declare)]
    named += [part.hook for part in room.says.part]
    if unknown := sorted(set(named) - set(stems)):
        raise _unfit(room, f"there is no hook {unknown[0]}; there is: {stems}")
    return [hook for hook in room.inputs.hooks if hook.stem not in room.says.skip]


def _unfit(room: Room, what: str) -> LabError:
    return LabError(
        f"does not fit the hooks: {what}",
        where=f"features/{room.name}/series.toml",
        hint="mend what [upstream] says",
    )


def _tree(
    room: Room, hooks: Sequence[Path], read: Read, used: set[int]
) -> dict[str, Change]:
    """The kernel's own files after these hooks, settled."""
    overlay = room.inputs.overlay
    changes = tree_after(Inputs(overlay=overlay, hooks=tuple(hooks)), read)
    texts = {
        path: settled(path, decode(change.data), overlay, room.known)
        for path, change in changes.items()
        if path not in overlay and path != KCONFIG_FEATURES and change.data is not None
    }
    stems = {hook.stem for hook in hooks}
    for declared in room.says.declare:
        if declared.hook in stems:
            old = texts.get(declared.file) or decode(read(declared.file) or b"")
            new = f"{declared.after}\n{declared.text.rstrip()}\n"
            texts[declared.file] = _once(room, old, f"{declared.after}\n", new)
    for number, edit in enumerate(room.says.edit):
        if edit.old in texts.get(edit.file, ""):
            used.add(number)
            texts[edit.file] = _once(room, texts[edit.file], edit.old, edit.new)
    for path, text in texts.items():
        texts[path] = _named(text, room.says.rename)
        if left := _left(path, texts[path], read):
            raise LabError(
                f"Lull is left in {path}: {left!r}",
                where=f"features/{room.name}/series.toml",
                hint="say what becomes of it: true, false, drop, rename or edit",
            )
    return {path: Change(encode(text)) for path, text in texts.items()}


def _once(room: Room, text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise _unfit(room, f"there is not one of it, but {text.count(old)}: {old!r}")
    return text.replace(old, new)


def _named(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return text


def _left(path: str, text: str, read: Read) -> str:
    """A line that the base has not and that speaks of Lull."""
    base = set(decode(read(path) or b"").split("\n"))
    found = (line for line in text.split("\n") if line not in base)
    return next((line.strip() for line in found if _OURS.match(line)), "")


def settled(path: str, text: str, overlay: Mapping[str, Path], known: Known) -> str:
    """A file with the feature's headers in place, evaluated."""

    def near(match: re.Match[str]) -> str:
        header = posixpath.join(posixpath.dirname(path), match[1])
        if header not in overlay:
            return match[0]
        inner = decode(overlay[header].read_bytes())
        inner = _STATEMENTS.sub("", _LICENCE.sub("", inner)).strip()
        return _FOR_A_FILE.sub(lambda m: m[1] + m[2].upper(), inner, count=1)

    def far(match: re.Match[str]) -> str:
        return "" if f"include/{match[1]}" in overlay else match[0]

    return evaluate(_FAR.sub(far, _NEAR.sub(near, text)), known, path)


def _words(says: Upstream, hook: Path) -> Words:
    """What series.toml has for a hook, else what that says by itself."""
    if hook.stem in says.words:
        return says.words[hook.stem]
    words = message(decode(hook.read_bytes()), str(hook))
    for line in (words.title, *words.text.split("\n")):
        if _OURS.match(line):
            raise LabError(
                f"the message speaks of Lull: {line!r}",
                where=str(hook),
                hint=f'say it without: [upstream.words."{hook.stem}"] in series.toml',
            )
    return words


@dataclass(frozen=True)
class Measured:
    """What a run's folder has for a letter, to be quoted."""

    table: str
    steps: str = ""  #: what each step brings; empty where none was taken out


def cover(
    room: Room, measured: Measured | None, base: str, evidence: str
) -> tuple[str, str]:
    """The subject and the text of the cover letter.

    Without ``measured``, or its part of the steps, the letter says that the place
    is empty. No figure comes from here; what is not all of a feature has none.
    """
    tests = (
        f"Tests\n{room.says.tests.strip()}\n"
        f"All of them: make proof FEATURE={room.name} BASE={base}"
    )
    if room.says.left_out:
        left = f"What is not in it\n{room.says.left_out.strip()}"
        text = "\n\n".join([room.says.cover.text.strip(), left, _NO_FIGURES, tests])
        return room.says.cover.title, text
    parts = [
        room.says.cover.text.strip(),
        f"What it brings\n{measured.table if measured else _NO_TABLE}",
        "What each step brings\n"
        f"{(measured.steps if measured else '') or _no_steps(room.name, base)}",
        "How it was measured\n"
        "In one kernel that has both ways, this series' (lull) and the kernel's own\n"
        f"(stock), behind a switch: lull run {room.name} --base {base} --clock insn\n\n"
        f"{evidence}",
        tests,
    ]
    return room.says.cover.title, "\n\n".join(parts)


_NO_TABLE = "[empty: no run was named. lull series ... --run RUN puts its table here]"
_NO_FIGURES = "What it brings\n[empty: the feature's figures are of all of it]"


def _no_steps(name: str, base: str) -> str:
    return (
        "[empty: in no run that was named. It is of:\n"
        f"lull run {name} --base {base} --clock insn --ablate]"
    )
