# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.graph import lines as module
from lull.graph.lines import Lines
from lull.graph.recording import Caveat
from lull.graph.unpack import unpack

WORDS = (b"ab", b"needle", b"#", b" ", b"\n", b"\n#", b"x" * 40)


@st.composite
def cut(draw: st.DrawFn) -> list[bytes]:
    """A text in pieces, cut anywhere."""
    text = b"".join(draw(st.lists(st.sampled_from(WORDS), max_size=40)))
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@given(cut(), st.sampled_from((1, 7, 1 << 18)))
def test_the_same_lines_are_found_wherever_the_text_is_cut(
    pieces: list[bytes], block: int
) -> None:
    want = [
        (number, line)
        for number, line in enumerate(b"".join(pieces).split(b"\n"), 1)
        if b"needle" in line or line.startswith(b"#")
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        found = Lines((b"needle",))
        assert list(found.of(pieces)) == want
    assert found.text == bool(b"".join(pieces).strip())


@given(cut(), st.sampled_from((1, 7, 1 << 18)))
def test_a_line_that_is_too_long_is_left_out_and_counted(
    pieces: list[bytes], block: int
) -> None:
    all_ = b"".join(pieces).split(b"\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        patch.setattr(module, "LONGEST", 20)
        found = Lines((b"needle",))
        numbers = [number for number, _ in found.of(pieces)]
    assert numbers == [
        number
        for number, line in enumerate(all_, 1)
        if (b"needle" in line or line.startswith(b"#")) and len(line) <= 20
    ]
    long = {number for number, line in enumerate(all_, 1) if len(line) > 20}
    assert set(found.too_long) <= long
    # In a block that is all there is, with an end of a line, each that matters is.
    if block == 1 << 18 and len(all_) > 1:
        matter = {
            n for n in long if b"needle" in all_[n - 1] or all_[n - 1][:1] == b"#"
        }
        assert set(found.too_long) == matter


def test_one_that_is_too_long_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 20)
    found = Lines((b"needle",))
    assert list(found.of([b"a needle\n# " + b"x" * 20 + b"\nno needle\n"])) == [
        (1, b"a needle"),
        (3, b"no needle"),
    ]
    assert found.too_long == [2]


def unpacked(pieces: list[bytes], limit: int = 1 << 30) -> tuple[bytes, list[str]]:
    caveats: list[Caveat] = []
    data = b"".join(unpack(pieces, caveats, limit))
    return data, [str(each) for each in caveats]


@given(st.binary(max_size=300), st.integers(1, 9), st.integers(1, 3))
def test_gzip_unpacks_alike_wherever_it_is_cut(
    data: bytes, size: int, times: int
) -> None:
    packed = gzip.compress(data) * times
    pieces = [packed[i : i + size] for i in range(0, len(packed), size)]
    assert unpacked(pieces) == (data * times, [])


def test_what_is_too_long_is_cut_off_at_the_limit_and_said() -> None:
    data = bytes(300_000)
    for packed in (data, gzip.compress(data)):
        assert unpacked([packed], 200_001) == (
            data[:200_001],
            ["the file is too long: cut off"],
        )
        assert unpacked([packed], 300_000) == (data, [])


def test_what_follows_gzip_and_is_none_is_left_out() -> None:
    assert unpacked([gzip.compress(b"abc") + bytes(9)]) == (b"abc", [])


def test_no_more_is_asked_for_than_is_used() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield gzip.compress(bytes(1 << 20))

    caveats: list[Caveat] = []
    size = sum(len(part) for part in unpack(endless(), caveats, 1 << 22))
    assert size == 1 << 22
    assert caveats
