# SPDX-License-Identifier: GPL-2.0-only
"""How long work reports: a text, how much is done, and of how much.

``total`` is 0 where nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable

Update = Callable[[str, int, int], None]


def silent(text: str, done: int, total: int) -> None:
    """Report to nobody."""
