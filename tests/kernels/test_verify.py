# SPDX-License-Identifier: GPL-2.0-only
"""Where two builds differ."""

from __future__ import annotations

import sys
from pathlib import Path

from lull.kernels.verify import difference, sections


def test_difference_names_the_section(tmp_path: Path) -> None:
    ours = tmp_path / "a"
    other = tmp_path / "b"
    ours.write_bytes(Path(sys.executable).resolve().read_bytes())
    assert "is the same" in difference(ours, ours)
    data = bytearray(ours.read_bytes())
    data[data.index(sections(bytes(data))[".text"]) + 0x10] ^= 1
    other.write_bytes(data)
    assert "is in .text of vmlinux at 0x10" in difference(ours, other)
    data = bytearray(ours.read_bytes())
    data[data.index(b"\0.text\0") + 2] = ord("T")  # the table of their names
    other.write_bytes(data)
    assert "other sections: .Text, .text" in difference(ours, other)
    other.write_bytes(b"text")
    assert "cannot be compared" in difference(ours, other)
