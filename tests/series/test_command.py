# SPDX-License-Identifier: GPL-2.0-only
"""``lull series`` as a user types it: what is refused, and what is then there."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull import cli
from lull.errors import LullError
from lull.series import cli as command
from lull.series import folder
from lull.series.folder import publish
from tests.series.made import checkout, contents, project, put, tree


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path / "project")
    monkeypatch.setattr(command, "repo_root", lambda: root)


def run(*words: str | Path) -> tuple[int, str]:
    """Exit status and all that was said."""
    result = CliRunner().invoke(cli.app, ["series", *map(str, words)])
    if isinstance(result.exception, LullError):
        return result.exception.exit_code, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_it_writes_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    status, said = run("thaw", "--tree", tree(tmp_path / "tree"), "-o", out)
    assert status == 0
    assert "with freeze, which is needed" in said
    assert "5 patches for Linux 6.12.117" in said
    assert len(list(out.iterdir())) == 5
    # Nothing else is left beside it.
    assert {path.name for path in tmp_path.iterdir()} == {"out", "project", "tree"}


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    status, _ = run("freeze", "--tree", tree(tmp_path / "t"), "-o", tmp_path / "out")
    assert status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("freze",), "freeze, thaw"),
        (("freeze", "--base", "5.4"), "6.12"),
        (("freeze", "--for", "debian"), "upstream"),
        ((), "Missing argument"),
    ],
)
def test_an_unknown_name_is_a_usage_error(
    words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    status, text = run(*words, "-o", tmp_path / "out")
    assert status == 2
    assert said.lower() in text.lower()


def test_a_folder_that_is_not_empty_stays_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "out"
    put(out / "mine", "mine\n")
    status, said = run("freeze", "--tree", tree(tmp_path / "tree"), "-o", out)
    assert status == 2
    assert "not empty" in said and str(out) in said and "try:" in said
    assert contents(out) == {"mine": b"mine\n"}


def test_a_file_and_the_folder_that_one_is_in_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, said = run("freeze", "-o", put(tmp_path / "file", "x"))
    assert status == 2 and "this is a file" in said
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    status, said = run("freeze", "-o", ".")
    assert status == 2 and "the folder that you are in" in said


def test_below_a_file_nothing_can_be_made(tmp_path: Path) -> None:
    out = put(tmp_path / "file", "x") / "out"
    status, said = run("freeze", "--tree", tree(tmp_path / "t"), "-o", out)
    assert status == 2 and "cannot be written" in said


def test_a_tree_that_is_none(tmp_path: Path) -> None:
    status, said = run("freeze", "--tree", tmp_path, "-o", tmp_path / "out")
    assert status == 2 and "not a kernel's source tree" in said


def test_a_tree_of_another_base(tmp_path: Path) -> None:
    other = tree(tmp_path / "tree", "6.1.190")
    status, said = run("freeze", "--tree", other, "-o", tmp_path / "out")
    assert status == 2 and "this is Linux 6.1.190, and the base is 6.12" in said


def test_a_tree_that_is_not_what_the_hooks_are_for(tmp_path: Path) -> None:
    other = tree(tmp_path / "tree")
    put(other / "kernel/freezer.c", "another\n")
    status, said = run("freeze", "--tree", other, "-o", tmp_path / "out")
    assert status == 2
    assert "do not fit this tree" in said and "kernel/freezer.c" in said
    assert not (tmp_path / "out").exists()


def test_a_tree_that_has_lull_already(tmp_path: Path) -> None:
    put(tree(tmp_path / "tree") / "kernel/lull/Kconfig", "menu\n")
    status, said = run("freeze", "--tree", tmp_path / "tree", "-o", tmp_path / "out")
    assert status == 2 and "in it already" in said


def test_a_dirty_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = checkout(tmp_path / "mine", contents(tree(tmp_path / "tree")))
    put(mine / "vmlinux", "what is not tracked does not count\n")
    assert run("freeze", "--tree", mine, "-o", tmp_path / "out")[0] == 0
    put(mine / "kernel/freezer.c", "changed\n")
    monkeypatch.setenv("GIT_DIR", str(checkout(tmp_path / "another", {}) / ".git"))
    status, said = run("freeze", "--tree", mine, "-o", tmp_path / "other")
    assert status == 2
    assert "kernel/freezer.c" in said and "git stash" in said
    assert not (tmp_path / "other").exists()


def test_without_git_it_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    status, said = run("freeze", "--tree", tree(tmp_path / "t"), "-o", tmp_path / "o")
    assert status == 4 and "apt-get install git" in said


def test_who_is_interrupted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = folder.write_file

    def interrupted(path: Path, data: bytes) -> None:
        real(path, data)
        seen.extend(entry.name for entry in tmp_path.iterdir())
        if path.name == "2":
            raise KeyboardInterrupt

    monkeypatch.setattr(folder, "write_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path / "out", {"1": b"", "2": b"", "3": b""})
    assert "out" not in seen and any(name.endswith(".part") for name in seen)
    assert "out" not in {entry.name for entry in tmp_path.iterdir()}
    assert not [e for e in tmp_path.iterdir() if e.name.endswith(".part")]


def test_somebody_else_was_faster(tmp_path: Path) -> None:
    """Both have passed the look at the folder; only one of them may have it."""
    publish(tmp_path / "out", {"theirs": b""})
    with pytest.raises(LullError, match="cannot be written"):
        publish(tmp_path / "out", {"ours": b""})
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["theirs"]
