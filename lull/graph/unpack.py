# SPDX-License-Identifier: GPL-2.0-only
"""Bytes out of a file that may be compressed, and may be cut off, piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from lull.graph.recording import Caveat

GZIP = b"\x1f\x8b"
#: What is read of a recording; a day of cycles is far below.
LIMIT = 1 << 30
#: What zlib may make of one step; small steps, for an error drops what the same
#: call had unpacked.
_STEP, _MOST = 4096, 1 << 16


def unpack(
    pieces: Iterable[bytes], caveats: list[Caveat], limit: int = LIMIT
) -> Iterator[bytes]:
    """``pieces`` themselves, or what they unpack to if they begin like gzip.

    What ends early or is damaged is unpacked as far as it goes, and so is what
    is longer than ``limit`` bytes; ``caveats`` gets one that says so. Raises
    nothing of its own, and holds one piece.
    """
    rest = iter(pieces)
    head = b""
    for piece in rest:
        head += piece
        if len(head) >= len(GZIP):
            break
    whole = chain((head,), rest)
    size = 0
    for part in _inflate(whole, caveats) if head.startswith(GZIP) else whole:
        size += len(part)
        if size > limit:
            caveats.append(Caveat("the file is too long: cut off"))
            yield part[: len(part) + limit - size]
            return
        yield part


def _inflate(pieces: Iterable[bytes], caveats: list[Caveat]) -> Iterator[bytes]:
    """What one or several gzip files in a row unpack to."""
    unpacker = zlib.decompressobj(wbits=31)
    begun = False
    for data in _steps(pieces):
        more = True
        while data or more:
            if unpacker.eof:
                if not data.startswith(GZIP[: len(data)]):
                    return
                unpacker = zlib.decompressobj(wbits=31)
            try:
                part = unpacker.decompress(data, _MOST)
            except zlib.error:
                caveats.append(Caveat("the gzip data is damaged"))
                return
            begun = True
            yield part
            # All of the input may be in, and not yet all of it out.
            more = len(part) == _MOST and not unpacker.eof
            data = unpacker.unused_data or unpacker.unconsumed_tail
    if begun and not unpacker.eof:
        caveats.append(Caveat("the gzip data ends early"))


def _steps(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for at in range(0, len(piece), _STEP):
            yield piece[at : at + _STEP]
