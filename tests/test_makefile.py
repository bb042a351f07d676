# SPDX-License-Identifier: GPL-2.0-only
"""What make passes on of the kernel that it is asked about."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

from lull.host.files import repo_root


def words(*asked: str) -> list[str]:
    """The last command of a goal; nothing is run."""
    own = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    done = subprocess.run(
        ["make", "--dry-run", "--no-print-directory", *asked],
        cwd=repo_root(),
        env={name: value for name, value in os.environ.items() if name not in own},
        capture_output=True,
        text=True,
        check=True,
    )
    return shlex.split(done.stdout.replace("\\\n", " ").splitlines()[-1])


@pytest.mark.parametrize("goal", ["run", "test", "proof", "packages", "soak"])
def test_each_is_of_the_base_that_is_named(goal: str) -> None:
    said = words(goal, "BASE=7.3")
    assert said[said.index("--base") + 1] == "7.3"
    assert said.count("--base") == 1


@pytest.mark.parametrize("goal", ["run", "test"])
def test_without_a_base_args_may_name_one(goal: str) -> None:
    assert "--base" not in words(goal)
    said = words(goal, "ARGS=--base 6.1")
    assert said[-2:] == ["--base", "6.1"] and said.count("--base") == 1


@pytest.mark.parametrize("goal", ["run", "test", "proof", "soak"])
def test_each_is_of_the_features_that_are_named(goal: str) -> None:
    said = words(goal, "FEATURE=attach zfree")
    named = [word for word in said if word in ("attach", "zfree")]
    assert named == ["attach", "zfree"]
    options = said.count("--feature")
    assert options == (2 if goal in ("test", "proof") else 0)


@pytest.mark.parametrize("goal", ["run", "test", "proof"])
def test_each_has_so_many_seeds(goal: str) -> None:
    said = words(goal, "SEEDS=3")
    assert said[said.index("--seeds") + 1] == "3"
