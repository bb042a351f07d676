# SPDX-License-Identifier: GPL-2.0-only
"""The few lines of a large text that matter, without holding the text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

#: A longer line is left out; the longest that there is lists all devices.
LONGEST = 1 << 20
#: Text is looked through in blocks of at least this many bytes.
_BLOCK = 1 << 18


class Lines:
    """Lines that hold one of ``needles``, and those that begin with ``#``.

    ``too_long`` has the numbers of lines that were left out because of their
    length, the first 100; ``text`` whether anything was there but blanks.
    """

    def __init__(self, needles: Iterable[bytes]) -> None:
        self.needles = tuple(needles)
        self.text = False
        self.too_long: list[int] = []

    def of(self, pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
        """``(number, line)`` in order, numbers from 1, lines without newline."""
        number, skip, rest = 1, False, b""
        for block in _blocks(pieces):
            end = block.rfind(b"\n")
            if end < 0:
                if not skip:
                    rest += block
                    skip = len(rest) > LONGEST
                    rest = b"" if skip else rest
                    self._too_long(number, skip)
                continue
            if skip:
                # What is left of the line that is too long counts as an empty one.
                first = block.find(b"\n")
                block, end, skip = block[first:], end - first, False
            body = rest + block[:end]
            yield from self._found(number, body)
            number += body.count(b"\n") + 1
            rest = block[end + 1 :]
        if not skip and rest:
            yield from self._found(number, rest)

    def _found(self, number: int, body: bytes) -> Iterator[tuple[int, bytes]]:
        self.text = self.text or bool(body.strip())
        starts = {0} if body.startswith(b"#") else set()
        starts |= {at + 1 for at in _all(body, b"\n#")}
        for needle in self.needles:
            starts |= {body.rfind(b"\n", 0, at) + 1 for at in _all(body, needle)}
        counted = 0
        for start in sorted(starts):
            number += body.count(b"\n", counted, start)
            counted = start
            end = body.find(b"\n", start)
            line = body[start:] if end < 0 else body[start:end]
            if len(line) > LONGEST:
                self._too_long(number, True)
            else:
                yield number, line

    def _too_long(self, number: int, is_so: bool) -> None:
        self.text = self.text or is_so
        if is_so and len(self.too_long) < 100:
            self.too_long.append(number)


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces put together, so that a block is worth looking through."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= _BLOCK:
            yield b"".join(parts)
            parts, size = [], 0
    yield b"".join(parts)


def _all(body: bytes, needle: bytes) -> Iterator[int]:
    """Where ``needle`` is in ``body``, once a line."""
    at = body.find(needle)
    while at >= 0:
        yield at
        end = body.find(b"\n", at + 1)
        at = body.find(needle, end) if end >= 0 else -1
