# SPDX-License-Identifier: GPL-2.0-only
"""What the names of steps mean, and that lab and kernel have the same."""

from __future__ import annotations

import re

import pytest

from lull.ask.catalog import features, parse
from lull.ask.job import job_text, jobs
from lull.ask.plan import Request, plan, repeat_command
from lull.ask.steps import ablated, draw, places, sets_of, steps_of
from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.model import Arm, Clock, Feature
from tests import synthetic

STEPS = """
[[steps]]
name = "dead"
text = "passes over the dead"
[[steps]]
name = "array"
text = "keeps those that are left"
[[steps]]
name = "kthreads"
text = "goes over kthreads alone"
needs = ["array"]
at = { workload = "sleepers", params = { sleepers = 50 }, metric = "total" }
"""


def feature(steps: str = STEPS) -> Feature:
    return parse(synthetic.TOML + steps, "walk", where="synthetic")


@pytest.mark.parametrize(
    ("word", "steps"),
    [
        ("lull", "dead,array,kthreads"),
        ("lull+dead", "dead"),
        ("lull+kthreads", "array,kthreads"),
        ("lull-dead", "array,kthreads"),
        ("lull-array", "dead"),
        ("lull=kthreads,dead", "dead,kthreads"),
        ("lull=none", "none"),
    ],
)
def test_what_a_name_stands_for(word: str, steps: str) -> None:
    assert steps_of(feature(), word) == steps


@pytest.mark.parametrize("word", ["lull+nope", "lull-", "lull=dead,nope", "lull="])
def test_a_step_that_nobody_has_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="unknown step of walk") as caught:
        steps_of(feature(), word)
    assert "dead, array, kthreads" in caught.value.hint


def test_the_whole_mode_has_its_steps_said_where_others_are() -> None:
    assert sets_of(feature(), ["stock", "lull"]) == {}
    assert sets_of(feature(), ["stock", "lull", "lull-array"]) == {
        "lull": "dead,array,kthreads",
        "lull-array": "dead",
    }


def test_a_drawn_set_is_the_seed_s_and_names_what_it_has() -> None:
    order = ["stock", *["lull?"] * 40]
    one = draw(feature(), order, 1)
    assert one == draw(feature(), order, 1) != draw(feature(), order, 2)
    assert one[0] == "stock"
    assert len(set(one[1:])) == 2**3
    assert all(sets_of(feature(), one)[word] == word[5:] for word in one[1:])


def test_ablation_measures_headlines_and_what_steps_name() -> None:
    found = ablated(feature())
    assert found.mode_names == (
        "stock",
        "lull",
        "lull=none",
        "lull+dead",
        "lull-dead",
        "lull+array",
        "lull-array",
        "lull+kthreads",
        "lull-kthreads",
    )
    assert [case.workload for case in found.cases] == ["zombies", "sleepers"]
    assert [place.metric for place in places(found)] == ["total", "total"]
    assert found.expectations == ()


def test_who_has_no_steps_cannot_be_taken_apart() -> None:
    with pytest.raises(UsageError, match="which steps walk has"):
        ablated(feature(""))


def test_a_job_says_which_steps_each_word_has() -> None:
    (job,) = jobs([ablated(feature())], seeds=[1], quick=True)
    for case in job.cases:
        assert set(case.order) == {"stock", *case.steps}
    lines = job_text(job).splitlines()
    assert "steps lull+kthreads array,kthreads" in lines
    at = lines.index("steps lull=none none")
    assert at < lines.index(next(line for line in lines if line.startswith("order")))


def test_all_of_it_is_in_one_kind_of_boot_on_either_clock() -> None:
    for clock in Clock:
        request = Request(
            features=(feature(),),
            base="6.12",
            clock=clock,
            quick=False,
            seeds=(1, 2),
            ablate=True,
        )
        boots = plan(request)
        assert [(b.arm, b.parallel) for b in boots] == [(Arm.LULL, False)] * 2
        assert "--ablate" in repeat_command(request)


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ('[[steps]]\nname = "A"\ntext = ""', "no lower-case word"),
        ('[[steps]]\nname = "none"\ntext = ""', "no lower-case word"),
        ('[[steps]]\nname = "a"\ntext = ""\nneeds = ["a"]', "no step before it"),
        (
            '[[steps]]\nname = "a"\ntext = ""\n'
            'at = { workload = "zombies", metric = "nope" }',
            "steps\\[0\\].at.metric: unknown",
        ),
        (
            '[[steps]]\nname = "a"\ntext = ""\n'
            'at = { workload = "sleepers", params = { sleepers = 7 },'
            ' metric = "total" }',
            "no case measures",
        ),
    ],
)
def test_what_a_feature_may_not_say_of_its_steps(steps: str, what: str) -> None:
    with pytest.raises(LabError, match=what):
        feature(steps)


def test_the_kernel_has_the_steps_that_the_lab_names() -> None:
    """In the kernel a step is an enumerator of LULL_STEPS()."""
    declared: dict[str, list[str]] = {}
    for path in repo_root().glob("features/*/kernel/**/*.h"):
        text = path.read_text()
        for upper, name, body in re.findall(
            r"^LULL_STEPS\((\w+), (\w+), \{(.*?)^\}\);", text, re.M | re.S
        ):
            words = re.findall(rf"LULL_{upper}_BY_(\w+),", body)
            declared[name] = [word.lower().replace("_", "-") for word in words]
    said = {f.name: [s.name for s in f.steps] for f in features() if f.steps}
    assert declared == said
    assert "freeze" in said
