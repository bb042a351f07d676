# SPDX-License-Identifier: GPL-2.0-only
"""The folder that packages are put into: each file whole or not at all."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path
from secrets import token_hex

from lull.host.files import shown_path, unwritable

_HINT = "name a folder that you may write: -o DIR"


def need_folder(folder: Path) -> None:
    """Make the folder where it is not there. Raises UsageError where that, or a
    file in it, cannot be made: hours before there is something to put."""
    probe = folder / f".{token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise unwritable(folder, _HINT, error) from error


def install_text(paths: Iterable[Path]) -> str:
    """The command that installs these packages, whatever else is in their folder."""
    words = []
    for path in paths:
        if path.suffix == ".deb":
            shown = shown_path(path)
            # A name without a slash would be a package of the archive's.
            words.append(shlex.quote(shown if shown.startswith("/") else f"./{shown}"))
    command = " \\\n        ".join(["sudo apt install", *words])
    return f"To install these, and nothing else that is there:\n    {command}"


def put(source: Path, names: Iterable[str], folder: Path) -> list[Path]:
    """Copy files into the folder, over older ones; returns where they are."""
    placed = []
    for name in names:
        new = folder / f".{name}.{token_hex(4)}"
        try:
            shutil.copyfile(source / name, new)
            new.replace(folder / name)
        except OSError as error:
            raise unwritable(folder, _HINT, error) from error
        finally:
            new.unlink(missing_ok=True)
        placed.append(folder / name)
    return placed
