# SPDX-License-Identifier: GPL-2.0-only
"""What helps without Lull, and what does not, as remedies.toml has it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lull.doctor.model import Remedy, Vain


@cache
def _all() -> tuple[Mapping[str, Remedy], Mapping[str, Vain]]:
    text = Path(__file__).with_name("remedies.toml").read_text("utf-8")
    found = tomllib.loads(text)
    remedies = [Remedy.model_validate(item) for item in found["remedies"]]
    vain = [Vain.model_validate(item) for item in found["vain"]]
    return {r.id: r for r in remedies}, {v.id: v for v in vain}


def remedy(name: str, **words: object) -> Remedy:
    """That one, with the words in the place of {}; KeyError for an unknown one."""
    found = _all()[0][name]
    new = {
        key: value.format(**words)
        for key, value in found.model_dump().items()
        if key in ("text", "command", "back")
    }
    return found.model_copy(update=new)


def vain(name: str) -> Vain:
    """That one; KeyError for an unknown one."""
    return _all()[1][name]
