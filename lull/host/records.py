# SPDX-License-Identifier: GPL-2.0-only
"""Files of data in the tree, read as the records that they are."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lull.errors import LabError

M = TypeVar("M", bound=BaseModel)


def read_toml(path: Path, model: type[M]) -> M:
    """The record of a file. Raises LabError with the file and the field."""
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"cannot be read: {error}", where=str(path)) from error
    return parse_toml(text, model, where=str(path))


def parse_toml(text: str, model: type[M], *, where: str) -> M:
    """Likewise of its text; ``where`` is the file's name for messages."""
    try:
        return model.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"not TOML: {error}", where=where) from error
    except ValidationError as error:
        problems = [f"{_dotted(e['loc'])}: {e['msg']}" for e in error.errors()]
        raise LabError("; ".join(problems), where=where) from error


def _dotted(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".") or "file"
