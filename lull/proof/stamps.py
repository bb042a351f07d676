# SPDX-License-Identifier: GPL-2.0-only
"""Verdicts of what boots nothing, remembered alike: compile, style, figures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from lull.proof.proof_json import SAID, VERDICT
from lull.proof.store import Remembered, Store


class Stamps:
    """The fixture ``stamp``: ``with stamp(parts) as new: if new: ...``."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    @contextmanager
    def __call__(self, parts: Mapping[str, str]) -> Iterator[bool]:
        """True where it has to be done; remembered when that raises nothing."""
        name = self._request.node.nodeid
        said: list[tuple[str, Any]] = self._request.node.user_properties
        store = Store(say=lambda text: said.append((SAID, text)))
        fresh = self._request.config.getoption("--fresh")
        known = None if fresh else store.recall(name, parts)
        told = {"remembered": known is not None, "tries": 0, "parts": dict(parts)}
        said.append((VERDICT, told))
        begun = time.monotonic()
        try:
            yield known is None
        except BaseException:
            store.forget(name, parts)
            raise
        if known is None:
            store.keep(
                Remembered(
                    id=name,
                    parts=parts,
                    how="done",
                    tries=0,
                    seed=0,
                    seconds=round(time.monotonic() - begun, 1),
                    when=datetime.now(UTC).isoformat(timespec="seconds"),
                )
            )
