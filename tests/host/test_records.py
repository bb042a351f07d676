# SPDX-License-Identifier: GPL-2.0-only
"""A file of data that is wrong is told with its name and the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.errors import LabError
from lull.host.records import read_toml
from lull.model import Record


class Case(Record):
    run: str
    times: int = 1


class File(Record):
    case: tuple[Case, ...]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'case = [{ run = "w" }', "not TOML"),
        (b"\xff", "cannot be read"),
        (b"", "case: Field required"),
        (b"case = [{ times = 2 }]", r"case\[0\]\.run: Field required"),
        (b'case = [{ run = "w", time = 2 }]', r"case\[0\]\.time: Extra"),
    ],
)
def test_what_is_wrong_is_named(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_bytes(text)
    with pytest.raises(LabError, match=said) as caught:
        read_toml(path, File)
    assert caught.value.where == str(path)


def test_a_good_one_is_a_record(tmp_path: Path) -> None:
    path = tmp_path / "file.toml"
    path.write_text('case = [{ run = "w" }]')
    assert read_toml(path, File).case == (Case(run="w"),)
    with pytest.raises(LabError, match="cannot be read"):
        read_toml(tmp_path / "none.toml", File)
