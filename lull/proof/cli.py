# SPDX-License-Identifier: GPL-2.0-only
"""``lull soak`` and ``lull proofs``: tries that add up."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from math import isfinite
from typing import Annotated

import typer

from lull.ask.on_base import untried
from lull.ask.presence import select_on, why_not_tried
from lull.errors import ExpectationMissed, UsageError
from lull.host.process import run_alone
from lull.host.progress import open_progress
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.build import build
from lull.proof.ledger import by_statement, render, without_trial
from lull.proof.narrow import narrowed
from lull.proof.soak import counts, soak, soakable
from lull.proof.statements import numbers_of
from lull.proof.trial import Trial, of_features, trials
from lull.runs.standby import standing_by


def soak_command(
    features: Annotated[
        list[str] | None, typer.Argument(help="Features. [default: all]")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0, help="How long.")] = 60,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
) -> None:
    """Try what is random with new seeds until the time is over."""
    if not isfinite(minutes):
        raise UsageError(f"no number of minutes: {minutes}", hint="--minutes 600")
    found = _soakable_on(base, features or ())
    # Before hours in which somebody may edit what is read.
    without = _without_trial(base, features or ())
    with open_progress() as progress, ExitStack() as held:
        kernels, standbys = {}, {}
        for arm in dict.fromkeys(trial.arm for trial in found):
            progress.step(f"{base} {arm} kernel, built unless it was")
            kernel = kernels[str(arm)] = build(base, arm, progress.update)
            machine = standing_by(kernel, progress.note)
            standbys[str(arm)] = held.enter_context(machine)
        work = soak(found, kernels, standbys, base, minutes, progress.note)
        done = run_alone(work)
    _show(found, base, without)
    print(f"{done.tries} boots now, {done.without} trials without a verdict")
    if done.failed:
        raise ExpectationMissed(
            f"{len(done.failed)} trials failed:\n" + "\n".join(done.failed),
            hint="each again: is for pytest, which make test sets up; "
            "lull proofs has all counts",
        )


def _soakable_on(base: str, features: Iterable[str]) -> tuple[Trial, ...]:
    """What can be soaked on a base; UsageError for a feature that is not on it."""
    record, names = load_base(base), tuple(features)
    of_names = of_features(trials(), names)
    if names:
        select_on(record, names)
    found = soakable(of_names)
    return tuple(
        narrowed(trial, record)
        for trial in found
        if not why_not_tried((trial.feature, *trial.needs), record)
        and trial.name not in untried(trial.feature, record)
    )


def proofs_command(
    features: Annotated[
        list[str] | None, typer.Argument(help="Features. [default: all]")
    ] = None,
    base: Annotated[str, typer.Option(help="Which kernel.")] = DEFAULT_BASE,
) -> None:
    """Show how often each statement was tried here, and how it went."""
    names = features or ()
    _show(_soakable_on(base, names), base, _without_trial(base, names))


def _without_trial(base: str, features: Iterable[str]) -> tuple[str, ...]:
    """The statements of these features, or of all on a base, that no trial there
    tries. A pair of features has its statements together: either's trials count."""
    names = {one.name for one in select_on(load_base(base), features)}
    return without_trial(numbers_of(names), _soakable_on(base, ()))


def _show(found: tuple[Trial, ...], base: str, without: Iterable[str]) -> None:
    tried = counts(found, base)
    sys.stdout.write(render(tried, by_statement(tried, found), without))
