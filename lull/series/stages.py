# SPDX-License-Identifier: GPL-2.0-only
"""Which files each patch of a series brings, and in what order.

A stage is all that the tree is made from so far, as the lab makes it
(``lull.kernels.workspace.plan_changes``). A patch is what is between two of
them, so that the last leaves the lab's own tree.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lull.errors import LabError
from lull.kernels.inputs import Inputs
from lull.kernels.patches import parse_patch
from lull.kernels.workspace import Change, decode, encode, plan_changes
from lull.series.description import Declaration, SeriesFile, Words, message

_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')

Read = Callable[[str], bytes | None]


@dataclass(frozen=True)
class Stage:
    """What the tree is made from once a patch is applied, and what that says."""

    words: Words
    inputs: Inputs
    completes: str = ""  #: the feature that is all there with it
    name: str = ""  #: of the file, without its number; else from the subject
    early: tuple[Declaration, ...] = ()  #: what is in its files before its time


@dataclass(frozen=True)
class FullPatch:
    """A patch: whole files as it leaves them, by path in the tree."""

    words: Words
    changes: Mapping[str, Change]
    completes: str = ""
    name: str = ""

    def saying(self, *more: str) -> FullPatch:
        """The same with more paragraphs in its message; an empty one is none."""
        text = "\n\n".join(part for part in (self.words.text.strip(), *more) if part)
        return replace(self, words=self.words.model_copy(update={"text": text}))


def room(root: Path, file: Path) -> str:
    """The feature that a file of the project is of; empty for the frame's."""
    place = root / "features"
    return file.relative_to(place).parts[0] if file.is_relative_to(place) else ""


def only(inputs: Inputs, root: Path, names: Iterable[str]) -> Inputs:
    """What the frame and the features of these names are made from."""
    wanted = {"", *names}
    return replace(
        inputs,
        overlay={p: f for p, f in inputs.overlay.items() if room(root, f) in wanted},
        hooks=tuple(hook for hook in inputs.hooks if room(root, hook) in wanted),
        features=tuple(name for name in inputs.features if name in wanted),
    )


def with_needs(names: Iterable[str], entries: Mapping[str, SeriesFile]) -> list[str]:
    """These features and those that their hooks are made on top of, as they
    come in the lab's tree."""
    wanted: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += entries[name].needs
    return sorted(wanted)


def whole(
    inputs: Inputs, root: Path, names: Sequence[str], entries: Mapping[str, SeriesFile]
) -> list[Stage]:
    """The frame, then one patch a feature."""
    frame = only(inputs, root, ())
    stages = [Stage(entries[""].whole, frame, name="lull")]
    for count, name in enumerate(names, 1):
        far = only(inputs, root, names[:count])
        stages.append(Stage(entries[name].whole, far, name, f"lull-{name}"))
    return stages


def fine(
    inputs: Inputs, root: Path, names: Sequence[str], entries: Mapping[str, SeriesFile]
) -> list[Stage]:
    """The frame, then a patch a hook, and for each feature what its hooks call.

    A file of the overlay comes with the first hook that includes or changes it. The
    others come last, and with them the option: until then the headers make each hook
    nothing, so that the tree builds after any of these patches.
    """
    far = only(inputs, root, ())
    stages = [Stage(entries[""].whole, far)]
    for name in names:
        mine = only(inputs, root, (name,))
        for hook in mine.hooks:
            if hook in far.hooks:
                continue
            text = decode(hook.read_bytes())
            new = included(str(hook), text, mine.overlay)
            overlay = far.overlay | {path: mine.overlay[path] for path in new}
            far = replace(far, overlay=overlay, hooks=(*far.hooks, hook))
            names_so_far = {done.stem for done in far.hooks if name in done.parts}
            early = tuple(e for e in entries[name].early if e.hook in names_so_far)
            stages.append(Stage(message(text, str(hook)), far, early=early))
        features = tuple(f for f in inputs.features if f in {*far.features, name})
        far = replace(far, overlay=far.overlay | mine.overlay, features=features)
        core = entries[name].core
        if core is None:
            raise LabError(
                "nothing is said of the patch that comes after the hooks",
                where=f"features/{name}/series.toml",
                hint="[core], with title and text",
            )
        stages.append(Stage(core, far, name))
    return stages


def included(name: str, patch: str, overlay: Mapping[str, Path]) -> list[str]:
    """The files of an overlay that a patch includes, and those that they do; and
    those that it changes, as a base may want them otherwise."""
    parts = parse_patch(name, patch)
    found = dict.fromkeys(part.path for part in parts if part.path in overlay)
    todo = [
        (part.path, line[1:])
        for part in parts
        for hunk in part.hunks
        for line in hunk.lines
        if line[0] == "+"
    ]
    todo += [(path, line) for path in found for line in _lines(overlay[path])]
    while todo:
        where, line = todo.pop()
        if not (match := _INCLUDE.match(line)):
            continue
        near = posixpath.join(posixpath.dirname(where), match[2])
        path = near if match[1] == '"' else f"include/{match[2]}"
        if path in overlay and path not in found:
            found[path] = None
            todo += [(path, line) for line in _lines(overlay[path])]
    return sorted(found)


def _lines(file: Path) -> list[str]:
    return decode(file.read_bytes()).split("\n")


class DoesNotFit(LabError):
    """A hook does not apply to a tree, or a new file is in it already."""


def tree_after(inputs: Inputs, read: Read) -> dict[str, Change]:
    """All that differs from the base. Raises DoesNotFit where it is another."""
    try:
        return plan_changes(inputs, read)
    except LabError as error:
        raise DoesNotFit(error.what, where=error.where, hint=error.hint) from error


def steps(stages: Sequence[Stage], read: Read) -> list[FullPatch]:
    """What each stage changes of the one before; ``read`` gives the base's files."""
    done: list[FullPatch] = []
    before: dict[str, Change] = {}
    for stage in stages:
        after = with_early(tree_after(stage.inputs, read), stage.early, read)
        changes = {p: c for p, c in after.items() if before.get(p) != c}
        if gone := before.keys() - after.keys():
            raise LabError(f"{stage.words.title}: takes back {min(gone)}")
        if not changes:
            raise LabError(f"{stage.words.title}: there is nothing in this patch")
        done.append(FullPatch(stage.words, changes, stage.completes, stage.name))
        before = after
    return done


def with_early(
    tree: Mapping[str, Change], early: Sequence[Declaration], read: Read
) -> dict[str, Change]:
    """The files with those lines that they do not have yet."""
    done = dict(tree)
    for line in early:
        now = done.get(line.file, Change(read(line.file)))
        text = decode(now.data or b"")
        if f"\n{line.text}\n" in text:
            continue
        if text.count(f"\n{line.after}\n") != 1:
            raise LabError(
                f"there is no place in {line.file} after {line.after!r}",
                where=f"what comes early with {line.hook}",
                hint="mend [[early]] in series.toml",
            )
        new = text.replace(f"\n{line.after}\n", f"\n{line.after}\n{line.text}\n")
        done[line.file] = replace(now, data=encode(new))
    return done


def final(steps_: Iterable[FullPatch]) -> dict[str, Change]:
    """All that a series changes, as its last patch leaves it."""
    return {path: change for step in steps_ for path, change in step.changes.items()}
