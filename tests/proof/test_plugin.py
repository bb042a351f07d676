# SPDX-License-Identifier: GPL-2.0-only
"""A session of trials: what is tried, remembered, tried anew, and told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.host.files import repo_root
from lull.kernels.bases import DEFAULT_BASE, Base
from lull.proof import items, plugin, proof_json
from lull.proof.attempt import Attempt
from lull.proof.faults import Result
from lull.proof.key import JUDGE
from lull.proof.ledger import Ledger
from lull.proof.trial import Trial
from tests.proof.conftest import Guests, Run


def test_the_longest_come_first_and_what_is_large_is_left(
    run: Run, guests: Guests
) -> None:
    run().assert_outcomes(passed=2)
    assert guests.tried == [("A without b", 1), ("A", 1)]
    run("--size", "proof", "--fresh").assert_outcomes(passed=3)
    assert guests.names[2:] == ["A without b", "large", "A"]


def test_what_has_passed_is_remembered_and_said(run: Run, guests: Guests) -> None:
    run().stdout.fnmatch_lines(["0 of 2 verdicts remembered, 4 boots made; *"])
    again = run()
    again.assert_outcomes(passed=2)
    again.stdout.fnmatch_lines(["2 of 2 verdicts remembered, 0 boots made; *"])
    assert len(guests.tried) == 2
    run("--fresh").assert_outcomes(passed=2)
    assert len(guests.tried) == 4


def test_guests_are_resumed_unless_each_is_to_boot(run: Run, guests: Guests) -> None:
    run()
    assert guests.resumed == ["standby", "standby"]
    run("--boot-each").assert_outcomes(passed=2)
    assert guests.resumed[2:] == [None, None]


def test_another_input_forgets(run: Run, guests: Guests) -> None:
    run()
    guests.parts["kernel"] = "2"
    run().stdout.fnmatch_lines(["0 of 2 verdicts remembered*"])
    guests.parts["kernel"] = "1"
    run().stdout.fnmatch_lines(["2 of 2 verdicts remembered*"])


def test_a_failure_is_told_kept_and_not_remembered(run: Run, guests: Guests) -> None:
    run()
    guests.results["A"] = Result.FAIL
    done = run("--fresh")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["it holds", "fail after 2 boots, seed 1: so"])
    # Where CI is set, pytest's summary has the whole message once more.
    line = next(x for x in done.stdout.lines if x.startswith("consoles: "))
    kept = Path(line.removeprefix("consoles: "))
    assert (kept / "console.log").read_text() == "what it said"
    guests.tried.clear()
    run().assert_outcomes(passed=1, failed=1)
    assert guests.names == ["A"]


def test_luck_and_no_verdict_are_failures_at_the_end(run: Run, guests: Guests) -> None:
    guests.results = {"A": Result.NONE, "A without b": Result.LUCKY}
    run().assert_outcomes(failed=2)


def test_some_are_tried_anew_with_another_seed(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a key that lacks something would be found; what has no seed, too."""
    run()
    monkeypatch.setattr(items, "ANEW", 1.0)
    done = run()
    done.assert_outcomes(passed=2)
    done.stdout.fnmatch_lines(["6.12 f: A without b: tried anew with seed 1"])
    done.stdout.fnmatch_lines(["6.12 f: A: tried anew with seed *"])
    done.stdout.fnmatch_lines(["0 of 2 verdicts remembered, 4 boots made; *"])
    fixed, (name, seed) = guests.tried[2:]
    assert fixed == ("A without b", 1)
    assert name == "A" and seed > 1


