# SPDX-License-Identifier: GPL-2.0-only
"""What a stamp depends on, and when it is not remembered."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from lull.host.files import digest, repo_root
from lull.kernels.inputs import gather
from lull.model import Arm
from lull.proof import key, stamps
from lull.proof.proof_json import read
from lull.proof.reads import watching
from tests import kernel_trees
from tests.proof.conftest import Run
from tests.waiting import until

STAMPED = """
    from pathlib import Path
    from lull.host.files import digest

    HERE = Path(__file__).parent
    ROOT, EDIT, READ = HERE / "root", HERE / "edit", HERE / "read"

    def test_it(stamp):
        parts = {"files": digest((ROOT / "walk.c").read_text())}
        if (ROOT / "tried").exists():
            assert not list((ROOT / "tried/lull").iterdir())
        with stamp(parts) as new:
            if new and EDIT.exists():
                name, text = EDIT.read_text().split()
                (ROOT / name).write_text(text)
            if new and READ.exists():
                path = ROOT / READ.read_text()
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.exists():
                    path.touch()
                path.read_bytes()
"""


@pytest.fixture
def root(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytester.makepyfile(STAMPED)
    found = pytester.mkdir("root")
    (found / "walk.c").write_text("old")
    (found / "other.c").write_text("old")
    monkeypatch.setattr(stamps, "repo_root", lambda: found)
    return found


def stamped(run: Run) -> pytest.RunResult:
    (file,) = Path.cwd().glob("test_*.py")
    done = run(file.name, "--proof", "proof.json")
    done.assert_outcomes(passed=1)
    return done


def test_what_was_edited_while_it_was_checked_is_not_remembered(
    run: Run, root: Path
) -> None:
    """The pass may be the new text's, and the old one is put back."""
    edit = root.parent / "edit"
    edit.write_text("walk.c another")
    done = stamped(run)
    assert (root / "walk.c").read_text() == "another"
    done.stdout.fnmatch_lines(["*::test_it: not remembered: walk.c changed meanwhile"])
    edit.unlink()
    (root / "walk.c").write_text("old")
    stamped(run).stdout.fnmatch_lines(["0 of 1 verdicts remembered*"])
    again = stamped(run)
    again.stdout.fnmatch_lines(["1 of 1 verdicts remembered*"])
    again.stdout.no_fnmatch_line("*not remembered*")


def test_an_edit_of_something_else_forgets_nothing(run: Run, root: Path) -> None:
    (root.parent / "edit").write_text("other.c another")
    stamped(run).stdout.no_fnmatch_line("*not remembered*")
    assert (root / "other.c").read_text() == "another"
    stamped(run).stdout.fnmatch_lines(["1 of 1 verdicts remembered*"])


def test_where_a_module_was_written_since_it_began_nothing_is_remembered(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been imported before. What imports it is older."""
    (root / "lull").mkdir()
    command, later = root / "lull/cli.py", root / "later"
    command.write_text("import lull.module")

    def is_later() -> bool:
        later.write_text("")
        return later.stat().st_ctime > command.stat().st_ctime

    until("the clock of files has gone on", is_later)
    monkeypatch.setattr(key, "began", lambda: later.stat().st_ctime)
    edit = root.parent / "edit"
    edit.write_text("lull/module.py x=1")
    done = stamped(run)
    done.stdout.fnmatch_lines(["*::test_it: not remembered: lull/module.py changed*"])
    (root / "lull/module.py").rename(root / "lull/other.py")
    edit.write_text("lull/other.py x=2")
    done = stamped(run)
    done.stdout.fnmatch_lines(["0 of 1 verdicts remembered*"])
    # That one nothing imports.
    done.stdout.no_fnmatch_line("*not remembered*")
    stamped(run).stdout.fnmatch_lines(["1 of 1 verdicts remembered*"])


@pytest.mark.parametrize("place", ["XDG_CACHE_HOME", "TMPDIR", "--basetemp"])
def test_what_is_only_tried_may_be_in_the_checkout(
    place: str, run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: tuple[str, ...] = ()
    if place == "--basetemp":
        words = (f"{place}={root / 'tried'}",)
    else:
        monkeypatch.setenv(place, str(root / "tried"))
        monkeypatch.setattr(tempfile, "tempdir", None)
    (root / "tried/lull").mkdir(parents=True)
    (root.parent / "read").write_text("tried/lull/made")
    (file,) = Path.cwd().glob("test_*.py")
    done = run(file.name, *words)
    done.assert_outcomes(passed=1)
    done.stdout.no_fnmatch_line("*not remembered*")


def test_the_checkout_is_read_whatever_else_it_is(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    (root.parent / "read").write_text("other.c")
    (file,) = Path.cwd().glob("test_*.py")
    run(file.name).assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("name", "fails"), [("other.c", True), ("walk.c", False), ("module.py", False)]
)
def test_who_reads_more_than_it_is_remembered_under_has_failed(
    name: str, fails: bool, run: Run, root: Path
) -> None:
    """A module's digest is made once for many tests, so that these read none."""
    (root / "module.py").write_text("")
    (root.parent / "read").write_text(name)
    (file,) = Path.cwd().glob("test_*.py")
    done = run(file.name)
    done.assert_outcomes(**{"failed" if fails else "passed": 1})
    if fails:
        done.stdout.fnmatch_lines(["*::test_it: other.c: it was read, and is not in*"])
    (root.parent / "read").unlink()
    kept = "0 of 1" if fails else "1 of 1"
    run(file.name).stdout.fnmatch_lines([f"{kept} verdicts remembered*"])


def test_it_is_kept_under_what_the_test_says_and_no_more(run: Run, root: Path) -> None:
    stamped(run)
    proof = read(Path("proof.json"))
    assert proof is not None
    (test,) = proof.tests.values()
    assert test.parts == {"files": digest("old")}


def test_all_files_that_a_kernel_is_made_of_are_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel_trees, "_version", lambda base: f"{base}.1-1")
    root, me = repo_root(), "tests/proof/test_stamps.py"
    with watching(root) as reads:
        kernel_trees.kernel_parts(Arm.LULL, me)
        seen = reads.so_far()
    files = gather(root, "6.12", Arm.LULL).files().values()
    names = {str(path.relative_to(root)) for path in files}
    # A new one beside them would be another kernel, too.
    names |= {"features", "features/freeze/hooks/6.12", "kernel/hooks/6.12"}
    assert {*names, me, "tests/kernel_trees.py"} <= seen.keys()
