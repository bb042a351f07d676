# SPDX-License-Identifier: GPL-2.0-only
"""The folder that packages are put into: each file whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from secrets import token_hex

from lull.host.files import unwritable
from lull.host.named import MAY_WRITE


def put(source: Path, names: Iterable[str], folder: Path) -> list[Path]:
    """Copy files into the folder, over older ones; returns where they are."""
    placed = []
    for name in names:
        new = folder / f".{name}.{token_hex(4)}"
        try:
            shutil.copyfile(source / name, new)
            new.replace(folder / name)
        except OSError as error:
            raise unwritable(folder, MAY_WRITE, error) from error
        finally:
            new.unlink(missing_ok=True)
        placed.append(folder / name)
    return placed
