# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.ask.job import block_of, job_text, jobs, order, own_boots, plans
from lull.errors import LabError, UsageError
from lull.model import Arm, Case, CaseSpec, Clock, Feature, Job
from tests import synthetic

MODES = st.lists(
    st.sampled_from(["stock", "a", "b", "c", "lull"]), min_size=1, unique=True
)


@given(MODES, st.integers(1, 9), st.integers())
def test_every_mode_gets_its_rounds_in_mirrored_blocks(
    modes: list[str], rounds: int, seed: int
) -> None:
    words = order(modes, rounds, seed)
    assert all(words.count(mode) == rounds for mode in modes)
    size = 2 * len(modes)
    for start in range(0, len(words), size):
        block = words[start : start + size]
        assert sorted(block[: len(modes)]) == sorted(modes)
        if len(block) == size:
            assert block == block[::-1]
        assert {block_of(i, len(modes)) for i in range(start, start + size)} == {
            start // size
        }


@given(MODES, st.integers(1, 4), st.integers())
def test_a_linear_drift_cancels(modes: list[str], pairs: int, seed: int) -> None:
    words = order(modes, 2 * pairs, seed)
    places = [sum(i for i, w in enumerate(words) if w == mode) for mode in modes]
    assert len(set(places)) == 1


def test_the_seed_decides_the_order() -> None:
    modes = ["stock", "a", "b", "lull"]
    assert order(modes, 4, 7) == order(modes, 4, 7)
    assert len({order(modes, 2, seed) for seed in range(50)}) > 10
    blocks = order(modes, 20, 1)
    assert len({blocks[i : i + 8] for i in range(0, 80, 8)}) > 1


@pytest.mark.parametrize(
    ("modes", "rounds"), [([], 1), (["a", "a"], 1), (["a"], 0), (["a"], -1)]
)
def test_an_order_of_nothing_is_refused(modes: list[str], rounds: int) -> None:
    with pytest.raises(UsageError):
        order(modes, rounds, 0)


def test_the_text_of_a_job_is_that_of_the_contract() -> None:
    case = Case(
        feature="freeze",
        workload="zombies",
        params={"zombies": 30000},
        warmup=1,
        order=("stock", "exit_state", "lull", "lull", "exit_state", "stock"),
    )
    assert job_text(Job(seed=7, cases=(case,))) == (
        "lull-job 1\n"
        "seed 7\n"
        "case 0 freeze zombies\n"
        "param zombies 30000\n"
        "warmup 1\n"
        "order stock exit_state lull lull exit_state stock\n"
        "end\n"
    )


@pytest.mark.parametrize(
    "word", ["a b", "a\nend", "", "a#b", "a\tb", "a\x00", "\u2028"]
)
def test_a_word_that_would_break_the_job_is_refused(word: str) -> None:
    good = Case(feature="f", workload="w", params={"p": "v"}, order=("stock",))
    for change in (
        {"feature": word},
        {"workload": word},
        {"params": {word: 1}},
        {"params": {"p": word}},
        {"order": ("stock", word)},
    ):
        job = Job(seed=0, cases=(good.model_copy(update=change),))
        with pytest.raises(LabError, match="not a word"):
            job_text(job)


def test_jobs_are_one_boot_a_seed_with_every_case() -> None:
    feature = synthetic.feature()
    made = jobs([feature], seeds=[3, 5])
    assert [job.seed for job in made] == [3, 5]
    zombies, sleepers = made[0].cases
    assert zombies.params == {"zombies": 30000, "mix": "a:1,b:1"}
    assert len(zombies.order) == 2 * 3
    assert len(sleepers.order) == 4 * 3
    quick = jobs([feature], seeds=[3], quick=True)
    assert [case.workload for case in quick[0].cases] == ["zombies"]
    assert quick[0].cases[0] == zombies


