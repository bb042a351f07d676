# SPDX-License-Identifier: GPL-2.0-only
"""Reads the text of a tree. Pure: bytes in, a tree out.

The text is ASCII; comments may hold anything but NUL. One device a line::

    lull-tree 1
    # a comment has a line of its own; blank lines are allowed
    device NAME [async] [direct] [parent=NAME] [supplier=NAME]...
           [PHASE=US | PHASE=busy:US]... [fail=PHASE:ERRNO]... [wakeup=PHASE]...

A line ends with a newline, the last one may lack it; words are separated by
blanks and tabs. The words after NAME come in any order, each key once;
``supplier`` once for each supplier, ``fail`` and ``wakeup`` once for each
phase, which is one of the three of a suspend. Parents and suppliers are
declared on earlier lines. The kernel has a reader of the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn

from lull.errors import BadTree
from lull.trees.model import DOWN, Device, Phase, Tree, Work
from lull.trees.order import check_order
from lull.vm.console import show

HEADER = "lull-tree 1"
MAX_DEVICES = 10_000
MAX_US = 60_000_000
MAX_ERRNO = 4095
NAME = re.compile(r"[A-Za-z0-9._:-]{1,63}")

_KEYS = ("parent", "supplier", *Phase, "fail", "wakeup")
_FLAGS = ("async", "direct")
#: Characters of a word, or devices of a cycle, that a message shows.
_SHOWN = 80


def read(text: bytes, where: str) -> Tree:
    """The tree of a description. ``where`` is the file, for the messages.

    Raises BadTree, for the first thing that is wrong, and nothing else.
    """
    lines = text.split(b"\n")
    for number, line in enumerate(lines, 1):
        if b"\0" in line:
            raise BadTree(
                "a NUL byte",
                where=f"{where}:{number}",
                hint="this is not a text; lull tree make writes one",
            )
    if lines[0] != HEADER.encode():
        _no_header(lines[0], where)
    devices: list[Device] = []
    places: dict[str, int] = {}
    for number, line in enumerate(lines[1:], 2):
        words = _words(line, f"{where}:{number}")
        if not words:
            continue
        if len(devices) == MAX_DEVICES:
            raise BadTree(
                f"more than {MAX_DEVICES} devices",
                where=f"{where}:{number}",
                hint="that is the most a tree can have; leave some out",
            )
        device = _device(words, f"{where}:{number}", places)
        devices.append(device)
        places[device.name] = number
    tree = Tree(tuple(devices))
    if not devices:
        raise BadTree(
            "no devices",
            where=where,
            hint="add a line such as: device disk async suspend=1000",
        )
    check_order(tree, {name: f"{where}:{number}" for name, number in places.items()})
    return tree


def _no_header(line: bytes, where: str) -> NoReturn:
    if re.fullmatch(rb"lull-tree[ \t]+\d{1,9}[ \t\r]*", line):
        hint = f"the first line has to be exactly: {HEADER}"
    else:
        hint = f"put this before everything else, comments too: {HEADER}"
    what = f"the first line is {_quote(line)}" if line else "the first line is empty"
    raise BadTree(what, where=f"{where}:1", hint=hint)


def _words(line: bytes, where: str) -> list[bytes]:
    """The words of a line; none for a comment. CR is part of a word."""
    words = line.replace(b"\t", b" ").split(b" ")
    found = [word for word in words if word]
    if not found or found[0].startswith(b"#"):
        return []
    if line.endswith(b"\r"):
        raise BadTree(
            "the line ends with a carriage return",
            where=where,
            hint="lines end with a newline only; dos2unix mends that",
        )
    return found


@dataclass
class _Parts:
    """A device as its words are read, and what the messages name."""

    name: str
    where: str
    seen: set[str] = field(default_factory=set)
    parent: str | None = None
    suppliers: list[str] = field(default_factory=list)
    work: dict[Phase, Work] = field(default_factory=dict)
    fail: dict[Phase, int] = field(default_factory=dict)
    wakeup: set[Phase] = field(default_factory=set)

    def refuse(self, what: str, hint: str) -> NoReturn:
        raise BadTree(f"device {self.name}: {what}", where=self.where, hint=hint)

    def once(self, key: str) -> None:
        if key in self.seen:
            self.refuse(f"{key} is given twice", "keep one of them")
        self.seen.add(key)

    def take(self, raw: bytes) -> None:
        key, equals, value = _text(raw).partition("=")
        if not equals and key in _FLAGS:
            self.once(key)
        elif equals and key in _KEYS:
            self._set(key, value)
        else:
            self._unknown(raw)

    def _set(self, key: str, value: str) -> None:
        match key:
            case "parent":
                self.once(key)
                self.parent = self._other(key, value)
            case "supplier":
                supplier = self._other(key, value)
                self.once(f"supplier={supplier}")
                self.suppliers.append(supplier)
            case "fail":
                name, _, number = value.partition(":")
                phase = self._down(key, name)
                self.once(f"fail={phase}")
                errno = self._number(f"fail={phase}", number, "an errno", MAX_ERRNO)
                if not errno:
                    self.refuse("fail with errno 0", "0 is success; leave it out")
                self.fail[phase] = errno
            case "wakeup":
                phase = self._down(key, value)
                self.once(f"wakeup={phase}")
                self.wakeup.add(phase)
            case _:
                self.once(key)
                number = value.removeprefix("busy:")
                us = self._number(key, number, "a time in microseconds", MAX_US)
                self.work[Phase(key)] = Work(us, busy=number != value)

    def _other(self, key: str, value: str) -> str:
        if value == self.name:
            self.refuse(f"is its own {key}", f"name another device, or drop {key}=")
        if not NAME.fullmatch(value):
            self.refuse(f"{key} {_quote(value)} is not a name", _NAME_HINT)
        return value

    def _down(self, key: str, name: str) -> Phase:
        if name not in DOWN:
            self.refuse(
                f"{key} in phase {_quote(name)}",
                f"a phase of a suspend: {', '.join(DOWN)}",
            )
        return Phase(name)

    def _number(self, key: str, digits: str, what: str, most: int) -> int:
        hint = f"{what}, in decimal digits, at most {most}"
        # Bounded before it is converted: int() takes long for a million digits.
        if not re.fullmatch(r"[0-9]{1,8}", digits):
            negative = re.fullmatch(r"-[0-9]+", digits)
            kind = "is negative" if negative else f"is not {what}"
            if re.fullmatch(r"[0-9]{9,}", digits):
                kind = "is too large"
            self.refuse(f"{key}: {_quote(digits)} {kind}", hint)
        if int(digits) > most:
            self.refuse(f"{key}: {digits} is too large", hint)
        return int(digits)

    def _unknown(self, raw: bytes) -> NoReturn:
        text = _text(raw)
        key, equals, value = text.partition("=")
        known = (*_KEYS, *_FLAGS)
        if key in _FLAGS:
            self.refuse(f"{_quote(raw)} has a value", f"write: {key}")
        if key in _KEYS:
            self.refuse(f"{_quote(raw)} has no value", f"write: {key}=...")
        if key.startswith("#"):
            self.refuse(f"unknown word {_quote(raw)}", "a comment has its own line")
        # A long word is like nothing that there is, and slow to compare.
        close = get_close_matches(key[:_SHOWN], known, n=1)
        if close:
            shown = show(value[:_SHOWN].encode("latin-1"))
            hint = f"did you mean {close[0]}{equals}{shown}"
            self.refuse(f"unknown word {_quote(raw)}", hint)
        self.refuse(f"unknown word {_quote(raw)}", f"known are: {', '.join(known)}")

    def device(self) -> Device:
        return Device(
            name=self.name,
            parent=self.parent,
            suppliers=tuple(self.suppliers),
            is_async="async" in self.seen,
            direct="direct" in self.seen,
            work=self.work,
            fail=self.fail,
            wakeup=frozenset(self.wakeup),
        )


_NAME_HINT = "1 to 63 of A-Z a-z 0-9 . _ : -"


def _device(words: list[bytes], where: str, places: Mapping[str, int]) -> Device:
    if words[0] != b"device":
        close = get_close_matches(_text(words[0])[:_SHOWN], ["device"], n=1)
        hint = "did you mean device" if close else "a line is a device or a # comment"
        raise BadTree(f"unknown word {_quote(words[0])}", where=where, hint=hint)
    if len(words) == 1:
        raise BadTree("a device without a name", where=where, hint="device NAME ...")
    name = _text(words[1])
    if not NAME.fullmatch(name):
        raise BadTree(
            f"the name {_quote(words[1])} is not one", where=where, hint=_NAME_HINT
        )
    parts = _Parts(name, where)
    if name in places:
        parts.refuse(f"is declared on line {places[name]} already", "rename one")
    for word in words[2:]:
        parts.take(word)
    return parts.device()


def _text(word: bytes) -> str:
    """One character a byte, so that nothing is lost before it is shown."""
    return word.decode("latin-1")


def _quote(word: bytes | str) -> str:
    raw = word if isinstance(word, bytes) else word.encode("latin-1")
    text = show(raw).replace("\t", "\\t")
    return f"'{text[:_SHOWN]}...'" if len(text) > _SHOWN else f"'{text}'"
