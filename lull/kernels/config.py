# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's configuration, and the proof that it is what was asked for.

Kconfig drops, without a word that stops a build, whatever has an unmet
dependency. A measurement of a kernel that lacks an option would be a
measurement of something else, so each line of the fragments is held against
the result.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from lull.errors import LabError

_SET = re.compile(r"^(CONFIG_\w+)=(.*)$")
_UNSET = re.compile(r"^# (CONFIG_\w+) is not set$")


def parse_config(text: str, where: str = "") -> dict[str, str]:
    """A config's symbols and values; ``n`` for one that is not set.

    In a fragment (``where`` given) a line that is none of value, comment and
    blank is an error: a typing mistake must not read as a comment.
    """
    values: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if match := _SET.match(line):
            values[match[1]] = match[2]
        elif match := _UNSET.match(line):
            values[match[1]] = "n"
        elif where and line.strip() and not line.startswith("#"):
            raise LabError(f"not a config line: {line!r}", where=f"{where}:{number}")
    return values


def check_config(
    fragments: Iterable[tuple[str, str]], result: str, absent: Collection[str] = ()
) -> None:
    """Raise LabError naming every wish that the result does not grant.

    ``fragments`` are (name, text) in the order they were merged; where two
    speak of one symbol, the later one counts. ``absent`` are symbols that this
    kernel is known not to have, and need not take.
    """
    wishes: dict[str, tuple[str, str]] = {}
    for name, text in fragments:
        for symbol, value in parse_config(text, name).items():
            wishes[symbol] = (value, name)
    got = parse_config(result)
    missed = [
        f"    {symbol}={value} ({name}): is {got.get(symbol, 'not there')}"
        for symbol, (value, name) in wishes.items()
        if symbol not in absent and got.get(symbol, "n") != value
    ]
    if missed:
        raise LabError(
            f"{len(missed)} configuration symbols did not take\n" + "\n".join(missed),
            where="config",
            hint="look for their dependencies in the kernel's Kconfig files",
        )


def merge_command(source: Path, obj: Path, fragments: Iterable[Path]) -> list[str]:
    """Merge the fragments over the .config that is in ``obj``."""
    script = str(source / "scripts" / "kconfig" / "merge_config.sh")
    config = str(obj / ".config")
    return [script, "-m", "-O", str(obj), config, *map(str, fragments)]
