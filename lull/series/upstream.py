# SPDX-License-Identifier: GPL-2.0-only
"""``--for upstream``: the hooks and what they call, as if there had never been
a frame, a mode or a test.

What is behind a patch is evaluated with the feature on, its best mode in force for
good, what later patches bring not there, and nothing that tests and figures need.
The feature's headers are put where they are included, and what is in files of its
own is taken from there. What the text cannot say is data in series.toml: names, a
few declarations, and what is simpler where there is one way only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lull.errors import LabError, UsageError
from lull.kernels.inputs import Inputs
from lull.kernels.workspace import Change, decode, encode
from lull.series import definitions
from lull.series.description import (
    Edit,
    Lines,
    Patch,
    SeriesFile,
    Take,
    Upstream,
    Words,
    message,
)
from lull.series.evaluate import Known, preprocess
from lull.series.names import renamed
from lull.series.room import LICENCE, Sources, hooked, settled
from lull.series.stages import FullPatch, Read

#: A word of the frame, of its modes or of a feature's own.
_OURS = re.compile(r'.*(?:lull|LULL|Lull|\b[Ss]tock\b|the mode "|modes? other than).*')
#: What a feature has for tests and comparison, by names that one of its files may use.
_OF_THE_LAB = r"\b{}_(?:debug|steps)_"


@dataclass(frozen=True)
class Room:
    """A feature, as it is settled."""

    name: str
    where: str  #: the file that says what it comes to
    hooks: tuple[Path, ...]  #: its own
    below: tuple[Path, ...]  #: those they are made on
    overlay: Mapping[str, Path]
    says: Upstream
    known: Known

    def unfit(self, what: str) -> LabError:
        """What series.toml says is not about these hooks, or not any more."""
        return LabError(
            f"does not fit the hooks: {what}",
            where=self.where,
            hint="mend what [upstream] says",
        )


def room(inputs: Inputs, root: Path, name: str, entry: SeriesFile, base: str) -> Room:
    """Raises UsageError for a feature whose upstream form nobody has described."""
    file = f"series-{base}.toml" if base in entry.elsewhere else "series.toml"
    where = f"features/{name}/{file}"
    says = entry.on(base).upstream
    if says is None:
        raise UsageError(
            f"there is no series for upstream of {name} yet: nobody has said what "
            "its modes and counters come to",
            where=where,
            hint="[upstream], as features/zfree/series.toml has it; or --for distro",
        )
    others = {below.split("/")[0] for below in says.below}
    known = Known(
        symbols={
            "CONFIG_LULL": True,
            f"CONFIG_LULL_{name.upper()}": True,
            **{f"CONFIG_LULL_{other.upper()}": False for other in others},
            "CONFIG_LULL_COMPARE": False,
            "CONFIG_LULL_DEBUG": False,
        },
        calls={
            f"lull_{name}_guarded": True,
            f"lull_{name}_by": True,
            **dict.fromkeys(says.true, True),
            **dict.fromkeys(says.false, False),
        },
        dropped=frozenset(says.drop),
    )
    places = root / "features"
    of = {
        hook: hook.relative_to(places).parts[0]
        for hook in inputs.hooks
        if hook.is_relative_to(places)
    }
    below = tuple(h for h, whose in of.items() if f"{whose}/{h.stem}" in says.below)
    hooks = tuple(hook for hook, whose in of.items() if whose == name)
    made = Room(name, where, hooks, below, inputs.overlay, says, known)
    _check(made, base)
    return made


def _check(room: Room, base: str) -> None:
    """Each hook is somewhere, and what is somewhere is a hook: of this base."""
    says = room.says
    stems = [hook.stem for hook in room.hooks]
    named = [*says.skip, *(hook for part in says.also_skip for hook in part.hooks)]
    named += [hook for patch in says.patch for hook in patch.hooks]
    why = ""
    if unknown := sorted(set(named) - set(stems)):
        why = f"there is no hook {unknown[0]}; there is: {', '.join(stems)}"
    elif missed := sorted(set(stems) - set(named)):
        why = f"nothing is said of the hook {missed[0]}"
    if why:
        raise UsageError(
            f"no series for upstream of {room.name} on {base} yet: {why}",
            where=room.where,
            hint=f"another --base, or of {base} without --for; or say there what it "
            "comes to",
        )
    if len(room.below) != len(says.below):
        raise room.unfit(f"these are not hooks: {list(says.below)}")


def steps(room: Room, read: Read) -> list[FullPatch]:
    """What each patch of the series changes.

    Raises LabError where a word of Lull would be left as well, where something
    cannot be settled, or where what series.toml says does not fit the hooks.
    """
    done: list[FullPatch] = []
    before: dict[str, Change] = {}
    used: set[object] = set()
    for count, patch in enumerate(room.says.patch, 1):
        after = _tree(room, count, read, used)
        changes = {
            path: change
            for path, change in after.items()
            if change != before.get(path, Change(read(path)))
        }
        words = _words(room, patch)
        if not changes:
            raise room.unfit(f"there is nothing in the patch {words.title!r}")
        before |= changes
        done.append(FullPatch(words, changes))
    of_patches = (e for patch in room.says.patch for e in (*patch.first, *patch.before))
    for said in (*of_patches, *room.says.first, *room.says.edit):
        if said not in used:
            raise room.unfit(f"there is nothing to replace: {said.old!r}")
    for named in room.says.define:
        if named not in used:
            raise room.unfit(f"nobody needs another {named.name}")
    for name in (name for patch in room.says.patch for name in patch.remove):
        if name not in used:
            raise room.unfit(f"there is no {name} to remove")
    return done


def _words(room: Room, patch: Patch) -> Words:
    """What series.toml has for a patch, else what its hook says by itself."""
    hook = next((h for h in room.hooks if [h.stem] == [*patch.hooks]), None)
    if patch.words:
        return _ours(patch.words, room.where)
    if hook is None:
        raise room.unfit(f"a patch of {list(patch.hooks)} has no words of its own")
    return _ours(message(decode(hook.read_bytes()), str(hook)), str(hook))


def _ours(words: Words, where: str) -> Words:
    for line in (words.title, *words.text.split("\n")):
        if _OURS.match(line):
            raise LabError(
                f"the message speaks of Lull: {line!r}",
                where=where,
                hint="say it without: words of the patch in series.toml",
            )
    return words


def _tree(room: Room, count: int, read: Read, used: set[object]) -> dict[str, Change]:
    """The kernel's own files after the first so many patches."""
    so_far, later = room.says.patch[:count], room.says.patch[count:]
    known = replace(
        room.known,
        calls={
            **room.known.calls,
            **{name: True for patch in so_far for name in patch.yes},
            **{name: False for patch in later for name in (*patch.yes, *patch.calls)},
        },
        dropped=room.known.dropped | {n for patch in later for n in patch.calls},
    )
    stems = {hook for patch in so_far for hook in patch.hooks}
    hooks = [*room.below, *(hook for hook in room.hooks if hook.stem in stems)]
    found = hooked(hooks, read, room.overlay)
    changed = {path: text for path, text in found.items() if path in room.overlay}
    sources = Sources(room.where, room.overlay, changed, room.says, so_far, later, used)
    texts = {
        path: settled(path, sources.first(path, text), sources, known)
        for path, text in found.items()
        if path not in room.overlay
    }

    def now(path: str) -> str | None:
        if path not in texts and (data := read(path)) is not None:
            texts[path] = sources.first(path, decode(data))
        return texts.get(path)

    for patch in so_far:
        for lines in patch.declare:
            texts[lines.file] = _declared(room, now(lines.file), lines)
        for take in patch.take:
            text = _taken(room, take, sources, known)
            lines = Lines(file=take.file, after=take.after, text=text)
            texts[take.file] = _declared(room, now(take.file), lines)
    for edit in room.says.edit:
        if edit.old in texts.get(edit.file, ""):
            used.add(edit)
            texts[edit.file] = _once(room, texts[edit.file], edit)
    for edit in (edit for patch in so_far for edit in patch.edit):
        texts[edit.file] = _once(room, now(edit.file) or "", edit)
    for path, text in texts.items():
        base = decode(read(path) or b"")
        text = renamed(text, room.says.rename)
        if path.endswith(".c"):
            text = definitions.needed(text, base, path)
        texts[path] = text
        if left := _left(room.name, base, text):
            raise LabError(
                f"Lull is left in {path}: {left!r}",
                where=room.where,
                hint="say what becomes of it: true, false, drop, rename or edit",
            )
    return {path: Change(encode(text)) for path, text in texts.items()}


