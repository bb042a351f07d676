# SPDX-License-Identifier: GPL-2.0-only
"""Descriptions on their way into the guest."""

from __future__ import annotations

import pytest

from lull.errors import UsageError
from lull.model import Case, Job
from lull.trees.guest import guest_files
from lull.trees.reader import read


def job(seed: int, *names: str) -> Job:
    return Job(
        seed=seed,
        cases=tuple(
            Case(
                feature="devices", workload="cycle", params={"tree": name}, order=("a",)
            )
            for name in names
        ),
    )


def test_each_description_is_there_once_under_a_name_that_is_a_file_s() -> None:
    laptop = "file:features/devices/trees/laptop.tree"
    files = guest_files(job(1, laptop, "chain:n=3", laptop))
    assert list(files) == [
        "trees/chain:n=3",
        "trees/file:features_devices_trees_laptop.tree",
    ]
    assert len(read(files["trees/chain:n=3"], "it").devices) == 3


def test_a_random_one_has_the_job_s_seed_unless_it_has_one() -> None:
    def text(seed: int, name: str) -> bytes:
        return guest_files(job(seed, name))[f"trees/{name}"]

    assert text(1, "random") != text(2, "random")
    assert text(1, "random:n=9") != text(2, "random:n=9")
    assert text(1, "random:n=9,seed=5") == text(2, "random:n=9,seed=5")


def test_a_job_without_descriptions_brings_none() -> None:
    case = Case(feature="freeze", workload="zombies", order=("stock",))
    assert guest_files(Job(seed=1, cases=(case,))) == {}
    assert guest_files(job(1, "none")) == {}


def test_a_name_that_is_none_is_refused_before_anything_boots() -> None:
    with pytest.raises(UsageError, match="unknown shape"):
        guest_files(job(1, "tower"))
