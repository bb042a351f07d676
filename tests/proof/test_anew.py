# SPDX-License-Identifier: GPL-2.0-only
"""Which of the remembered verdicts a run tries anew."""

from __future__ import annotations

import pytest

from lull.errors import CannotRun
from lull.proof import items, plugin
from tests.proof.conftest import Guests, Run

SHARE = items.ANEW
NAMES = [f"6.12 freeze: FZ{n}" for n in range(202)]


@pytest.mark.parametrize(
    ("of", "drawn"), [(0, 0), (1, 1), (33, 1), (50, 1), (51, 2), (200, 4), (202, 5)]
)
def test_a_share_is_drawn_and_one_at_least(of: int, drawn: int) -> None:
    found = items.draw(NAMES[:of], "a run")
    assert len(found) == drawn and found <= set(NAMES[:of])


def test_who_has_the_same_names_draws_the_same_whatever_their_order() -> None:
    found = items.draw(NAMES, "a run")
    assert items.draw(NAMES[::-1], "a run") == found
    assert items.draw(NAMES, "another run") != found


def test_one_that_is_not_drawn_changes_nothing() -> None:
    found = items.draw(NAMES[:200], "a run")
    left = sorted(set(NAMES[:200]) - found)
    assert items.draw([*found, *left[1:]], "a run") == found


def test_in_many_runs_each_is_drawn() -> None:
    names = NAMES[:10]
    assert set().union(*(items.draw(names, f"{n}") for n in range(200))) == set(names)


@pytest.fixture
def share(guests: Guests, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a real run."""
    monkeypatch.setattr(items, "ANEW", SHARE)


@pytest.mark.usefixtures("share")
def test_a_narrow_run_tries_one_too(run: Run, guests: Guests) -> None:
    run().stdout.no_fnmatch_line("*tried anew*")
    assert len(guests.tried) == 2
    for n in range(3, 6):
        done = run()
        done.assert_outcomes(passed=2)
        done.stdout.fnmatch_lines(["6.12 f: *: tried anew with seed *"])
        done.stdout.fnmatch_lines(["1 of 2 verdicts remembered, 2 boots made; *"])
        assert len(guests.tried) == n


@pytest.mark.usefixtures("share")
def test_what_is_left_out_or_skipped_is_not_drawn(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    guests.tried.clear()
    for _ in range(3):
        run("-k", "without").assert_outcomes(passed=1, deselected=1)
    assert guests.names == ["A without b"] * 3
    why = {"A without b": "its b is the kernel's own"}
    monkeypatch.setattr(plugin, "untried", lambda name, base: why)
    monkeypatch.setattr(plugin, "why_not_tried", lambda names, base: "")
    for _ in range(3):
        run().assert_outcomes(passed=1, skipped=1)
    assert guests.names[3:] == ["A"] * 3


@pytest.mark.usefixtures("share")
def test_what_is_tried_for_another_reason_is_not_drawn(
    run: Run, guests: Guests
) -> None:
    """What has failed; and all, where that was asked for."""
    run()
    guests.results["A"] = items.Result.FAIL
    run("--fresh", "-k", "not without").stdout.no_fnmatch_line("*tried anew*")
    guests.results.clear()
    guests.tried.clear()
    run().stdout.fnmatch_lines(["6.12 f: A without b: tried anew with seed 1"])
    assert sorted(guests.names) == ["A", "A without b"]
    run("--seed", "7").stdout.no_fnmatch_line("*tried anew*")


@pytest.mark.usefixtures("share")
def test_where_nothing_can_be_remembered_nothing_is_looked_for(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look would fetch the kernel's sources before the first test."""
    monkeypatch.setattr(plugin, "cached", lambda base, cache: None)
    monkeypatch.setattr(items.TrialItem, "is_remembered", None)
    run().stdout.fnmatch_lines(["0 of 2 verdicts remembered, 4 boots made; *"])
    run().stdout.fnmatch_lines(["2 of 2 verdicts remembered, 0 boots made; *"])


@pytest.mark.usefixtures("share")
def test_who_only_collects_draws_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.setattr(items.TrialItem, "is_remembered", None)
    assert run("--collect-only").ret == pytest.ExitCode.OK


@pytest.mark.usefixtures("share")
def test_what_has_no_key_says_so_as_a_test(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parts_of(*words: object, boot_each: bool) -> dict[str, str]:
        raise CannotRun("there is no compiler")

    monkeypatch.setattr(items, "parts_of", parts_of)
    done = run()
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["*there is no compiler"])


#: What a fixture does for sessions in this process.
WORKERS = """
    from contextlib import nullcontext

    from lull.proof import items, plugin
    from lull.proof.attempt import Attempt
    from lull.proof.faults import Result

    async def attempt(trial, size, seed, *more, standby):
        return Attempt(result=Result.PASS, how="so", tries=1, seed=seed, seconds=1)

    def pytest_configure(config):
        if hasattr(config, "workerinput"):
            items.ANEW = 0.1
            items.attempt = attempt
            items.build = lambda base, arm: None
            items.standing_by = lambda kernel, say: nullcontext()
            items.parts_of = lambda *words, boot_each: {"kernel": "1"}
            plugin.cached = lambda base, cache: "sources"

    def pytest_sessionfinish(session):
        config = session.config
        if hasattr(config, "workerinput"):
            drawn = "\\n".join(sorted(config.stash[items.DRAWN]))
            name = "drawn-" + config.workerinput["workerid"]
            (config.rootpath / name).write_text(drawn)
"""
TRIAL = """
[[trial]]
name = "A{n}"
text = "it holds"
seconds = 5
cases = [{{ run = "w", modes = "lull" }}]
checks = {{ A = 1 }}
"""


def test_workers_agree_who_is_drawn(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(WORKERS)
    text = "".join(TRIAL.format(n=n) for n in range(40))
    (pytester.path / "f/safety.toml").write_text(text)
    first = run("-n", "2", "f")
    first.assert_outcomes(passed=40)
    first.stdout.fnmatch_lines(["0 of 40 verdicts remembered*"])
    second = run("-n", "2", "f")
    second.stdout.fnmatch_lines(["36 of 40 verdicts remembered, 4 boots made; *"])
    said = (line.partition(": tried anew with seed ") for line in second.outlines)
    tried = sorted(name for name, found, _ in said if found)
    for worker in ("gw0", "gw1"):
        drawn = (pytester.path / f"drawn-{worker}").read_text().split("\n")
        assert drawn == tried