def _declared(room: Room, text: str | None, lines: Lines) -> str:
    """A file with lines in their place."""
    if not lines.after:
        if text is not None:
            raise room.unfit(f"{lines.file} is there already")
        return lines.text.strip("\n") + "\n"
    new = f"{lines.after}\n{lines.text.rstrip()}\n"
    edit = Edit(file=lines.file, old=f"{lines.after}\n", new=new)
    return _once(room, text or "", edit)


def _taken(room: Room, take: Take, sources: Sources, known: Known) -> str:
    """What is taken from a file of the feature, settled."""
    if take.source not in room.overlay:
        raise room.unfit(f"there is no file {take.source}")
    text = sources.text(take.source)
    if take.names:
        text = preprocess(text, known, take.source)
        found = [definitions.defined(text, name, take.source) for name in take.names]
        text = "\n" + "\n".join(found)
    elif take.after:
        text = f"\n{LICENCE.sub('', text).strip()}"
    text = settled(take.source, text, sources, known)
    for name in take.names if take.static else ():
        if shared := re.search(rf"^(?!static\b)\w[^;={{(]*\b{name}\b", text, re.M):
            text = renamed(text, {shared[0]: f"static {shared[0]}"})
    return take.head + text + take.tail


def _once(room: Room, text: str, edit: Edit) -> str:
    if text.count(edit.old) != 1:
        raise room.unfit(
            f"there is not one of it, but {text.count(edit.old)}: {edit.old!r}"
        )
    return text.replace(edit.old, edit.new)


def _left(feature: str, base: str, text: str) -> str:
    """A line that the base has not and that speaks of Lull."""
    own = re.compile(_OF_THE_LAB.format(feature))
    lines = set(base.split("\n"))
    found = (line for line in text.split("\n") if line not in lines)
    return next(
        (line.strip() for line in found if _OURS.match(line) or own.search(line)), ""
    )
