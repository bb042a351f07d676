# SPDX-License-Identifier: GPL-2.0-only
"""How long tests take, so that the longest begin first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from lull.host.files import cache_root, write_file
from lull.proof.proof_json import Tried

#: Of a test with a boot in it that says nothing of itself.
_BOOT = 20.0


def recall() -> dict[str, float]:
    """Seconds by test, of those that took one; whatever is wrong there is nothing."""
    try:
        found = json.loads(_file().read_bytes())
        return {str(name): float(value) for name, value in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep(tests: Mapping[str, Tried]) -> None:
    """Remember those that took a second or more."""
    took = {
        name: test.seconds
        for name, test in tests.items()
        if test.seconds >= 1 and not test.remembered
    }
    if took:
        with suppress(OSError):
            text = json.dumps({**recall(), **took}, sort_keys=True)
            write_file(_file(), text.encode())


def expected(item: pytest.Item, known: Mapping[str, float]) -> float:
    """Seconds: as it took last, and at least what it says itself.

    What it took last may be little since what it builds was there, and is not now.
    """
    marker = item.get_closest_marker("seconds")
    if marker is not None:
        return max(float(marker.args[0]), known.get(item.nodeid, 0.0))
    if item.nodeid in known:
        return known[item.nodeid]
    return _BOOT if item.get_closest_marker("vm") else 0.0


def _file() -> Path:
    return cache_root() / "stamps" / "durations.json"
