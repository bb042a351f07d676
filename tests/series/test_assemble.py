# SPDX-License-Identifier: GPL-2.0-only
"""Which patches there are, what is in them, and that they give the lab's tree."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.kernels.inputs import gather
from lull.kernels.workspace import plan_changes, reader
from lull.model import Arm
from lull.series import assemble
from lull.series.assemble import Reader, entries, files, order, planner, prove
from lull.series.distro import nix
from lull.series.mails import NOBODY
from lull.series.pristine import Pristine
from tests.series.made import HOOK, am, checkout, contents, patch, project, put, tree

BASE = "6.12"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


@pytest.fixture
def pristine(tmp_path: Path) -> Pristine:
    return Pristine(tree(tmp_path / "tree"), "6.12.117")


def made(
    root: Path, pristine: Pristine, *names: str, reader: Reader | None = None
) -> dict[str, str]:
    wanted = order(names, BASE, reader, root)
    steps = planner(wanted, root)(pristine.read)
    found = files(wanted, steps, pristine, root)
    return {name: data.decode() for name, data in found.items()}


def written(place: Path, found: dict[str, str]) -> list[Path]:
    mails = {name: text for name, text in found.items() if name.endswith(".patch")}
    return [put(place / name, text) for name, text in sorted(mails.items())]


@pytest.mark.parametrize("reader_", [None, Reader.DISTRO])
def test_the_last_patch_leaves_the_labs_tree(
    root: Path, pristine: Pristine, tmp_path: Path, reader_: Reader | None
) -> None:
    changes = plan_changes(gather(root, BASE, Arm.LULL), reader(pristine.tree))
    wanted = contents(pristine.tree) | {
        path: change.data for path, change in changes.items() if change.data is not None
    }
    found = made(root, pristine, "freeze", "thaw", reader=reader_)
    mails = written(tmp_path / "mails", found)
    one = checkout(tmp_path / "one", contents(pristine.tree))
    am(one, mails)
    assert contents(one) == wanted
    other = checkout(tmp_path / "other", contents(pristine.tree))
    said = patch(other, mails)
    assert contents(other) == wanted
    assert "fuzz" not in said and "offset" not in said


def test_a_hook_may_change_what_the_overlay_brings(
    root: Path, pristine: Pristine
) -> None:
    """As this base wants it otherwise: it comes with that hook, as it leaves it."""
    hook = HOOK.format(what="freeze", at=5, next=6)
    change = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-int all;\n+long all;\n"
    file = "kernel/lull/freeze/freeze.c"
    put(root / "features/freeze/hooks/6.12/0001-call.patch", hook + change.format(file))
    found = made(root, pristine, "freeze")
    (mail,) = (text for text in found.values() if f"b/{file}" in text)
    assert "freezer: call freeze" in mail and "+long all;" in mail
    assert "+int all;" not in "".join(found.values())


def test_for_a_distribution_it_is_the_frame_and_a_patch_a_feature(
    root: Path, pristine: Pristine
) -> None:
    found = made(root, pristine, "freeze", reader=Reader.DISTRO)
    mails = ["0001-lull.patch", "0002-lull-freeze.patch"]
    assert list(found) == [*mails, "lull.config", "lull.nix"]
    assert found["lull.config"].endswith("\nCONFIG_LULL=y\nCONFIG_LULL_FREEZE=y\n")
    assert "patch = ./0002-lull-freeze.patch;" in found["lull.nix"]
    assert "kernel/lull/freeze/freeze.c" in found["0002-lull-freeze.patch"]
    assert "freeze" not in found["0001-lull.patch"].replace("freezer.o", "")


def test_what_a_feature_needs_of_another_comes_with_it(
    root: Path, pristine: Pristine
) -> None:
    found = made(root, pristine, "thaw", reader=Reader.DISTRO)
    assert [name for name in found if name.endswith(".patch")] == [
        "0001-lull.patch",
        "0002-lull-freeze.patch",
        "0003-lull-thaw.patch",
    ]
    assert "# CONFIG_SMC is not set\n" in found["lull.config"]
    assert "      SMC? n\n" in found["lull.nix"]


def test_nixos_is_told_of_rust_by_what_its_compiler_goes_by() -> None:
    """nixpkgs has it on from 6.12 where it can, and then it would be no answer."""
    found = nix(
        ["0001-lull.patch", "0002-zfree.patch"], ["zfree"], entries(repo_root())
    )
    frame, feature = found.split("  }\n  {\n")
    assert "rust" not in frame.lower()
    assert "    features.rust = false;\n" in feature and "RUST? n\n" in feature


def test_the_steps_are_the_hooks_with_what_they_include_then_the_rest(
    root: Path, pristine: Pristine
) -> None:
    found = list(made(root, pristine, "freeze").values())
    titles = [re.search(r"^Subject: (.*)$", text, re.MULTILINE) for text in found]
    assert [title[1] if title else "" for title in titles] == [
        "[PATCH 1/3] lull: all of it",
        "[PATCH 2/3] freezer: call freeze",
        "[PATCH 3/3] freeze: the rest",
    ]
    added = [re.findall(r"^\+\+\+ b/(.*)$", text, re.MULTILINE) for text in found]
    # The option comes last: until then nothing that a hook calls is compiled.
    assert added[1] == ["include/linux/lull_freeze.h", "kernel/freezer.c"]
    assert added[2] == [
        "kernel/lull/Kconfig.features",
        "kernel/lull/freeze/Kconfig",
        "kernel/lull/freeze/freeze.c",
    ]


def test_a_hook_that_comes_before_another_leaves_it_its_header(
    root: Path, pristine: Pristine
) -> None:
    """What two hooks include comes with the first."""
    again = HOOK.format(what="freeze", at=8, next=9).replace("call freeze", "again")
    put(root / "features/freeze/hooks/6.12/0002-again.patch", again)
    found = list(made(root, pristine, "freeze").values())
    assert "create mode 100644 include/linux/lull_freeze.h" in found[1]
    assert "create mode" not in found[2]


EARLY = """
[[early]]
hook = "0001-call"
file = "kernel/freezer.c"
after = "line 9"
text = "#include <again>"
"""


def test_what_a_later_hook_brings_can_come_early(
    root: Path, pristine: Pristine
) -> None:
    hook = HOOK.format(what="again", at=9, next=10).replace(
        "linux/lull_again.h", "again"
    )
    hook = hook.replace("+9,3", "+9,4").replace("again>\n", "again>\n+again();\n")
    put(root / "features/freeze/hooks/6.12/0002-again.patch", hook)
    says = root / "features/freeze/series.toml"
    said = says.read_text()
    plain = list(made(root, pristine, "freeze").values())
    put(says, said + EARLY)
    found = list(made(root, pristine, "freeze").values())
    include, call = "\n+#include <again>\n", "\n+again();\n"
    assert [(include in text, call in text) for text in plain[1:3]] == [
        (False, False),
        (True, True),
    ]
    assert [(include in text, call in text) for text in found[1:3]] == [
        (True, False),
        (False, True),
    ]
    put(says, said + EARLY.replace("line 9", "line 99"))
    with pytest.raises(
        LabError, match=r"no place in kernel/freezer\.c after 'line 99'"
    ):
        made(root, pristine, "freeze")


def test_a_patch_with_nothing_in_it_is_refused(root: Path, pristine: Pristine) -> None:
    stages = assemble.stages_of(order(["freeze"], BASE, None, root), root)
    with pytest.raises(LabError, match="nothing in this patch"):
        assemble.stages.steps([stages[0], stages[0]], pristine.read)


def test_a_hunk_has_three_lines_of_context(root: Path, pristine: Pristine) -> None:
    text = list(made(root, pristine, "freeze").values())[1]
    hunk = text.split("+++ b/kernel/freezer.c\n")[1]
    assert [line[:1] for line in hunk.split("\n")[1:8]] == [*"   +   "]


def test_the_message_of_who_completes_a_feature_has_its_promises(
    root: Path, pristine: Pristine
) -> None:
    found = list(made(root, pristine, "freeze").values())
    held = "\n  time lull <= 0.5 of stock at load (insn)\n---\n"
    assert [held in text for text in found] == [False, False, True]
    assert "lull run freeze --check" in found[2]


def test_nobody_has_written_it_and_it_says_so(root: Path, pristine: Pristine) -> None:
    for text in made(root, pristine, "freeze").values():
        head, _, below = text.partition("\n---\n")
        assert f"From: {NOBODY[0]} <{NOBODY[1]}>" in head
        assert "Signed-off-by" not in head
        assert "--reset-author" in below.split("\n\n")[0]


def test_it_is_the_same_every_time_wherever_it_is_made(
    root: Path,
    pristine: Pristine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = made(root, pristine, "thaw")
    put(tmp_path / "home/.gitconfig", "[format]\nsignature = me\n[diff]\ncontext = 9\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "me")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=9")
    elsewhere = Pristine(tree(tmp_path / "elsewhere"), "6.12.117")
    assert made(root, elsewhere, "thaw") == first


def test_an_executable_stays_one(root: Path, pristine: Pristine) -> None:
    (pristine.tree / "kernel/freezer.c").chmod(0o755)
    assert "100755" in list(made(root, pristine, "freeze").values())[1]
    assert "old mode" not in "".join(made(root, pristine, "freeze").values())


def test_patches_that_would_give_another_tree_are_never_handed_out(
    root: Path, pristine: Pristine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = assemble.mails.write

    def wrong(*words: object, **more: object) -> list[tuple[str, bytes]]:
        found = real(*words, **more)  # type: ignore[arg-type]
        return [(name, data.replace(b"int all", b"int odd")) for name, data in found]

    monkeypatch.setattr(assemble.mails, "write", wrong)
    with pytest.raises(LabError, match=r"freeze\.c would not be as the lab builds it"):
        made(root, pristine, "freeze")
    monkeypatch.setattr(assemble.mails, "write", lambda *a, **k: real(*a, **k)[:-1])
    with pytest.raises(LabError, match="would not be as the lab builds it"):
        made(root, pristine, "freeze")


def test_a_file_that_nobody_asked_for_is_seen() -> None:
    mail = b"--- /dev/null\n+++ b/odd\n@@ -0,0 +1 @@\n+odd\n"
    with pytest.raises(LabError, match="odd would not"):
        prove([("1", mail)], lambda path: None, {})


@pytest.mark.parametrize("name", ["freze", "", "lid"])
def test_an_unknown_feature_is_answered_with_those_there_are(
    root: Path, name: str
) -> None:
    with pytest.raises(UsageError, match="freeze, thaw"):
        order([name], BASE, None, root)


def test_a_base_without_hooks_is_refused(root: Path) -> None:
    """The new files alone would pass for the feature."""
    put(root / "kernel/hooks/6.1/0001-frame.patch", "")
    with pytest.raises(UsageError, match=r"features/freeze has no hooks for 6\.1"):
        order(["freeze"], "6.1", None, root)


def test_a_feature_of_which_nothing_is_said(root: Path, pristine: Pristine) -> None:
    says = root / "features/freeze/series.toml"
    says.write_text(says.read_text().split("[core]")[0])
    assert made(root, pristine, "freeze", reader=Reader.DISTRO)
    with pytest.raises(LabError, match="after the hooks"):
        made(root, pristine, "freeze")


def test_nothing_is_taken_back_by_a_later_patch(root: Path, pristine: Pristine) -> None:
    stages = assemble.stages.fine(
        gather(root, BASE, Arm.LULL), root, ("freeze",), assemble.entries(root)
    )
    for before, after in pairwise(stages):
        assert before.inputs.overlay.keys() <= after.inputs.overlay.keys()
    with pytest.raises(LabError, match="takes back"):
        assemble.stages.steps([stages[1], stages[0]], pristine.read)
