# SPDX-License-Identifier: GPL-2.0-only
"""What a user named for what is going to be made: folders, and standard output."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex

from lull.host.files import unwritable

#: What the option of a file takes for standard output, and an argument for input.
STANDARD = Path("-")

#: What to do about a folder that cannot be written.
MAY_WRITE = "name a folder that you may write: -o DIR"


def need_folder(folder: Path) -> None:
    """Make the folder where it is not there. Raises UsageError where that, or a
    file in it, cannot be made: hours before there is something to put."""
    probe = folder / f".{token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise unwritable(folder, MAY_WRITE, error) from error
