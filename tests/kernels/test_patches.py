# SPDX-License-Identifier: GPL-2.0-only
"""Patches: what applies, where, and what the refusals say."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lull.errors import LabError
from lull.kernels.patches import apply_patch, parse_patch

FILE = """\
int one(void)
{
	work();
	return 0;
}

int two(void)
{
	work();
	return 0;
}
"""

PATCH = """\
From: nobody
Subject: freezer: do more

A message with a --- dash line and
rename words in it.
---
 kernel/f.c | 1 +

diff --git a/kernel/f.c b/kernel/f.c
index 1..2 100644
--- a/kernel/f.c
+++ b/kernel/f.c
@@ -9,2 +9,3 @@ int two(void)
 \twork();
+\tmore();
 \treturn 0;
--\x20
2.39.5
"""


def apply(patch: str, files: dict[str, str]) -> dict[str, str | None]:
    return apply_patch("x.patch", patch, files.get)


def test_applies_at_the_stated_line() -> None:
    new = apply(PATCH, {"kernel/f.c": FILE})["kernel/f.c"]
    head, _, tail = FILE.rpartition("\twork();\n")
    assert new == head + "\twork();\n\tmore();\n" + tail


def test_moves_with_the_heading_when_lines_came_before() -> None:
    # Now the stated line 9 is something else, and the first function has
    # the same lines nearer to it: only the heading tells them apart.
    before = "/* new */\n" * 3 + FILE
    new = apply(PATCH, {"kernel/f.c": before})["kernel/f.c"]
    assert new is not None
    assert new.index("more();") > new.index("int two")


def test_the_heading_wins_over_the_stated_line() -> None:
    # Six lines in front put the first function's lines at the stated place.
    before = "/* new */\n" * 6 + FILE
    new = apply(PATCH, {"kernel/f.c": before})["kernel/f.c"]
    assert new is not None
    assert new.index("more();") > new.index("int two")


def test_several_places_without_a_heading_are_refused() -> None:
    bare = PATCH.replace(" int two(void)", "")
    with pytest.raises(LabError, match=r"several places \(5, 11\)"):
        apply(bare, {"kernel/f.c": "//\n//\n" + FILE})


def test_context_mismatch_names_file_hunk_and_lines() -> None:
    changed = FILE.replace("return 0", "return 1")
    with pytest.raises(LabError) as caught:
        apply(PATCH, {"kernel/f.c": changed})
    text = str(caught.value)
    assert caught.value.where == "x.patch"
    assert "hunk 1 for kernel/f.c" in text
    assert "@@ -9,2 +9,3 @@ int two(void)" in text
    assert "    |\twork();\n    |\treturn 0;" in text


def test_blanks_are_not_fuzzed() -> None:
    with pytest.raises(LabError, match="not in the file"):
        apply(PATCH, {"kernel/f.c": FILE.replace("\twork", "    work")})


def test_later_hunks_follow_what_earlier_ones_moved() -> None:
    text = "".join(f"{n}\n" for n in [*range(1, 10), "x", "y", "x", "y", "x", "y"])
    patch = (
        "--- a/f\n+++ b/f\n@@ -2,1 +2,2 @@\n 2\n+new\n"
        "@@ -12,2 +13,3 @@\n x\n+here\n y\n"
    )
    # Two lines in front: both hunks are off by two, the second is only
    # found because the first one said so.
    new = apply(patch, {"f": "0\n0\n" + text})["f"]
    assert new is not None
    assert new.endswith("9\nx\ny\nx\nhere\ny\nx\ny\n")


def test_new_and_removed_files() -> None:
    patch = (
        "diff --git a/n.c b/n.c\nnew file mode 100644\n--- /dev/null\n+++ b/n.c\n"
        "@@ -0,0 +1,2 @@\n+a\n+b\n"
        "diff --git a/o.c b/o.c\ndeleted file mode 100644\n--- a/o.c\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-gone\n"
    )
    assert apply(patch, {"o.c": "gone\n"}) == {"n.c": "a\nb\n", "o.c": None}
    with pytest.raises(LabError, match=r"n\.c exists"):
        apply(patch, {"o.c": "gone\n", "n.c": ""})
    with pytest.raises(LabError, match="not all of it"):
        apply(patch, {"o.c": "gone\nmore\n"})


def test_missing_newline_at_the_end() -> None:
    patch = (
        "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )
    assert apply(patch, {"f": "a\nb"}) == {"f": "a\nc\n"}
    with pytest.raises(LabError, match="newline at the end"):
        apply(patch, {"f": "a\nb\n"})


def test_a_file_may_hold_form_feeds() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n+b\n c\x0cd\n"
    assert apply(patch, {"f": "a\nc\x0cd\n"}) == {"f": "a\nb\nc\x0cd\n"}


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("just text\n", "changes no file"),
        ("@@ -1 +1 @@\n-a\n+b\n", "without the two file lines"),
        ("--- a/f\n+++ b/f\n", "no hunk"),
        ("--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n", "renames"),
        ("--- a/../f\n+++ b/../f\n@@ -1 +1 @@\n-a\n+b\n", "a path in the tree"),
        ("--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "a path in the tree"),
        ("--- a/f\n+++ b/f\n@@ -1,3 +1 @@\n-a\n+b\n", "shorter than"),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n", "longer than"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n+c\n-d\n", "longer than"),
        ("--- a/f\n+++ b/f\n@@ -1,x +1 @@\n-a\n", "malformed header"),
        ("diff --git a/f b/g\nsimilarity index 9%\nrename from f\n", "not supported"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 1\n", "not supported"),
    ],
)
def test_refuses_what_is_not_a_patch(patch: str, message: str) -> None:
    with pytest.raises(LabError, match=message):
        parse_patch("x.patch", patch)


def test_errors_name_the_line() -> None:
    with pytest.raises(LabError) as caught:
        parse_patch("x.patch", "--- a/f\n+++ b/f\n@@ -1,9 +1 @@\n-a\n+b\n*\n")
    assert caught.value.where == "x.patch:6"


lines = st.lists(
    st.sampled_from(["", "a", "b", "{", "}", "-- x", "++ y", "int f(void)"]),
    max_size=12,
)


@given(lines, lines)
@settings(max_examples=60, deadline=None)
def test_undoes_what_diff_says(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str]
) -> None:
    if not shutil.which("diff"):
        pytest.fail("diff is needed")
    before = "".join(f"{line}\n" for line in old)
    after = "".join(f"{line}\n" for line in new)
    place = tmp_path_factory.mktemp("diff")
    (place / "old").write_text(before)
    (place / "new").write_text(after)
    labels = ["--label", "a/f", "--label", "b/f"]
    diff = subprocess.run(
        ["diff", "-U1", *labels, "old", "new"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    if diff:
        assert apply_patch("x", diff, {"f": before}.get) == {"f": after}


pieces = st.lists(
    st.sampled_from(
        """\
