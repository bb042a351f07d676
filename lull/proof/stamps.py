# SPDX-License-Identifier: GPL-2.0-only
"""Verdicts of what boots nothing, remembered alike: compile, style, figures.

They are not where what they depend on was written while the check ran: it may have
been done to the old text or to the new one. A test reads that before ``with``, and
itself: what was read then is looked at again, and a check that reads more has failed.
Nor where a module that it may have was written since this process began.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lull.host.files import cache_root, repo_root
from lull.proof.key import COMMAND, rewritten
from lull.proof.proof_json import SAID, VERDICT
from lull.proof.reads import Reads, watching
from lull.proof.store import Remembered, Store


class Stamps:
    """The fixture ``stamp``: ``with stamp(parts) as new: if new: ...``."""

    def __init__(self, request: pytest.FixtureRequest, reads: Reads) -> None:
        self._request = request
        self._reads = reads

    @contextmanager
    def __call__(self, parts: Mapping[str, str]) -> Iterator[bool]:
        """True where it has to be done; remembered when that raises nothing, and
        all files that ``parts`` are of have stayed as they were.

        AssertionError: it has read a file that they are not of."""
        seen = self._reads.so_far()
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
            if known is None and (more := self._meant(self._reads.more(seen))):
                text = "it was read, and is not in what this is remembered under"
                raise AssertionError(f"{name}: {more[0]}: {text}")
        except BaseException:
            store.forget(name, parts)
            raise
        if known is not None:
            return
        if changed := [*self._meant(self._reads.changed(seen)), *self._rewritten()]:
            text = f"{name}: not remembered: {changed[0]} changed meanwhile"
            said.append((SAID, text))
            return
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

    def _rewritten(self) -> list[str]:
        """Modules that its test has, or a command of the lab."""
        root, own = repo_root(), self._request.path
        start = [own.relative_to(root).as_posix()] if own.is_relative_to(root) else []
        return rewritten(root, *start, COMMAND)

    def _meant(self, names: list[str]) -> list[str]:
        """Of these the project's: the cache, and folders for what is only tried, may
        be in the checkout as well."""
        factory: pytest.TempPathFactory
        factory = self._request.getfixturevalue("tmp_path_factory")
        root, made = repo_root(), factory.getbasetemp()
        places = (cache_root(), made, Path(tempfile.gettempdir()))
        beside = [p for p in places if p.is_relative_to(root) and p != root]
        return [
            name
            for name in names
            if not any((root / name).is_relative_to(place) for place in beside)
        ]


@contextmanager
def stamping(request: pytest.FixtureRequest) -> Iterator[Stamps]:
    """Watches what the test reads of the checkout, from before its first line on."""
    with watching(repo_root()) as reads:
        yield Stamps(request, reads)