def test_modes_can_be_chosen_and_stock_stays() -> None:
    feature = synthetic.feature()
    (job,) = jobs([feature], seeds=[1], modes=["lull"])
    assert set(job.cases[0].order) == {"stock", "lull"}
    with pytest.raises(UsageError, match="unknown mode of walk"):
        jobs([feature], seeds=[1], modes=["nope"])


def test_the_untouched_kernel_knows_stock_only() -> None:
    (job,) = jobs([synthetic.feature()], seeds=[1], arm=Arm.STOCK)
    assert [case.order for case in job.cases] == [("stock",) * 2, ("stock",) * 4]


def with_own_boots() -> Feature:
    """The synthetic feature with its second case parallel, and a third in words."""
    feature = synthetic.feature()
    zombies, sleepers = feature.cases
    parallel = sleepers.model_copy(update={"parallel": True})
    words = CaseSpec(
        workload="sleepers", params={"sleepers": 9}, words=("preempt=full",)
    )
    return feature.model_copy(update={"cases": (zombies, parallel, words)})


def test_a_parallel_case_has_a_boot_a_mode_on_wall_and_none_on_insn() -> None:
    feature = with_own_boots()
    (shared,) = jobs([feature], seeds=[1], clock=Clock.WALL)
    assert [case.workload for case in shared.cases] == ["zombies"]
    (shared,) = jobs([feature], seeds=[1], clock=Clock.INSN)
    assert [case.workload for case in shared.cases] == ["zombies", "sleepers"]

    boots = [b for b in own_boots(feature, seed=1, clock=Clock.WALL) if b.mode]
    assert {b.mode for b in boots} == {"stock", "quick", "lull"}
    for boot in boots:
        (case,) = boot.job.cases
        assert case.order == (boot.mode,) * 4
        assert boot.words == (f"lull.walk={boot.mode}",)


def test_a_scenario_s_parallel_boot_has_the_mode_in_each_of_its_features() -> None:
    feature = with_own_boots().model_copy(update={"switches": ("freeze", "thaw")})
    boots = [b for b in own_boots(feature, seed=1, clock=Clock.WALL) if b.mode]
    assert [b.words for b in boots] == [
        (f"lull.freeze={b.mode}", f"lull.thaw={b.mode}") for b in boots
    ]


def test_words_make_a_boot_of_all_modes() -> None:
    (boot,) = own_boots(with_own_boots(), seed=1, clock=Clock.INSN)
    assert (boot.mode, boot.words) == ("", ("preempt=full",))
    (case,) = boot.job.cases
    assert case.params["sleepers"] == 9
    assert set(case.order) == {"stock", "quick", "lull"}


def test_a_boot_warms_a_workload_up_once() -> None:
    feature = synthetic.feature()
    plan = feature.cases[1].model_copy(update={"parallel": True})
    more = plan.model_copy(update={"params": {"sleepers": 9}})
    feature = feature.model_copy(update={"cases": (plan, more)})
    boot = next(own_boots(feature, seed=1, clock=Clock.WALL))
    assert [case.warmup for case in boot.job.cases] == [1, 0]


def test_a_case_of_one_clock_is_not_measured_on_the_other() -> None:
    feature = synthetic.feature()
    zombies, sleepers = feature.cases
    only = sleepers.model_copy(update={"clock": Clock.WALL})
    feature = feature.model_copy(update={"cases": (zombies, only)})
    assert plans(feature, quick=False, clock=Clock.INSN) == (zombies,)
    assert plans(feature, quick=False, clock=Clock.WALL) == (zombies, only)


def test_quick_can_be_one_clock() -> None:
    feature = synthetic.feature()
    only = feature.cases[0].model_copy(update={"quick": Clock.INSN})
    feature = feature.model_copy(update={"cases": (only,)})
    assert plans(feature, quick=True, clock=Clock.INSN) == (only,)
    assert plans(feature, quick=True, clock=Clock.WALL) == ()
    assert plans(feature, quick=False, clock=Clock.WALL) == (only,)
