# SPDX-License-Identifier: GPL-2.0-only
"""What the packages' kernels are configured to, and how that differs from Debian's.

Text in, text or records out: no I/O beyond naming the fragments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lull.deb.flavour import Flavour
from lull.kernels.config import parse_config

#: What the compiler and the other tools say of themselves.
_TOOLS = re.compile(
    r"CONFIG_(CC|GCC|CLANG|AS|LD|LLD|RUSTC|PAHOLE|BINDGEN)_"
    r"(VERSION|VERSION_TEXT|LLVM_VERSION|HAS_\w+|IS_\w+|CAN_\w+)$"
    r"|CONFIG_(RUST_IS_AVAILABLE|OPENSSL_SUPPORTS_\w+)$"
)


@dataclass(frozen=True)
class Difference:
    """A symbol that is not as Debian has it."""

    symbol: str
    debian: str  #: its value; ``n`` where there is none
    ours: str
    asked: bool  #: by a fragment of ours; else it follows from one


def fragments(root: Path) -> tuple[Path, ...]:
    """Ours, in the order in which they are merged over Debian's."""
    config = root / "kernel" / "config"
    own = sorted(root.glob("features/*/config"))
    return (config / "lull.config", *own, config / "deb.config")


def local_version(flavour: Flavour) -> str:
    """What follows the version in uname -r: -lull-cloud-amd64."""
    return f"-lull-{flavour}"


def identity(flavour: Flavour) -> str:
    """The fragment that names the kernel."""
    return f'CONFIG_LOCALVERSION="{local_version(flavour)}"\n'


def differences(debian: str, ours: str, asked: Iterable[str]) -> tuple[Difference, ...]:
    """How ``ours`` differs from ``debian``, both whole configurations.

    ``asked`` are our fragments. What the tools say of themselves is left out, and
    so is a symbol that is off and that the other does not know.
    """
    wishes = {symbol for text in asked for symbol in parse_config(text, "fragment")}
    old, new = parse_config(debian), parse_config(ours)
    found = []
    for symbol in sorted(old.keys() | new.keys()):
        before, after = old.get(symbol, "n"), new.get(symbol, "n")
        if before != after and not _TOOLS.match(symbol):
            found.append(Difference(symbol, before, after, symbol in wishes))
    return tuple(found)


def differences_text(found: Iterable[Difference], flavour: Flavour) -> str:
    """The differences for people: what was asked, then what follows from it."""
    found = tuple(found)
    lines = [f"# How this kernel's configuration differs from Debian's {flavour}."]
    for asked, title in ((True, "Asked for:"), (False, "What follows from that:")):
        lines += ["", f"# {title}"]
        lines += [
            f"{one.symbol}={one.ours} (Debian: {one.debian})"
            for one in found
            if one.asked is asked
        ]
    return "\n".join(lines) + "\n"
