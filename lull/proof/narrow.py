# SPDX-License-Identifier: GPL-2.0-only
"""A trial as it is tried on a base on which some of its cases cannot come out.

Another job, and so another verdict than that of the whole trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lull.ask.on_base import Partly, partly
from lull.errors import LabError
from lull.kernels.bases import Base
from lull.proof.trial import Trial, TrialCase


def narrowed(trial: Trial, base: Base, root: Path | None = None) -> Trial:
    """What of the trial is tried on the base; the trial itself where that is all.

    Raises LabError where what is left out is not there, or is all there is.
    """
    part = partly(trial.feature, base, root).get(trial.name)
    if part is None:
        return trial
    left = tuple(_left(trial, part))
    if not left or left == trial.cases:
        what = "everything" if not left else "nothing"
        raise LabError(f"partly {trial.name!r} leaves {what} out", where=base.name)
    return trial.model_copy(update={"cases": left, "checks": part.checks})


def _left(trial: Trial, part: Partly) -> Iterator[TrialCase]:
    for case in trial.cases:
        modes = [word for word in case.modes.split() if word not in part.modes]
        asked = any(case.params.get(name) for name in part.params)
        if case.run not in part.runs and not asked and modes:
            yield case.model_copy(update={"modes": " ".join(modes)})
