# SPDX-License-Identifier: GPL-2.0-only
"""``pytest --ktap FILE``."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.report.ktap import Point, parse

pytest_plugins = ("pytester",)

ROOT = Path(__file__).resolve().parents[2]

MANY = {
    "test_b": """
        import pytest

        def test_passes():
            pass

        @pytest.mark.parametrize("name", ["z", "a#b\\n"])
        def test_each(name):
            pass

        def test_fails():
            assert {"a": 1} == {"a": 2}, "the figure\\nis another"

        def test_skips():
            pytest.skip("no swap here")

        @pytest.mark.xfail(reason="known")
        def test_expected():
            assert False

        @pytest.mark.xfail(reason="was known")
        def test_unexpected():
            pass

        @pytest.mark.xfail(reason="was known", strict=True)
        def test_strict():
            pass

        def test_at_once():
            pytest.xfail("not yet")
    """,
    "test_a": """
        import pytest

        @pytest.fixture
        def lacking():
            raise OSError("no such device")

        @pytest.fixture
        def untidy():
            yield
            raise OSError("left over")

        class TestClass:
            def test_lacks(self, lacking):
                pass

            def test_leaves(self, untidy):
                pass
    """,
    "test_c": """
        import pytest
        pytest.skip("not on this machine", allow_module_level=True)
    """,
}

KNOWN = (
    Point(
        "test_a.py",
        ok=False,
        subtests=(
            Point(
                "TestClass::test_lacks",
                ok=False,
                diagnostics=("setup: OSError: no such device",),
            ),
            Point(
                "TestClass::test_leaves",
                ok=False,
                diagnostics=("teardown: OSError: left over",),
            ),
        ),
    ),
    Point(
        "test_b.py",
        ok=False,
        subtests=(
            Point("test_at_once", expected="not yet"),
            Point("test_each[a#b\\n]"),
            Point("test_each[z]"),
            Point("test_expected", expected="known"),
            Point(
                "test_fails",
                ok=False,
                diagnostics=(
                    "AssertionError: the figure",
                    "assert {'a': 1} == {'a': 2}",
                ),
            ),
            Point("test_passes"),
            Point("test_skips", skipped="no swap here"),
            Point("test_strict", ok=False, diagnostics=("[XPASS(strict)] was known",)),
            Point("test_unexpected", diagnostics=("XPASS was known",)),
        ),
    ),
    Point(
        "test_c.py",
        subtests=(Point("(collection)", skipped="not on this machine"),),
    ),
)


@pytest.fixture
def session(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return pytester


def run(session: pytest.Pytester, *words: str) -> tuple[int, tuple[Point, ...]]:
    file = session.path / "out" / "all.ktap"
    done = session.runpytest_subprocess(
        *("-p", "lull.proof.ktap_plugin", "--ktap", "out/all.ktap", *words), timeout=120
    )
    return done.ret, parse(file.read_text("ascii"))


@pytest.mark.parametrize("words", [(), ("test_b.py", ".")])
def test_what_came_of_each_test(
    session: pytest.Pytester, words: tuple[str, ...]
) -> None:
    session.makepyfile(**MANY)
    assert run(session, *words) == (1, KNOWN)


def test_workers_leave_the_same_file(session: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    session.makepyfile(**MANY)
    assert run(session, "-n", "2") == (1, KNOWN)


def test_a_worker_does_not_write(session: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    session.makepyfile(
        test_it="""
            def test_it(pytestconfig):
                assert not pytestconfig.pluginmanager.has_plugin("lull-ktap")
        """
    )
    assert run(session, "-n", "1")[0] == 0


ENDED = """
    import os, pytest

    def test_first():
        pass

    def test_second():
        {}

    def test_third():
        pass
"""


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ("raise KeyboardInterrupt", 2, "interrupted"),
        ("pytest.exit('enough', 143)", 143, "ended with status 143"),
    ],
)
def test_a_session_that_is_interrupted(
    session: pytest.Pytester, body: str, status: int, why: str
) -> None:
    session.makepyfile(test_it=ENDED.format(body))
    ret, (file, ended) = run(session)
    assert ret == status
    assert file.subtests == (
        Point("test_first"),
        Point("test_second", ok=False, diagnostics=("it was not finished",)),
    )
    assert (ended.name, ended.ok) == ("(session)", False)
    assert ended.diagnostics[0].startswith(why)


def test_a_session_that_stops_at_a_failure_says_so(session: pytest.Pytester) -> None:
    session.makepyfile(test_it=ENDED.format("assert False"))
    ret, (file, ended) = run(session, "-x")
    assert ret == 1
    assert [point.ok for point in file.subtests] == [True, False]
    assert "stopping after 1 failures" in ended.diagnostics[0]


def test_a_worker_that_is_gone_has_failed_its_test(session: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    session.makepyfile(test_it=ENDED.format("os._exit(3)"))
    ret, (file,) = run(session, "-n", "1")
    assert ret == 1
    assert [(p.name, p.ok) for p in file.subtests] == [
        ("test_first", True),
        ("test_second", False),
        ("test_third", True),
    ]


def test_a_file_that_is_no_python_has_failed(session: pytest.Pytester) -> None:
    session.makepyfile(test_it="import nothing_of_this_name", test_that="")
    ret, (file, ended) = run(session)
    assert ret == 2
    (point,) = file.subtests
    assert (point.name, point.ok) == ("(collection)", False)
    assert "nothing_of_this_name" in point.diagnostics[-1]
    assert ended.name == "(session)"


def test_no_tests_are_no_points(session: pytest.Pytester) -> None:
    assert run(session) == (5, ())


def test_a_file_that_cannot_be_written_is_no_pass(session: pytest.Pytester) -> None:
    session.makepyfile(test_it="def test_it(): pass")
    (session.path / "out").touch()
    done = session.runpytest_subprocess(
        *("-p", "lull.proof.ktap_plugin", "--ktap", "out/all.ktap")
    )
    assert done.ret == 125
    done.stderr.fnmatch_lines(["*--ktap: *out/all.ktap: Not a directory*"])


def test_who_only_collects_leaves_the_last_file(session: pytest.Pytester) -> None:
    session.makepyfile(test_it="def test_it(): pass")
    done = session.runpytest_subprocess(
        *("-p", "lull.proof.ktap_plugin", "--ktap", "all.ktap", "--collect-only")
    )
    assert done.ret == 0
    assert not (session.path / "all.ktap").exists()


def test_the_sessions_of_the_project_have_the_option(
    request: pytest.FixtureRequest,
) -> None:
    assert request.config.pluginmanager.has_plugin("lull.proof.ktap_plugin")
