# SPDX-License-Identifier: GPL-2.0-only
"""A trial as it is tried on a base."""

from __future__ import annotations

from lull.ask.presence import native_modes
from lull.ask.steps import STOCK
from lull.kernels.bases import Base
from lull.proof.trial import Trial


def tried_on(trial: Trial, base: Base) -> Trial:
    """The trial, in ``stock`` where it is in a mode that the base is in by itself:
    what has to hold is tried of the kernel's own way."""
    native = native_modes(trial.feature, base)
    if not native:
        return trial
    cases = (
        case.model_copy(
            update={
                "modes": " ".join(
                    STOCK if word in native else word for word in case.modes.split()
                )
            }
        )
        for case in trial.cases
    )
    return trial.model_copy(update={"cases": tuple(cases)})
