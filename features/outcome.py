# SPDX-License-Identifier: GPL-2.0-only
"""How a boot of a safety test ended."""

from __future__ import annotations

from lull.errors import LullError
from lull.model import Check

#: The verdicts of a boot that came to its end, or what ended it.
Outcome = tuple[Check, ...] | LullError


def verdicts(outcome: Outcome) -> tuple[Check, ...]:
    """The verdicts; raises what ended the boot where it did not come to them."""
    if isinstance(outcome, LullError):
        raise outcome
    return outcome
