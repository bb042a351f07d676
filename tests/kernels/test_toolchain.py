# SPDX-License-Identifier: GPL-2.0-only
"""What a machine has to have before anything is built."""

from __future__ import annotations

import pytest

from lull.errors import CannotRun
from lull.kernels import toolchain


def test_missing_tools_are_named_with_their_packages() -> None:
    have = {"gcc", "ld", "make", "flex", "gzip", "perl", "setpriv"}
    with pytest.raises(CannotRun) as caught:
        toolchain.need_build_tools(
            lambda name: name if name in have else None, lambda name: name != "libelf.h"
        )
    text = str(caught.value)
    assert "missing: bc, bison, libelf.h" in text
    assert caught.value.hint == "sudo apt-get install bc bison libelf-dev"


def test_without_a_compiler_no_header_is_blamed() -> None:
    with pytest.raises(CannotRun, match=r"missing: gcc \("):
        toolchain.need_build_tools(
            lambda name: None if name == "gcc" else name, lambda _: False
        )


def test_missing_apt() -> None:
    with pytest.raises(CannotRun, match="missing: apt-get"):
        toolchain.need_fetch_tools(lambda name: None if name == "apt-get" else name)


def test_too_little_memory() -> None:
    toolchain.need_memory("MemAvailable:    1500000 kB\n")
    with pytest.raises(CannotRun, match=r"1\.4 GB are available"):
        toolchain.need_memory("MemTotal: 9 kB\nMemAvailable:    1400000 kB\n")