--- a/f|+++ b/f|@@ -1 +1 @@|@@ -1,2 +1,3 @@ h|@@ x| a|-a|+b||-- |\\ No newline|é
diff --git a/f b/f|rename from f|--- /dev/null|+++ /dev/null|\x0c
""".replace("\n", "|").split("|")
    ),
    max_size=14,
)


WHOLE = ["--- a/f", "+++ b/f", "@@ -1 +1 @@", "-a", "+b"]


@st.composite
def nearly_whole(draw: st.DrawFn) -> list[str]:
    """A section that changes a line, with a few of its lines gone, or others put in."""
    lines = list(WHOLE)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 1))] = draw(pieces)[:2]
    return lines


def test_a_whole_section_is_applied() -> None:
    """Of such the next test makes what it looks at."""
    after = apply_patch("x", "\n".join(WHOLE), {"f": "a\n"}.get)
    assert after == {"f": "b\n"}


@given(st.one_of(pieces, nearly_whole()))
def test_anything_is_parsed_or_refused(parts: list[str]) -> None:
    text = "\n".join(parts)
    try:
        files = parse_patch("x", text)
    except LabError:
        return
    for file in files:
        for hunk in file.hunks:
            assert all(line[0] in " +-" for line in hunk.lines)
    try:
        apply_patch("x", text, {"f": "a\nb\n"}.get)
    except LabError:
        return


def test_the_projects_hooks_parse() -> None:
    root = Path(__file__).resolve().parents[2]
    hooks = [*root.glob("kernel/hooks/*/*.patch")]
    hooks += root.glob("features/*/hooks/*/*.patch")
    assert len(hooks) > 20
    for hook in hooks:
        assert parse_patch(str(hook), hook.read_text("utf-8"))
