# SPDX-License-Identifier: GPL-2.0-only
"""What a series says: ``series.toml`` of a feature and of the frame, and hooks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from lull.errors import LabError
from lull.model import Record

#: Of a line of a message, as checkpatch wants it.
WIDTH = 75

#: A line of a message that git am would take for something else.
_TAKEN_FOR_ELSE = re.compile(r"^(---|diff -|Index: |From )", re.MULTILINE)


class Words(Record):
    """A patch's subject and message."""

    title: str = Field(min_length=1, max_length=WIDTH, pattern=r"^[ -~]+$")
    text: str


class Declaration(Record):
    """Lines that a hook needs and does not bring, and after which line of a file
    they belong."""

    hook: str  #: by its name, without .patch
    file: str
    after: str  #: the line, without its end
    text: str


class Edit(Record):
    """What nobody needs once the rest is settled: replaced, wherever it appears."""

    file: str
    old: str
    new: str


class Part(Record):
    """A patch that a hook gives before its own: of two things that it does, the
    first, and how its files are without the second."""

    hook: str
    words: Words
    without: tuple[Edit, ...] = Field(min_length=1)


class Upstream(Record):
    """What a feature comes to without modes and tests (``lull.series.upstream``)."""

    cover: Words
    tests: str  #: which of the project's tests are about it
    true: tuple[str, ...] = ()  #: functions that are true in the best mode,
    false: tuple[str, ...] = ()  #: those that are not,
    drop: tuple[str, ...] = ()  #: and those that only tests and figures need
    skip: tuple[str, ...] = ()  #: hooks for comparison alone, or left out
    #: Of a series that is not all of the feature: what it is without, and why.
    left_out: str = ""
    rename: Mapping[str, str] = {}
    words: Mapping[str, Words] = {}  #: by hook, where its own speak of modes
    part: tuple[Part, ...] = ()
    declare: tuple[Declaration, ...] = ()
    edit: tuple[Edit, ...] = ()


class Entry(Record):
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

    def messages(self) -> list[str]:
        """All texts that become one."""
        found = [self.whole, self.core]
        if self.upstream is not None:
            found += [self.upstream.cover, *self.upstream.words.values()]
            found += [part.words for part in self.upstream.part]
        return [words.text for words in found if words is not None]


def load(path: Path) -> Entry:
    """Read a series.toml. Raises LabError with the file and the field."""
    try:
        entry = Entry.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"cannot be read: {error}", where=str(path)) from error
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise LabError(f"not what a series says: {error}", where=str(path)) from error
    for text in entry.messages():
        check(text, str(path))
    return entry


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
