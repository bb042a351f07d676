# SPDX-License-Identifier: GPL-2.0-only
"""The folder that a series is written to: there whole, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from lull.errors import UsageError
from lull.host.files import unwritable, write_file


def refuse(folder: Path) -> None:
    """Raise UsageError where a series cannot be written to this folder."""
    place = folder.resolve()
    if place == Path.cwd().resolve():
        why, hint = "this is the folder that you are in", "name a new one: -o DIR"
    elif not place.exists():
        return
    elif not place.is_dir():
        why, hint = "this is a file", "name a new folder: -o DIR"
    elif any(place.iterdir()):
        why, hint = "the folder is not empty", "name a new one, or remove what is in it"
    else:
        return
    raise UsageError(why, where=str(folder), hint=hint)


def publish(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, by their names below ``folder``, and only then call it that.

    Whoever is killed meanwhile leaves a folder of another name beside it, which
    begins with a dot. Raises UsageError where nothing can be written, or where
    somebody else has put something there since ``refuse``.
    """
    place = folder.resolve()
    new = place.with_name(f".{place.name}.{token_hex(4)}.part")
    try:
        for name, data in files.items():
            write_file(new / name, data)
        new.rename(place)
    except OSError as error:
        hint = "name a folder that you may write: -o DIR"
        raise unwritable(folder, hint, error) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
