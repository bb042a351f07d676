# SPDX-License-Identifier: GPL-2.0-only
"""What has failed can be repeated, and is tried again until it passes."""

from __future__ import annotations

import pytest

from lull.host.files import repo_root
from lull.proof import plugin, repeat
from lull.proof.attempt import TRIES
from lull.proof.faults import Result
from lull.proof.trial import trials
from tests.proof.conftest import Guests, Run


def test_it_is_the_failing_boot_s_seed_that_is_tried_next(
    run: Run, guests: Guests
) -> None:
    guests.results["A"], guests.boots = Result.FAIL, 3
    run()
    run()
    assert [seed for name, seed in guests.tried if name == "A"] == [1, 3]


def test_a_seed_that_failed_at_one_size_is_not_settled_at_another(
    run: Run, guests: Guests
) -> None:
    guests.boots = 1
    run("--size", "proof").assert_outcomes(passed=3)
    guests.results["A"] = Result.FAIL
    run("--seed", "77", "--size", "proof", "f/safety.toml::A")
    guests.results.clear()
    guests.tried.clear()
    # Once at this size, which settles it here, and then at the one it failed at.
    run().assert_outcomes(passed=2)
    run().assert_outcomes(passed=2)
    assert guests.tried == [("A", 77)]
    run("--size", "proof").assert_outcomes(passed=3)
    assert guests.tried[1:] == [("A", 77)]
    run("--size", "proof").assert_outcomes(passed=3)
    assert len(guests.tried) == 2


def test_a_seed_that_failed_where_each_boots_is_not_settled_by_a_resumed_guest(
    run: Run, guests: Guests
) -> None:
    guests.boots = 1
    guests.results["A"] = Result.FAIL
    run("--boot-each", "--seed", "77", "f/safety.toml::A").assert_outcomes(failed=1)
    guests.results.clear()
    guests.tried.clear()
    run("f/safety.toml::A")
    run("--boot-each", "f/safety.toml::A")
    assert guests.tried == [("A", 1), ("A", 77)]


def test_a_failure_ends_with_the_command_that_repeats_it(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LULL_ACCEL", raising=False)
    guests.results = {"A": Result.FAIL, "A without b": Result.LUCKY}
    said = run().stdout.str()
    assert "again: .venv/bin/python -m pytest f/safety.toml::A --seed 2\n" in said
    command = ".venv/bin/python -m pytest 'f/safety.toml::A without b' --seed 2"
    assert f"again: {command}\n" in said
    monkeypatch.setenv("LULL_ACCEL", "tcg")
    monkeypatch.setattr(plugin, "why_not_tried", lambda names, base: "")
    words = ("--size", "proof", "--base", "7.3", "--boot-each")
    said = run(*words, "--seeds", "2", "f/safety.toml").stdout.str()
    again = "again: LULL_ACCEL=tcg .venv/bin/python -m pytest"
    assert f"{again} f/safety.toml::A {' '.join(words)} --seed 8\n" in said


def test_a_seed_is_tried_once_whatever_is_remembered(run: Run, guests: Guests) -> None:
    run()
    assert guests.most == [TRIES, TRIES]
    guests.tried.clear()
    guests.boots = 1
    run("--seed", "123456", "f/safety.toml::A").assert_outcomes(passed=1)
    run("--seed", "0", "f/safety.toml::A").assert_outcomes(passed=1)
    assert guests.tried == [("A", 123456), ("A", 0)]
    assert guests.most[2:] == [1, 1]


def test_one_boot_without_a_verdict_forgets_none(run: Run, guests: Guests) -> None:
    run()
    guests.results["A"] = Result.NONE
    run("--seed", "9", "f/safety.toml::A").assert_outcomes(failed=1)
    guests.tried.clear()
    run().assert_outcomes(passed=2)
    assert not guests.tried
    guests.results["A"] = Result.FAIL
    run("--seed", "9", "f/safety.toml::A").assert_outcomes(failed=1)
    run().assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seed", "7", "--seeds", "1"), "*--seed 7 is that one seed, --seeds 1 is *"),
        (("--seed", "-1"), "*--seed -1: a seed is 0 or more"),
    ],
)
def test_seeds_that_cannot_be_tried_are_refused(
    run: Run, guests: Guests, words: tuple[str, ...], said: str
) -> None:
    done = run(*words)
    assert done.ret == pytest.ExitCode.USAGE_ERROR and not guests.tried
    done.stderr.fnmatch_lines([said])


def test_each_trial_s_file_is_found() -> None:
    for trial in trials():
        path = repo_root() / repeat.file_of(trial, repo_root())
        assert f'name = "{trial.name}"' in path.read_text()
