# SPDX-License-Identifier: GPL-2.0-only
"""What a run is going to do, before it does it."""

from __future__ import annotations

import dataclasses

import pytest

from lull.ask.catalog import select
from lull.ask.plan import Request, describe, plan, repeat_command
from lull.errors import UsageError
from lull.model import Arm, Clock


@pytest.fixture
def request_() -> Request:
    return Request(
        features=select(["freeze"]),
        base="6.12",
        clock=Clock.INSN,
        quick=True,
        seeds=(1, 2, 3, 4, 5, 6),
        control=True,
    )


def test_each_seed_is_a_boot_of_both_kernels(request_: Request) -> None:
    boots = plan(request_)
    lull = [b.job.seed for b in boots if b.arm is Arm.LULL]
    stock = [b.job.seed for b in boots if b.arm is Arm.STOCK]
    assert lull == [1, 2, 3, 4, 5, 6]
    assert stock == lull
    assert [b.arm for b in boots[:4]] == [Arm.LULL, Arm.STOCK] * 2


def test_the_untouched_kernel_runs_what_is_compared_with_it(
    request_: Request,
) -> None:
    stock = next(b for b in plan(request_) if b.arm is Arm.STOCK)
    (case,) = stock.job.cases
    assert (case.workload, case.params) == ("zombies", {"zombies": 30000})
    assert set(case.order) == {"stock"}


def test_no_feature_is_measured_on_what_another_has_left(request_: Request) -> None:
    two = dataclasses.replace(request_, features=select(["freeze", "thaw"]), seeds=(1,))
    assert len([b for b in plan(two) if b.arm is Arm.LULL]) == 1
    whole = plan(dataclasses.replace(two, quick=False))
    of = [(b.arm, {case.feature for case in b.job.cases}) for b in whole]
    assert of == [
        (arm, {name}) for name in ("freeze", "thaw") for arm in (Arm.LULL, Arm.STOCK)
    ]
    assert whole[0].title == "lull kernel, freeze, seed 1"


def test_both_kernels_have_done_the_same_before_a_control(request_: Request) -> None:
    whole = dataclasses.replace(request_, features=select(["thaw"]), quick=False)
    lull, stock = plan(whole)[:2]
    assert (lull.arm, stock.arm) == (Arm.LULL, Arm.STOCK)
    first = [(c.workload, c.params) for c in lull.job.cases[: len(stock.job.cases)]]
    assert first == [(c.workload, c.params) for c in stock.job.cases]
    assert len(first) > 1


@pytest.mark.parametrize("clock", Clock)
def test_what_stays_on_until_the_next_boot_is_switched_on_last(
    request_: Request, clock: Clock
) -> None:
    """On 7.3 favordynmods leaves stock with locks of groups for good."""
    attach = dataclasses.replace(
        request_, features=select(["attach"]), clock=clock, quick=False, seeds=(1,)
    )
    for base, last in (("6.12", False), ("7.3", True)):
        boots = plan(dataclasses.replace(attach, base=base))
        params = [[case.params for case in boot.job.cases] for boot in boots]
        found = [[bool(p.get("favordynmods")) for p in one] for one in params]
        assert any(any(favours) for favours in found)
        for favours in found:
            assert not any(favours) or (favours == sorted(favours)) == last


def test_no_control_on_a_clock_that_no_expectation_is_about(
    request_: Request,
) -> None:
    wall = dataclasses.replace(request_, clock=Clock.WALL)
    assert {b.arm for b in plan(wall)} == {Arm.LULL}
    without = dataclasses.replace(request_, control=False)
    assert {b.arm for b in plan(without)} == {Arm.LULL}


def test_parallel_cases_come_last_in_boots_of_their_mode(request_: Request) -> None:
    zfree = dataclasses.replace(
        request_, features=select(["zfree"]), clock=Clock.WALL, quick=False, seeds=(7,)
    )
    first, *own = plan(zfree)
    assert not first.parallel
    assert "mode" not in first.title
    assert {b.mode for b in own} == {"stock", "locks", "deferred", "lull"}
    for boot in own:
        assert boot.parallel
        assert f"lull.zfree={boot.mode}" in boot.words
        assert {m for c in boot.job.cases for m in c.order} == {boot.mode}
        assert f"mode {boot.mode}, seed 7" in boot.title


def test_zswap_is_not_enabled_where_cpus_run_at_once(request_: Request) -> None:
    """That patches a static key: such a boot has it on from its start."""
    zfree = dataclasses.replace(
        request_, features=select(["zfree"]), clock=Clock.WALL, quick=False
    )
    with_zswap = [
        boot
        for boot in plan(zfree)
        if boot.parallel and any(c.params.get("zswap") for c in boot.job.cases)
    ]
    assert with_zswap
    for boot in with_zswap:
        assert "zswap.enabled=1" in boot.words
        assert all(c.params["zswap"] for c in boot.job.cases)


def test_workloads_and_modes_restrict(request_: Request) -> None:
    few = dataclasses.replace(request_, workloads=("sleepers",), modes=("lull",))
    boots = plan(few)
    assert {c.workload for b in boots for c in b.job.cases} == {"sleepers"}
    assert {m for b in boots for c in b.job.cases for m in c.order} == {"stock", "lull"}
    assert not plan(dataclasses.replace(request_, workloads=("sheep",)))
    with pytest.raises(UsageError):
        plan(dataclasses.replace(request_, modes=("fast",)))


@pytest.mark.parametrize(
    ("quick", "control", "word"),
    [
        (True, True, "--control"),
        (True, False, ""),
        (False, True, ""),
        (False, False, "--no-control"),
    ],
)
def test_a_control_that_is_not_the_default_is_said(
    request_: Request, quick: bool, control: bool, word: str
) -> None:
    asked = dataclasses.replace(request_, quick=quick, control=control)
    words = repeat_command(asked)
    assert [w for w in words if "control" in w] == [word] * bool(word)


def test_the_command_that_repeats_a_run_says_all_of_it(request_: Request) -> None:
    odd = dataclasses.replace(
        request_, seeds=(7, 8), modes=("lull",), workloads=("zombies",), control=False
    )
    assert " ".join(repeat_command(odd)) == (
        "lull run freeze --base 6.12 --clock insn --quick --seed 7 --seeds 2 "
        "--mode lull --workload zombies"
    )


def test_a_base_s_own_words_are_of_the_clock_insn(request_: Request) -> None:
    def commands(base: str, clock: Clock) -> list[str]:
        of = dataclasses.replace(request_, base=base, clock=clock, control=False)
        found = [
            line
            for line in describe(of)
            if "qemu-system" in line and not line.startswith("#")
        ]
        assert found
        return found

    assert all("maxcpus=1" in line for line in commands("6.1", Clock.INSN))
    for base, clock in (("6.12", Clock.INSN), ("6.1", Clock.WALL)):
        assert not any("maxcpus" in line for line in commands(base, clock))
