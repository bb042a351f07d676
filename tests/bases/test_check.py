# SPDX-License-Identifier: GPL-2.0-only
"""``lull base check``: what is said of each hook, and of trees that are none."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.bases import cli
from lull.bases.check import Fate, check
from lull.bases.text import WIDTH, render
from lull.bases.tree import Files, files_of
from lull.cli import app
from lull.errors import UsageError
from lull.kernels.bases import Base, load_base
from lull.kernels.inputs import Inputs
from lull.kernels.source import Source

OLD = "".join(f"line {n}\n" for n in range(1, 21))
MAKEFILE = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 130\n"


def nowhere(path: str) -> str | None:
    return None


def hook(at: int, after: int, path: str = "mm/a.c") -> str:
    """One that adds a line between two, at the line it says."""
    return (
        f"Subject: more\n\n--- a/{path}\n+++ b/{path}\n@@ -{at},2 +{at},3 @@\n"
        f" line {after}\n+new {after}\n line {after + 1}\n"
    )


def fates(text: str, *hooks: str, base: str | None = OLD) -> list[tuple[str, int]]:
    report = check(
        [(f"zfree/{n}", each) for n, each in enumerate(hooks)],
        {},
        {"mm/a.c": text}.get,
        {"mm/a.c": base}.get if base else None,
    )
    return [(each.fate, each.files[0].lines) for each in report.hooks]


def test_a_hook_applies_where_it_did() -> None:
    # The second says where it is once the first is in, or as it was before: alike.
    assert fates(OLD, hook(3, 3), hook(11, 11)) == [("applies", 0), ("applies", 0)]


def test_a_hook_that_moved_says_by_how_much() -> None:
    assert fates("more\n" * 5 + OLD, hook(3, 3)) == [("moved", 5)]


def test_without_the_bases_own_tree_what_the_hook_says_counts() -> None:
    assert fates(OLD, hook(5, 3), base=None) == [("moved", -2)]


def test_a_hook_may_change_what_the_overlay_brings() -> None:
    """As a base wants it otherwise; it is in none of the trees."""
    change, early = hook(3, 3, "mm/lull.h"), hook(4, 4, "mm/lull.h")
    overlay = {"mm/lull.h": OLD.replace("line 4\n", "line 4\n" * 2)}
    report = check([("zfree/1", change)], {"mm/lull.h": OLD}, nowhere, nowhere)
    assert report.ok and not report.changed
    assert report.hooks[0].fate == "applies"
    report = check([("zfree/1", early)], overlay, nowhere)
    assert [each.fate for each in report.hooks] == ["moved"]


def test_a_conflict_hides_nobody_behind_it() -> None:
    text = OLD.replace("line 4\n", "")
    report = check(
        [("thaw/1", hook(3, 3)), ("thaw/2", hook(11, 11)), ("thaw/3", hook(4, 4))],
        {},
        {"mm/a.c": text}.get,
        {"mm/a.c": OLD}.get,
    )
    assert [each.fate for each in report.hooks] == ["conflicts", "moved", "conflicts"]
    assert report.hooks[0].files[0].after == ""
    assert report.hooks[2].files[0].after == "thaw/1"
    assert not report.ok
    said = render(report, "6.12", "6.12.130", "6.12.117")
    assert "1 moved, 2 conflict" in said
    assert "these lines are not in the file" in " ".join(said.split())
    assert "line 3" in said  # what it looked for


def test_what_changed_around_a_hook_is_named() -> None:
    text = OLD.replace("line 20", "line twenty")
    report = check(
        [("thaw/1", hook(3, 3))], {}, {"mm/a.c": text}.get, {"mm/a.c": OLD}.get
    )
    assert report.ok
    assert report.changed == ("mm/a.c",)
    said = render(report, "6.12", "6.12.130", "6.12.117")
    assert "Read what changed" in said and "make proof BASE=6.12" in said


def test_without_the_bases_own_tree_nothing_is_said_of_what_changed() -> None:
    """As in a fresh clone: it was said that no hooked file had changed."""
    hooks = [("thaw/1", hook(3, 3))]
    report = check(hooks, {}, {"mm/a.c": OLD}.get)
    assert report.ok and report.changed is None
    said = render(report, "6.12", "6.12.130", None)
    assert "no hooked file changed" not in said
    assert "lull kernel fetch --base 6.12" in said
    assert max(map(len, said.splitlines())) <= WIDTH
    report = check(hooks, {}, {"mm/a.c": OLD}.get, {"mm/a.c": OLD}.get)
    assert "no hooked file changed" in render(report, "6.12", "6.12.130", "6.12.117")


def test_a_file_that_is_gone_and_one_that_came() -> None:
    new = "Subject: x\n\n--- /dev/null\n+++ b/mm/a.c\n@@ -0,0 +1 @@\n+line\n"
    report = check(
        [("thaw/1", hook(3, 3, "mm/gone.c")), ("thaw/2", new)],
        {"mm/a.c": "ours\n"},
        {"mm/a.c": OLD}.get,
    )
    assert [each.files[0].why for each in report.hooks] == [
        "there is no such file",
        "there is such a file already",
    ]
    assert report.taken == ("mm/a.c",)


def test_no_line_is_wider_than_a_screen() -> None:
    deep = "drivers/" + "very/" * 9 + "deep.c"
    report = check([("devices/0001-a-long-name", hook(3, 3, deep))], {}, nowhere)
    wide = [
        line
        for line in render(report, "6.12", "6.12.130", None).splitlines()
        if len(line) > WIDTH
    ]
    assert not wide


def test_a_tarball_and_a_tree_say_the_same(tmp_path: Path) -> None:
    tree = tmp_path / "linux-source-6.12"
    (tree / "mm").mkdir(parents=True)
    (tree / "Makefile").write_text(MAKEFILE)
    (tree / "mm/a.c").write_text(OLD)
    (tree / "mm/b.c").write_text("nobody asked\n")
    tarball = tmp_path / "linux.tar.xz"
    with tarfile.open(tarball, "w:xz") as tar:
        tar.add(tree, tree.name)
    base = load_base("6.12")
    there = files_of(tree, base, ["mm/a.c", "mm/gone.c"])
    assert there == files_of(tarball, base, ["mm/a.c", "mm/gone.c"])
    assert there.version == "6.12.130"
    assert set(there.texts) == {"Makefile", "mm/a.c"}


@pytest.mark.parametrize("kind", ["nothing", "folder", "text", "package"])
def test_what_is_no_kernel_is_refused(tmp_path: Path, kind: str) -> None:
    place = tmp_path / ("a.deb" if kind == "package" else "a")
    if kind == "folder":
        place.mkdir()
    elif kind != "nothing":
        place.write_text("hello\n")
    with pytest.raises(UsageError) as refused:
        files_of(place, load_base("6.12"), [])
    assert str(place) in str(refused.value)
    assert "linux-source package" in refused.value.hint


def test_the_command_says_it_by_its_status(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    done = CliRunner().invoke(app, ["base", "check", str(tmp_path)])
    assert "there is no such file" in done.stdout
    assert f"{Fate.CONFLICTS}" in done.stdout
    assert done.exit_code == 1


@pytest.mark.parametrize("applies", [True, False])
def test_what_apt_has_is_taken_where_all_apply(
    applies: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer release would else be built, and fail, until somebody deletes it."""
    taken: list[bool] = []

    def files(place: None, *_: object) -> Files:
        return Files("6.12.130", {} if not applies else {"mm/a.c": OLD})

    def fetch(base: Base, *_: object, refresh: bool) -> Source:
        taken.append(refresh)
        return Source(
            base=base.name,
            package_version="6.12.130-1",
            version="6.12.130",
            tree=tmp_path,
        )

    monkeypatch.setattr(cli, "gather", lambda *_: Inputs(hooks=hooks_in(tmp_path)))
    monkeypatch.setattr(cli, "files_of", files)
    monkeypatch.setattr(cli, "_own", lambda *_: None)
    monkeypatch.setattr(cli.source, "fetch", fetch)
    done = CliRunner().invoke(app, ["base", "check", "--take"])
    assert taken == ([True] if applies else [])
    assert ("built from 6.12.130-1 from now on" in done.stderr) is applies
    assert done.exit_code == (0 if applies else 1)


def hooks_in(root: Path) -> tuple[Path, ...]:
    place = root / "features" / "zfree" / "hooks" / "6.12" / "0001-more.patch"
    place.parent.mkdir(parents=True)
    place.write_text(hook(3, 3))
    return (place,)


def test_a_tree_is_not_taken(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["base", "check", str(tmp_path), "--take"])
    assert isinstance(done.exception, UsageError)
    assert "of what apt has" in str(done.exception)
