# SPDX-License-Identifier: GPL-2.0-only
"""What a series says: ``series.toml`` of a feature and of the frame, and hooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from lull.errors import LabError
from lull.host.records import read_toml
from lull.model import Record, Value

#: Of a line of a message, as checkpatch wants it.
WIDTH = 75

#: A line of a message that git am would take for something else.
_TAKEN_FOR_ELSE = re.compile(r"^(---|diff -|Index: |From )", re.MULTILINE)


class Said(Record):
    """What is said of one base, or of some; else of all."""

    bases: tuple[str, ...] = ()

    def of(self, base: str) -> bool:
        """Whether it is said of the base."""
        return not self.bases or base in self.bases


M = TypeVar("M", bound=Record)


def _on(record: M, base: str) -> M:
    """The same without what is said of other bases, however deep in it."""
    changes: dict[str, object] = {}
    for name, value in record:
        if isinstance(value, tuple) and any(isinstance(one, Said) for one in value):
            changes[name] = tuple(_on(one, base) for one in value if one.of(base))
    return record.model_copy(update=changes)


class Words(Record):
    """A patch's subject and message."""

    title: str = Field(min_length=1, max_length=WIDTH, pattern=r"^[ -~]+$")
    text: str


class Cover(Words):
    """What the letter begins with, and what it must not be silent about."""

    newer: str = Field(min_length=1)  #: what the newest base has of it by itself
    breaks: str = Field(min_length=1)  #: what it may break, and what nobody has tried


class Declaration(Record):
    """Lines that a hook needs and does not bring, and after which line of a file
    they belong."""

    hook: str  #: by its name, without .patch
    file: str
    after: str  #: the line, without its end
    text: str


class Edit(Said):
    """What nobody needs once the rest is settled: replaced, wherever it appears."""

    file: str
    old: str
    new: str


class Lines(Said):
    """Lines for a file of the kernel that no hook brings: after one of its own, or
    all of a new file."""

    file: str
    after: str = ""  #: the line, without its end
    text: str


class Take(Said):
    """What a file of the feature defines, for a file of the kernel."""

    source: str
    names: tuple[str, ...] = ()  #: in this order; else all of the source
    file: str
    after: str = ""  #: the line, without its end; nothing for a new file
    static: bool = False  #: nobody else calls these there
    head: str = ""  #: of a new file, before what is taken,
    tail: str = ""  #: and behind it


class Definition(Said):
    """Another text for what a file of the feature defines."""

    file: str
    name: str
    was: str  #: the digest of what it stands for: who changes that looks here
    text: str


class Skip(Said):
    """Hooks that are in no patch."""

    hooks: tuple[str, ...]


class Reword(Said):
    """What a message says in other words on some bases."""

    old: str
    new: str


class Cases(Record):
    """Those of a workload that have these parameters, whatever the others are."""

    workload: str
    params: Mapping[str, Value] = {}


class Patch(Said):
    """One of the series."""

    hooks: tuple[str, ...] = ()  #: by their names, without .patch; those that it adds
    words: Words | None = None  #: else what its hook says
    fix: bool = False  #: of what the kernel has; these come first
    #: Steps of ``lull run --ablate`` that it brings.
    steps: tuple[str, ...] = ()
    note: str = ""  #: what it is, else: the letter says so in its table
    #: Functions, or single calls, that are true from here on, and false before;
    yes: tuple[str, ...] = ()
    #: functions that are there from here on: before, they are false and do nothing.
    calls: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()  #: definitions that nobody needs any more
    declare: tuple[Lines, ...] = ()
    take: tuple[Take, ...] = ()
    #: Before anything is settled, and after; in all files, from here on.
    first: tuple[Edit, ...] = ()
    edit: tuple[Edit, ...] = ()
    #: What it was before this patch, made of what it is with it: of files that later
    #: patches change, theirs have been made undone first. Settled after that.
    before: tuple[Edit, ...] = ()


