# SPDX-License-Identifier: GPL-2.0-only
"""Whatever bytes a log or a name holds, a line of results is JSON."""

import json
import subprocess
from pathlib import Path

import pytest


def through(probe: Path, data: bytes) -> tuple[str, object]:
    done = subprocess.run(
        [str(probe), "--selftest-json"],
        input=data,
        capture_output=True,
        timeout=300,
        check=True,
    )
    assert done.stdout.endswith(b"\n") and done.stdout.count(b"\n") == 1
    line = json.loads(done.stdout.decode("utf-8"))
    return line["text"], line["auto"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        'a "quoted" \\ one',
        "tab\tline\ncr\r",
        "\x01\x1f\x7f",
        "ü é 漢 😀",
        "/",
    ],
)
def test_text_comes_back_unchanged(probe: Path, text: str) -> None:
    assert through(probe, text.encode())[0] == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xff", "\ufffd"),
        (b"a\xc3", "a\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),  # overlong
        (b"\xed\xa0\x80", "\ufffd" * 3),  # a surrogate
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),  # beyond Unicode
        (b"\xe2\x82z", "\ufffd\ufffdz"),
    ],
)
def test_bytes_that_are_not_utf8_are_replaced(
    probe: Path, data: bytes, text: str
) -> None:
    assert through(probe, data)[0] == text


def test_every_byte_alone(probe: Path) -> None:
    for byte in range(1, 256):
        text, _ = through(probe, bytes([byte]))
        assert text == (chr(byte) if byte < 128 else "\ufffd")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30000", 30000),
        ("18446744073709551615", 18446744073709551615),
        ("epoll:1", "epoll:1"),
        ("-1", "-1"),
        ("1e3", "1e3"),
        ("0x10", "0x10"),
        ("", ""),
    ],
)
def test_values_are_numbers_where_they_look_like_it(
    probe: Path, text: str, value: object
) -> None:
    assert through(probe, text.encode())[1] == value