def test_a_verdict_that_was_wrong_is_forgotten(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    monkeypatch.setattr(items, "ANEW", 1.0)
    guests.results["A"] = Result.FAIL
    run().assert_outcomes(passed=1, failed=1)
    monkeypatch.setattr(items, "ANEW", 0)
    run().assert_outcomes(passed=1, failed=1)


def test_the_seed_that_failed_is_tried_until_it_passes(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    guests.boots = 1
    run()
    monkeypatch.setattr(items, "ANEW", 1.0)
    guests.results["A"] = Result.FAIL
    run()
    (_, seed) = guests.tried[-1]
    monkeypatch.setattr(items, "ANEW", 0)
    run().assert_outcomes(passed=1, failed=1)
    guests.results.clear()
    run().assert_outcomes(passed=2)
    assert guests.tried[-2:] == [("A", seed), ("A", seed)]
    run()
    # Both, both anew, and it twice.
    assert len(guests.tried) == 6


def test_what_changed_meanwhile_is_not_remembered(run: Run, guests: Guests) -> None:
    """The kernel may be older than the files that would name its verdict."""

    async def attempt(trial, *more, standby) -> Attempt:  # type: ignore[no-untyped-def]
        guests.parts["kernel"] += "+"
        return Attempt(result=Result.PASS, how="so", tries=1, seed=1, seconds=1)

    items.attempt, kept = attempt, items.attempt
    try:
        run().assert_outcomes(passed=2)
    finally:
        items.attempt = kept
    assert Ledger().lines() == ()
    run().stdout.fnmatch_lines(["0 of 2 verdicts remembered*"])


def test_nor_is_what_another_text_may_have_judged(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a module that was written since the process began it may have the old one."""
    with monkeypatch.context() as patched:
        patched.setattr(items, "rewritten", lambda root, *start: start == JUDGE)
        run().assert_outcomes(passed=2)
    assert Ledger().lines() == ()
    run().stdout.fnmatch_lines(["0 of 2 verdicts remembered*"])
    run().stdout.fnmatch_lines(["2 of 2 verdicts remembered*"])


def test_more_seeds_are_more_trials(run: Run, guests: Guests) -> None:
    run("--seeds", "3").assert_outcomes(passed=4)
    # So far apart that none is among another's further boots.
    assert sorted(guests.tried) == [("A", 1), ("A", 7), ("A", 13), ("A without b", 1)]
    run("--seeds", "3").stdout.fnmatch_lines(["4 of 4 verdicts remembered*"])


def test_a_feature_narrows_it_and_a_name_that_is_none_is_refused(
    run: Run, guests: Guests
) -> None:
    done = run("--feature", "typo", "--proof", "proof.json")
    assert done.ret == pytest.ExitCode.USAGE_ERROR and not guests.tried
    done.stderr.fnmatch_lines(["*no feature 'typo'; one of: attach, *"])
    tests = collected("--feature", "freeze")
    assert "features/freeze/safety.toml::FZ1" in tests
    assert all(test.startswith("features/freeze/") for test in tests)


def test_a_feature_s_proof_has_what_it_promises() -> None:
    tests = collected("--feature", "freeze", "--size", "proof")
    others = [test for test in tests if not test.startswith("features/freeze/")]
    assert "features/freeze/safety.toml::FZ1" in tests
    assert others == ["tests/runs/test_figures.py::test_what_is_promised_is_kept"]


def collected(*words: str) -> list[str]:
    """The tests of this checkout that those words ask for."""
    command = (sys.executable, "-m", "pytest", "--collect-only", "-q")
    found = subprocess.run(
        (*command, "-p", "no:cacheprovider", *words),
        cwd=repo_root(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [line for line in found if "::" in line]


def test_a_feature_narrows_what_workers_run() -> None:
    words = ("-q", "-n", "1", "--feature", "freeze", "-p", "no:cacheprovider")
    done = subprocess.run(
        # A test of the lab: it would pass, if it were run.
        (sys.executable, "-m", "pytest", *words, "-k", "every_way_is_an_expression"),
        cwd=repo_root(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout


def test_a_proof_says_what_was_tried_and_what_differs(
    run: Run, guests: Guests, pytester: pytest.Pytester
) -> None:
    run("--proof", "proof.json")
    path = pytester.path / "proof.json"
    proof = proof_json.read(path)
    assert proof is not None and proof.ok
    assert proof.asked.endswith("--proof proof.json")
    first = proof.tests["f/safety.toml::A"]
    assert (first.outcome, first.tries, first.seed) == ("passed", 2, 1)
    assert first.parts == {"kernel": "1", "each": "False"}
    guests.parts["kernel"] = "2"
    guests.results["A"] = Result.FAIL
    done = run("--proof", "proof.json")
    done.stdout.fnmatch_lines(
        [
            "proof: proof.json",
            "f/safety.toml::A: was passed, is failed",
            "another kernel than last time: 2 verdicts",
        ]
    )
    assert json.loads(path.read_text())["ok"] is False


def test_a_proof_has_of_what_is_remembered_what_it_took(
    run: Run, guests: Guests, pytester: pytest.Pytester
) -> None:
    found = []
    for _ in range(2):
        run("--proof", "proof.json").assert_outcomes(passed=2)
        proof = proof_json.read(pytester.path / "proof.json")
        assert proof is not None
        found.append(proof.tests["f/safety.toml::A"])
    tried, known = found
    assert (tried.remembered, known.remembered) == (False, True)
    assert (known.tries, known.seed, known.seconds) == (2, 1, 1.5)
    assert known.when == tried.when != ""


def test_each_attempt_is_in_the_ledger(run: Run) -> None:
    run()
    run()
    assert [line.id for line in Ledger().lines()] == ["f: A without b", "f: A"]


def test_workers_share_and_one_counts(run: Run, pytester: pytest.Pytester) -> None:
    """Tests that are stamped, over pytest-xdist."""
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("n", range(4))
        def test_it(stamp, n):
            with stamp({"n": str(n)}) as new:
                if new:
                    open(f"ran-{n}", "x").close()
        """
    )
    words = ("-n", "2", "--maxschedchunk=1", "test_workers_share_and_one_counts.py")
    first = run(*words)
    first.assert_outcomes(passed=4)
    first.stdout.fnmatch_lines(["0 of 4 verdicts remembered*"])
    run(*words).stdout.fnmatch_lines(["4 of 4 verdicts remembered*"])
    run(*words, "--fresh").assert_outcomes(failed=4)
    run(*words).assert_outcomes(failed=4)


def test_a_trial_that_cannot_come_out_on_a_base_is_skipped_and_says_why(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = {"A without b": "its b is the kernel's own"}
    monkeypatch.setattr(plugin, "untried", lambda name, base: why)
    monkeypatch.setattr(plugin, "why_not_tried", lambda names, base: "")
    done = run("-rs", "f")
    done.assert_outcomes(passed=1, skipped=1)
    assert f"not on {DEFAULT_BASE}: its b is the kernel's own" in done.stdout.str()
    assert guests.names == ["A"]


def test_a_trial_is_tried_without_what_cannot_come_out_on_the_base(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrowed(trial: Trial, base: Base) -> Trial:
        assert base.name == DEFAULT_BASE
        return trial.model_copy(update={"name": f"{trial.name} in part"})

    monkeypatch.setattr(items, "narrowed", narrowed)
    run("f").assert_outcomes(passed=2)
    assert guests.names == ["A without b in part", "A in part"]


def test_what_is_not_on_the_base_is_skipped_and_says_why(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[tuple[str, ...], str]] = []

    def why(names: tuple[str, ...], base: Base) -> str:
        said.append((names, base.name))
        return "f is not there: it has gone" if names == ("f",) else ""

    monkeypatch.setattr(plugin, "why_not_tried", why)
    done = run("-rs", "f")
    done.assert_outcomes(skipped=2)
    assert "f is not there: it has gone" in done.stdout.str()
    assert not guests.tried
    assert said == [(("f",), DEFAULT_BASE)]


def test_what_is_of_the_default_base_alone_is_of_no_other_proof(
    run: Run, pytester: pytest.Pytester
) -> None:
    file = pytester.makepyfile(
        """
        import pytest

        @pytest.mark.default_base
        def test_a_guest_of_debian_s():
            pass

        def test_it(base):
            pass
        """
    )
    words = ("--size", "proof", file.name)
    of_default = run(*words)
    of_default.assert_outcomes(passed=2)
    assert "guests of Debian" not in of_default.stdout.str()
    other = run(*words, "--base", "7.3")
    other.assert_outcomes(passed=1, deselected=1)
    other.stdout.fnmatch_lines([f"left out: guests of Debian*{DEFAULT_BASE} alone"])


def test_what_a_debian_has_of_it_is_a_question_of_its_own(
    run: Run, pytester: pytest.Pytester
) -> None:
    file = pytester.makepyfile(
        """
        import pytest

        @pytest.mark.packages
        def test_packages():
            pass

        @pytest.mark.proof
        def test_proof():
            pass

        def test_it():
            pass
        """
    )
    run(file.name).assert_outcomes(passed=1, deselected=2)
    done = run("--size", "proof", file.name)
    done.assert_outcomes(passed=2, deselected=1)
    done.stdout.fnmatch_lines(["left out: Debian's packages *: make packages"])
    done = run("--packages", "--proof", "packages.json", file.name)
    done.assert_outcomes(passed=1, deselected=2)
    assert "left out:" not in done.stdout.str()
    proof = proof_json.read(pytester.path / "packages.json")
    assert proof is not None and "--packages" in proof.part


def test_no_proof_is_kept_for_hours_by_what_a_debian_has() -> None:
    """What builds packages or boots a Debian's disk is asked for by its own command."""
    proof = collected("--size", "proof")
    packages = collected("--packages")
    assert packages and not set(proof) & set(packages)
    rooms = {test.partition("::")[0] for test in packages}
    guests = {f"tests/guest/test_{name}.py" for name in ("doctor", "guest", "wake")}
    assert {"tests/deb/test_packages.py", "tests/real/test_boot.py", *guests} <= rooms


def test_what_is_another_users_in_the_cache_is_forgotten_and_said(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget(root: Path, say: Callable[[str], None]) -> None:
        say(f"{root.name}/kernels/k is forgotten")

    monkeypatch.setattr(plugin, "trust_cache", forget)
    run().stdout.fnmatch_lines(["lull/kernels/k is forgotten"])


def test_a_cache_of_another_user_is_no_cache_to_run_with(
    run: Run, guests: Guests, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(root: Path, say: Callable[[str], None]) -> None:
        raise CannotRun("the cache belongs to another user", hint="name another")

    monkeypatch.setattr(plugin, "trust_cache", refuse)
    run().stderr.fnmatch_lines(["*belongs to another user*", "*name another*"])
    assert not guests.tried
