# SPDX-License-Identifier: GPL-2.0-only
"""What replaces the last proof, and what it is compared with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.proof import plugin
from lull.proof.faults import Result
from lull.proof.proof_json import Proof, Tried, differences, is_part, read
from tests.proof.conftest import Guests, Run


def proof(*names: str, **more: object) -> Proof:
    return Proof(
        created="2026-01-01T00:00:00+00:00",
        commit="c",
        base="6.12",
        size="proof",
        machine="m",
        seconds=1,
        ok=True,
        tests={name: Tried(outcome="passed", seconds=1) for name in names},
    ).model_copy(update=more)


def test_what_came_and_went_is_said_of_the_same_question() -> None:
    said = list(differences(proof("a", "b"), proof("b", "c")))
    assert said == ["new: c: passed", "gone: a: was passed"]


@pytest.mark.parametrize(
    "more",
    [
        {"part": "--feature attach"},
        {"seeds": 3},
        {"size": "test"},
        {"base": "7.3"},
        {"ended": False},
    ],
)
def test_of_another_question_what_both_have_is_compared(
    more: dict[str, object],
) -> None:
    failed = {"b": Tried(outcome="failed", seconds=1)}
    said = [
        "not what was asked last time: 1 tests are of both",
        "b: was passed, is failed",
    ]
    narrow = proof("c", **more)
    narrow = narrow.model_copy(update={"tests": {**narrow.tests, **failed}})
    assert list(differences(proof("a", "b"), narrow)) == said
    said[1] = "b: was failed, is passed"
    assert list(differences(narrow, proof("a", "b"))) == said


def test_a_part_replaces_no_more_than_itself() -> None:
    part = proof("a", part="-k a")
    assert is_part(proof("a", "b"), part)
    assert not is_part(proof("a", "b", part="-k a"), part)
    assert not is_part(proof("a"), part)
    assert not is_part(None, part)
    assert not is_part(proof("a", "b", part="-k a"), proof("a"))
    for old in (None, proof("a")):
        assert is_part(old, proof("a", ended=False))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("-k", "not b"), "-k 'not b'"),
        (("-m", "not proof"), "-m 'not proof'"),
        (("f/safety.toml::A",), "f/safety.toml::A"),
        (("--deselect", "f/safety.toml::A without b"),) * 2,
        (("--seed", "0", "-k", "not b"), "-k 'not b' --seed 0"),
    ],
)
def test_a_narrowed_run_leaves_the_whole_proof(
    run: Run,
    guests: Guests,
    pytester: pytest.Pytester,
    words: tuple[str, ...],
    part: str | tuple[str, ...],
) -> None:
    size = ("--proof", "proof.json", "--size", "proof")
    run(*size).assert_outcomes(passed=3)
    whole = (pytester.path / "proof.json").read_bytes()
    guests.results["A"] = Result.FAIL
    done = run("--proof", "proof.json", "--fresh", *words)
    assert (pytester.path / "proof.json").read_bytes() == whole
    found = read(pytester.path / "proof.partial.json")
    assert found is not None and found.ended
    if isinstance(part, str):
        assert found.part == part
    said = "proof: proof.partial.json, of a part; proof.json is the last one still"
    done.stdout.fnmatch_lines([said])
    assert "gone:" not in done.stdout.str()
    guests.results.clear()
    # The whole is compared with the last whole.
    again = run(*size, "--fresh").stdout
    again.fnmatch_lines(["proof: proof.json"])
    assert "new:" not in again.str() and "not what was asked" not in again.str()


def test_features_are_the_part(
    run: Run,
    guests: Guests,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plugin, "_rooms", lambda names: ["f"])
    run("--proof", "p.json", "--feature", "thaw", "--feature", "attach", "ignored")
    found = read(pytester.path / "p.json")
    assert found is not None
    assert found.part == "--feature attach --feature thaw"


def test_the_first_failure_that_ends_it_leaves_the_last_proof(
    run: Run, guests: Guests, pytester: pytest.Pytester
) -> None:
    run("--proof", "proof.json").assert_outcomes(passed=2)
    whole = (pytester.path / "proof.json").read_bytes()
    guests.results["A without b"] = Result.FAIL
    run("--proof", "proof.json", "--fresh", "-x").assert_outcomes(failed=1)
    assert (pytester.path / "proof.json").read_bytes() == whole
    found = read(pytester.path / "proof.partial.json")
    assert found is not None and not found.ended and len(found.tests) == 1


MAKE_S_OWN = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")

TESTS = """
import os, signal, time
import pytest

