# SPDX-License-Identifier: GPL-2.0-only
"""The files that a run was asked for: its summary, and its promises as KTAP."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lull.ask.job import plans
from lull.ask.plan import Request
from lull.errors import LabError, LullError, UsageError
from lull.host.files import write_output
from lull.host.named import STANDARD
from lull.report import ktap
from lull.report.ktap import Point
from lull.report.promises import points_of, unjudged
from lull.runs.experiment import RunResult


def save(file: Path, text: str, result: RunResult) -> None:
    """Write what there is to say of a run that is done.

    Raises LabError where it cannot be written.
    """
    try:
        _write(file, text)
    except OSError as error:
        raise LabError(
            f"the run is done, but cannot be written here: {error.strerror or error}",
            where=str(file),
            hint=f"the same is in {result.folder / 'summary.json'}",
        ) from error


@contextmanager
def saved_promises(
    file: Path | None,
    requests: Sequence[Request],
    results: Sequence[RunResult],
    warn: Callable[[str], None],
) -> Iterator[None]:
    """Do the runs that are asked for in here; at the end their promises are in the
    file as KTAP, if one is named. ``results`` grows meanwhile, in their order.

    Where something is raised, which goes on, what did not come back has failed
    there: who reads the file alone, and finds that of the last run, would take it
    for this one's. A command that could not begin leaves it as it was.

    Raises LabError where it cannot be written; where another error is under way that
    is a warning.
    """
    try:
        yield
    except BaseException as error:
        if file is not None and (results or not isinstance(error, UsageError)):
            text = ktap.write([*_judged(results), *_not_back(requests, results, error)])
            try:
                _write(file, text)
            except OSError as failed:
                warn(f"{file} cannot be written: {failed.strerror or failed}")
        raise
    if file is not None:
        save(file, ktap.write(_judged(results)), results[-1])


def _write(file: Path, text: str) -> None:
    if file == STANDARD:
        sys.stdout.write(text)
    else:
        write_output(file, text.encode())


def _judged(results: Sequence[RunResult]) -> list[Point]:
    return [point for result in results for point in points_of(result.summary)]


def _not_back(
    requests: Sequence[Request], results: Sequence[RunResult], error: BaseException
) -> Iterator[Point]:
    """Of the run that was under way, and of those after it, which did not begin."""
    why = [_first_line(error)]
    for request in requests[len(results) :]:
        names = [
            feature.name
            for feature in request.measured
            if plans(feature, quick=request.quick, clock=request.clock)
        ]
        yield from unjudged(names, request.clock, request.absent, why)
        why = ["not begun, after:", _first_line(error)]


def _first_line(error: BaseException) -> str:
    said = str(error).strip().partition("\n")[0]
    if isinstance(error, LullError):
        return said
    name = type(error).__name__
    return f"{name}: {said}" if said else name