class Upstream(Record):
    """What a feature comes to without modes and tests (``lull.series.upstream``)."""

    cover: Cover
    tests: str  #: which of the project's tests are about it
    true: tuple[str, ...] = ()  #: functions, or calls, that are true in the best mode,
    false: tuple[str, ...] = ()  #: those that are not,
    drop: tuple[str, ...] = ()  #: and those that only tests and figures need
    skip: tuple[str, ...] = ()  #: hooks for comparison alone, or left out,
    also_skip: tuple[Skip, ...] = ()  #: and those of some bases
    #: FEATURE/HOOK: on which of another feature's hooks these are made.
    below: tuple[str, ...] = ()
    #: Of a series that is not all of the feature: what it is without, and why.
    left_out: str = ""
    #: Cases that what is left out has a part in: no figure of these is quoted.
    not_of: tuple[Cases, ...] = ()
    rename: Mapping[str, str] = {}  #: a name; what ends in * is the beginning of some
    patch: tuple[Patch, ...] = Field(min_length=1)
    first: tuple[Edit, ...] = ()  #: before anything is settled; of either's files
    define: tuple[Definition, ...] = ()
    edit: tuple[Edit, ...] = ()
    reword: tuple[Reword, ...] = ()

    def on(self, base: str) -> Upstream:
        """What is said of the base. Raises LabError for other words for what is not
        said, or not once."""
        said = _on(self, base)
        for words in said.reword:
            if (found := "\0".join(said.messages()).count(words.old)) != 1:
                raise LabError(
                    f"messages have {words.old!r} not once, but {found} times",
                    where=f"[[reword]] of a series.toml, on {base}",
                )
            said = said.model_copy(update=_reworded(said, words))
        return said

    def messages(self) -> list[str]:
        """All texts that become one, or a part of one."""
        words = [self.cover, *(patch.words for patch in self.patch if patch.words)]
        parts = [self.cover.newer, self.cover.breaks, self.tests, self.left_out]
        return [each.text for each in words] + parts


def _reworded(said: Upstream, words: Reword) -> dict[str, object]:
    def of(one: Words) -> Words:
        texts = {name: value.replace(words.old, words.new) for name, value in one}
        return one.model_copy(update=texts)

    return {
        "cover": of(said.cover),
        "tests": said.tests.replace(words.old, words.new),
        "left_out": said.left_out.replace(words.old, words.new),
        "patch": tuple(
            one.model_copy(update={"words": one.words and of(one.words)})
            for one in said.patch
        ),
    }


class SeriesFile(Record):
    """One series.toml.

    ``whole`` is the patch that has all of a feature; ``core`` the one that comes
    after its hooks, with what they call.
    """

    needs: tuple[str, ...] = ()  #: features whose hooks these are made on top of
    config: Mapping[str, str] = {}  #: what else of the kernel it needs, without CONFIG_
    whole: Words
    core: Words | None = None
    #: What a later hook brings, and an earlier one needs already.
    early: tuple[Declaration, ...] = ()
    upstream: Upstream | None = None
    #: By bases where it comes to something else, of files of their own.
    elsewhere: Mapping[str, Upstream] = {}

    def on(self, base: str) -> SeriesFile:
        """What it says of the base."""
        said = self.elsewhere.get(base, self.upstream)
        return self.model_copy(update={"upstream": said and said.on(base)})

    def all_upstream(self) -> list[Upstream]:
        """What it comes to, on any base."""
        return [*([self.upstream] if self.upstream else []), *self.elsewhere.values()]

    def messages(self) -> list[str]:
        """All texts that become one, or a part of one."""
        found = [words.text for words in (self.whole, self.core) if words]
        return found + (self.upstream.messages() if self.upstream else [])


def load(path: Path) -> SeriesFile:
    """Read a series.toml, and each series-BASE.toml beside it, which has what
    [upstream] is on the base. Raises LabError with the file and the field."""
    entry = read_toml(path, SeriesFile)
    _check_all(entry.messages(), path)
    elsewhere: dict[str, Upstream] = {}
    for file in sorted(path.parent.glob(f"{path.stem}-*.toml")):
        said = read_toml(file, Upstream)
        _check_all(said.messages(), file)
        elsewhere[file.stem.removeprefix(f"{path.stem}-")] = said
    return entry.model_copy(update={"elsewhere": elsewhere})


def _check_all(texts: Sequence[str], path: Path) -> None:
    for text in texts:
        check(text, str(path))


def check(text: str, where: str) -> None:
    """Refuse a message that would end in the middle when it is applied, or that
    checkpatch would not have."""
    if long := next((ln for ln in text.split("\n") if len(ln) > WIDTH), ""):
        raise LabError(
            f"a line of a message is longer than {WIDTH}: {long!r}", where=where
        )
    if found := _TAKEN_FOR_ELSE.search(text):
        line = text[found.start() :].split("\n")[0]
        raise LabError(
            f"git am would take this line for the end of the message: {line!r}",
            where=where,
            hint="indent it",
        )


def message(text: str, where: str) -> Words:
    """The subject and the message of a hook. Raises LabError where it has none."""
    head = re.split(r"^(?:diff --git |--- )", text, maxsplit=1, flags=re.MULTILINE)[0]
    header, _, body = head.partition("\n\n")
    subject = re.search(
        r"^Subject: (?:\[[^\]]*\] *)?(.*(?:\n[ \t].*)*)", header, re.MULTILINE
    )
    if not subject or not body.strip():
        raise LabError(
            "a hook without a subject or a message",
            where=where,
            hint="Subject: [PATCH] ..., an empty line, and why",
        )
    check(body, where)
    return Words(title=" ".join(subject[1].split()), text=body.strip())
