# SPDX-License-Identifier: GPL-2.0-only
"""What has failed: the command that repeats it, and the seed to begin with next."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from lull.ask.catalog import ROOMS
from lull.kernels.bases import DEFAULT_BASE
from lull.proof.attempt import Attempt
from lull.proof.store import Store
from lull.proof.trial import Size, Trial
from lull.vm.accel import ACCEL_VARIABLE


def last_seed(done: Attempt) -> int:
    """The seed of the boot that the result is of."""
    return done.seed + done.tries - 1


def command(
    trial: Trial, file: str, size: Size, base: str, seed: int, *, boot_each: bool
) -> str:
    """What repeats one boot, from the checkout's root.

    ``file`` is the trial's safety.toml. It names what differs from how pytest tries
    it by itself.
    """
    words = [".venv/bin/python", "-m", "pytest", f"{file}::{trial.name}"]
    if size is not Size.TEST:
        words += ["--size", size.value]
    if base != DEFAULT_BASE:
        words += ["--base", base]
    if boot_each:
        words.append("--boot-each")
    accel = os.environ.get(ACCEL_VARIABLE)
    with_it = f"{ACCEL_VARIABLE}={shlex.quote(accel)} " if accel else ""
    return with_it + shlex.join([*words, "--seed", str(seed)])


def file_of(trial: Trial, root: Path) -> str:
    """The safety.toml that a trial of the checkout is in, below ``root``."""
    places = [f"{room}/{trial.feature}/safety.toml" for room in ROOMS]
    return next((p for p in places if (root / p).is_file()), places[0])


def verdict_name(base: str, trial: Trial) -> str:
    """What the trial's verdict is kept under: ``6.12 freeze: FZ1``."""
    return f"{base} {trial.id}"


def doubt_id(name: str, size: Size, *, boot_each: bool) -> str:
    """What a doubt is of. ``name`` is the verdict's.

    With another size the same seed tries something else: that it passes there
    settles nothing.
    """
    return f"{name}, size {size}" + (", each booted" if boot_each else "")


def doubt(
    store: Store, trial: Trial, name: str, size: Size, seed: int, *, boot_each: bool
) -> None:
    """Have that seed tried first the next time, at each size that the trial has.

    Each settles its own. At another size than it failed at, an older doubt stays.
    """
    for other in Size:
        id = doubt_id(name, other, boot_each=boot_each)
        if other is size or (
            store.doubted(id) is None and not (trial.proof and other is Size.TEST)
        ):
            store.doubt(id, seed)
