# SPDX-License-Identifier: GPL-2.0-only
"""The boots of safety tests, and how they end."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lull.boot import Boot, boot
from lull.errors import GuestPanic, LullError, NoPort
from lull.kernels.record import Kernel
from lull.model import Case, Check, Clock, Job, Value
from lull.vm.accel import choose

#: The verdicts of a boot that came to its end, or what ended it.
Outcome = tuple[Check, ...] | LullError


#: How boots ended, by their names.
Outcomes = Mapping[str, Outcome]


#: What runs them: conftest's run_boots.
Boots = Callable[[Mapping[str, tuple[Case, ...]]], Outcomes]


def cases_of(feature: str) -> Callable[..., Case]:
    """What makes the cases of a feature: ``case(workload, *modes, **params)``."""

    def case(workload: str, *modes: str, **params: Value) -> Case:
        return Case(feature=feature, workload=workload, params=params, order=modes)

    return case


def verdicts(outcome: Outcome) -> tuple[Check, ...]:
    """The verdicts; raises what ended the boot where it did not come to them."""
    if isinstance(outcome, LullError):
        raise outcome
    return outcome


def assert_held(outcome: Outcome, *names: str) -> None:
    """The verdicts are there, of those names in that order, and good."""
    checks = verdicts(outcome)
    said = "\n".join(check.text for check in checks)
    assert tuple(check.name for check in checks) == names, said
    assert all(check.ok for check in checks), said


#: Names of boots that lack a safeguard end in this. That they fail at all is what
#: is to be shown: who is lucky once gets another boot, and it is said.
BROKEN = "broken"
TRIES = 3


def is_seen(outcome: Outcome) -> bool:
    """The workload has found the fault, or the kernel has."""
    if isinstance(outcome, GuestPanic):
        return True
    return not all(check.ok for check in verdicts(outcome))


def assert_seen(outcome: Outcome) -> None:
    """The fault was found; else what the workload said."""
    assert is_seen(outcome), "\n".join(check.text for check in verdicts(outcome))


async def boot_cases(
    kernel: Kernel,
    cases: tuple[Case, ...],
    folder: Path,
    allow: Sequence[str] = (),
    extra: Mapping[str, bytes] | None = None,
    clock: Clock = Clock.WALL,
) -> Boot:
    """One boot with cases that report checks; raises as ``lull.boot.boot``.

    Again where a busy host had the guest's devices ready too late.
    """
    again = 0
    while True:
        try:
            done = await boot(
                kernel,
                Job(seed=1, cases=cases),
                clock=clock,
                accel="tcg" if clock is Clock.INSN else choose(kernel.bzimage).accel,
                folder=folder,
                allow=allow,
                extra=extra,
            )
        except NoPort as error:
            again += 1
            if again == TRIES:
                raise
            warnings.warn(error.what, stacklevel=1)
            continue
        assert done.stream.done
        return done
