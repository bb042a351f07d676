# SPDX-License-Identifier: GPL-2.0-only
"""Bytes out of a file that may be compressed, and may be cut off."""

from __future__ import annotations

import zlib

from lull.graph.recording import Caveat

GZIP = b"\x1f\x8b"
#: What a recording may unpack to; a day of cycles is far below.
LIMIT = 1 << 30


def unpack(data: bytes, limit: int = LIMIT) -> tuple[bytes, tuple[Caveat, ...]]:
    """``data`` itself, or what it unpacks to where it begins like gzip.

    What ends early or is damaged is unpacked as far as it goes, and so is
    what is longer than ``limit`` bytes; a caveat says so. Never raises.
    """
    if not data.startswith(GZIP):
        return data, ()
    parts: list[bytes] = []
    size = 0
    while data.startswith(GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        # Small steps: an error drops what the same call had unpacked.
        for at in range(0, len(data), 4096):
            try:
                part = unpacker.decompress(data[at : at + 4096], limit - size + 1)
            except zlib.error:
                return b"".join(parts), (Caveat("the gzip data is damaged"),)
            parts.append(part)
            size += len(part)
            if size > limit:
                return b"".join(parts), (Caveat("the file is too long: cut off"),)
        if not unpacker.eof:
            return b"".join(parts), (Caveat("the gzip data ends early"),)
        data = unpacker.unused_data
    return b"".join(parts), ()
