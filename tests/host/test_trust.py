# SPDX-License-Identifier: GPL-2.0-only
"""What of a cache is another user's is not used."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.cli import app
from lull.doctor.collect import collector_recipe
from lull.errors import CannotRun
from lull.host import trust
from lull.host.files import cache_root, repo_root
from lull.host.trust import is_ours, trust_cache
from lull.vm.compile import Recipe, compiled, recipe_key

OTHER = os.geteuid() + 1

Give = Callable[[Path], None]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    root = cache_root()
    for room in ("kernels", "probe"):
        for entry in ("a", "b"):
            (root / room / entry).mkdir(parents=True)
            (root / room / entry / "file").write_text(entry)
    return root


#: What is another user's, as far as is looked.
GIVEN: set[tuple[int, int]] = set()


@contextmanager
def given(give: Give, path: Path) -> Iterator[None]:
    """A path is another user's in here only."""
    before = set(GIVEN)
    give(path)
    yield
    GIVEN.intersection_update(before)


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Give:
    """Make a path another user's, as far as is looked: only root can give away."""
    GIVEN.clear()
    lstat, look = os.lstat, os.stat

    def told(how: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def ask(path: Path) -> os.stat_result:
            found = how(path)
            if (found.st_dev, found.st_ino) not in GIVEN:
                return found
            return os.stat_result((*found[:4], OTHER, *found[5:]))

        return ask

    class Told:
        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    fake = Told()
    fake.lstat, fake.stat = told(lstat), told(look)  # type: ignore[attr-defined]
    monkeypatch.setattr(trust, "os", fake)

    def give(path: Path) -> None:
        found = lstat(path)
        GIVEN.add((found.st_dev, found.st_ino))

    return give


def said(root: Path) -> list[str]:
    lines: list[str] = []
    trust_cache(root, lines.append)
    return lines


def names(root: Path) -> list[str]:
    return sorted(str(p.relative_to(root)) for p in root.glob("*/*"))


def test_what_is_ours_stays_and_nothing_is_said(root: Path) -> None:
    before = names(root)
    assert said(root) == [] and names(root) == before
    assert said(root / "not there yet") == []


def test_a_kernel_of_another_user_is_forgotten_with_a_line(
    root: Path, give: Give
) -> None:
    give(root / "kernels" / "a")
    (line,) = said(root)
    assert "kernels/a is forgotten" in line and str(OTHER) in line
    assert names(root) == ["kernels/b", "probe/a", "probe/b"]
    assert said(root) == []


def test_so_is_a_whole_room_and_a_file(root: Path, give: Give) -> None:
    (root / "probe" / "c").write_text("")
    give(root / "kernels")
    give(root / "probe" / "c")
    assert len(said(root)) == 2
    assert names(root) == ["probe/a", "probe/b"]


def test_a_link_is_whose_it_leads_to(root: Path, give: Give, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    (root / "probe" / "c").symlink_to(tmp_path / "ours")
    (root / "probe" / "d").symlink_to(tmp_path / "theirs")
    (root / "probe" / "e").symlink_to(tmp_path / "nowhere")
    give(tmp_path / "theirs")
    (line,) = said(root)
    assert "probe/d" in line and (tmp_path / "theirs").is_dir()
    assert sorted(os.listdir(root / "probe")) == ["a", "b", "c", "e"]


def test_others_are_shut_out_of_what_is_ours(root: Path) -> None:
    for path in (root, root / "kernels", root / "kernels" / "a"):
        path.chmod(0o777)
    assert said(root) == []
    for path in (root, root / "kernels", root / "kernels" / "a"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_what_cannot_be_removed_is_out_of_the_way(
    root: Path, give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(root / "kernels" / "a")
    monkeypatch.setattr(trust, "rmtree", lambda path, ignore_errors: None)
    assert len(said(root)) == 1
    (left,) = (p for p in (root / "kernels").iterdir() if p.name != "b")
    give(left)
    assert left.name.startswith(".") and said(root) == []


def test_a_cache_that_is_another_users_whole_is_refused(root: Path, give: Give) -> None:
    give(root)
    with pytest.raises(CannotRun, match=r"another user.*\n.*XDG_CACHE_HOME"):
        said(root)


def test_the_command_looks_before_it_uses_what_was_kept(root: Path, give: Give) -> None:
    give(root)
    refused = CliRunner().invoke(app, ["kernel", "list"])
    assert isinstance(refused.exception, CannotRun)
    assert CliRunner().invoke(app, ["list"]).exit_code == 0


def test_who_asks_what_a_command_does_is_told(
    root: Path, give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(root)
    for word in ("--help", "--dry-run"):
        words = ["run", "freeze", word]
        monkeypatch.setattr("sys.argv", ["lull", *words])
        assert CliRunner().invoke(app, words).exit_code == 0


def test_a_program_of_another_user_is_compiled_elsewhere(
    root: Path, give: Give, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    (source / "probe").mkdir(parents=True)
    (source / "probe" / "p.c").write_text("int main(void) { return 42; }\n")
    recipe = Recipe("p", "probe", flags=(), sources=("probe/p.c",))
    kept = root / "probe" / recipe_key(source, recipe) / "p"
    assert compiled(source, recipe) == kept
    kept.write_text("#!/bin/sh\nexit 0\n")
    assert compiled(source, recipe) == kept
    # Who owns a folder above can put another file there after any look at it.
    theirs = (kept, kept.parent, root / "probe", root, tmp_path)
    for path in theirs:
        with given(give, path):
            assert not is_ours(kept, root)
            program = compiled(source, recipe)
            assert not program.is_relative_to(root), path
            assert subprocess.run([program], check=False).returncode == 42
            # Once for this process.
            assert compiled(source, recipe) == program
    assert compiled(source, recipe) == kept
    for path in theirs:
        mode = path.stat().st_mode
        path.chmod(0o777)
        assert not is_ours(kept, root), path
        path.chmod(mode)
    kept.unlink()
    with given(give, root):
        assert not compiled(source, recipe).is_relative_to(root) and not kept.exists()


def test_a_link_to_what_is_another_users_is_not_ours(
    root: Path, give: Give, tmp_path: Path
) -> None:
    (tmp_path / "theirs" / "below").mkdir(parents=True)
    (root / "probe" / "c").symlink_to(tmp_path / "theirs" / "below")
    assert is_ours(root / "probe" / "c" / "not there yet", root)
    give(tmp_path / "theirs")
    assert not is_ours(root / "probe" / "c" / "not there yet", root)
    (root / "probe" / "d").symlink_to("d")
    assert not is_ours(root / "probe" / "d" / "e", root)


def test_the_doctor_runs_nothing_that_another_user_has_left(
    root: Path, give: Give, tmp_path: Path
) -> None:
    recipe = collector_recipe(repo_root())
    planted = root / recipe.room / recipe_key(repo_root(), recipe) / recipe.name
    planted.parent.mkdir(parents=True)
    planted.write_text("#!/bin/sh\n")
    give(root)
    words = ["doctor", "--collector", str(tmp_path / "copy")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "copy").read_bytes().startswith(b"\x7fELF")
    assert planted.read_text() == "#!/bin/sh\n"