def test_a():
    pass

def test_b():
    {stop}
"""


def is_left(path: Path, whole: bytes) -> Proof:
    """The last proof, and the part beside it."""
    assert path.read_bytes() == whole
    found = read(path.with_name("proof.partial.json"))
    assert found is not None and not found.ended and not found.ok
    return found


@pytest.mark.parametrize(
    "stop", ["raise KeyboardInterrupt", "pytest.exit('ended by SIGTERM', 143)"]
)
def test_a_session_that_is_stopped_leaves_the_last_proof(
    run: Run, guests: Guests, pytester: pytest.Pytester, stop: str
) -> None:
    pytester.makepyfile(test_it=TESTS.format(stop=stop))
    path = pytester.path / "proof.json"
    path.write_text(proof("test_it.py::test_a").model_dump_json())
    whole = path.read_bytes()
    words = ("-p", "lull.proof.plugin", "-p", "no:cacheprovider", "test_it.py")
    done = pytester.runpytest_inprocess(
        *words, "--proof", "proof.json", no_reraise_ctrlc=True
    )
    assert done.ret not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    assert is_left(path, whole).tests.keys() == {"test_it.py::test_a"}
    done.stdout.fnmatch_lines(
        [
            "proof: proof.partial.json: it did not come to its end; "
            "proof.json is the last one still"
        ]
    )


def test_a_session_that_is_ended_says_what_had_failed(
    run: Run, guests: Guests, pytester: pytest.Pytester
) -> None:
    guests.results["A without b"] = Result.FAIL
    end = "def test():\n    pytest.exit('ended by SIGTERM', 143)\n"
    pytester.makepyfile(test_it=f"import pytest\n\n{end}")
    done = run("--proof", "proof.json", "--fresh", "f", "test_it.py")
    assert done.ret == 128 + signal.SIGTERM
    assert done.stdout.str().count("boots made; --fresh forgets") == 1
    done.stdout.fnmatch_lines(["*again: *", "*boots made; --fresh forgets"])


def test_a_session_of_many_processes_that_is_stopped_does_so_too(
    tmp_path: Path,
) -> None:
    stop = "os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"
    (tmp_path / "test_it.py").write_text(TESTS.format(stop=stop))
    (tmp_path / "conftest.py").write_text((repo_root() / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = vm: boots\n")
    path = tmp_path / "proof.json"
    path.write_text(proof("test_it.py::test_a").model_dump_json())
    whole = path.read_bytes()
    words = ("-n", "1", "--maxschedchunk=1", "-p", "no:cacheprovider")
    done = subprocess.run(
        (sys.executable, "-m", "pytest", *words, "--proof", path.name, "test_it.py"),
        cwd=tmp_path,
        env={
            **os.environ,
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PYTHONPATH": str(repo_root()),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stdout + done.stderr
    # What it had heard of by then: of the first, or not yet.
    assert "test_it.py::test_b" not in is_left(path, whole).tests


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ((), "proof.json"),
        (("BASE=7.3",), "proof-7.3.json"),
        (("FEATURE=attach",), "proof-attach.json"),
        (("BASE=7.3", "FEATURE=thaw attach"), "proof-7.3-attach-thaw.json"),
    ],
)
def test_each_question_of_make_proof_has_its_file(
    words: tuple[str, ...], file: str
) -> None:
    said = subprocess.run(
        ("make", "-n", "proof", *words),
        cwd=repo_root(),
        # Whoever started these tests by make has told that one more.
        env={k: v for k, v in os.environ.items() if k not in MAKE_S_OWN},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    assert f"--proof {file} " in said
