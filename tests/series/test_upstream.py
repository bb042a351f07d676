# SPDX-License-Identifier: GPL-2.0-only
"""A series without frame, modes and tests: what is left, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull import cli
from lull.errors import LabError, LullError, UsageError
from lull.series import cli as command
from lull.series.assemble import Reader, order, planner
from lull.series.pristine import Pristine
from lull.series.stages import DoesNotFit
from tests.series.made import HOOK, put
from tests.series.made_up import BASE, NEAR, SAYS, WAIT, change, made

WORDS = """[upstream.patch.words]
title = "freezer: wait for it"
text = "Why."
"""


def test_what_is_left_of_a_hook_and_its_header(root: Path, pristine: Pristine) -> None:
    found = made(root, pristine)
    assert list(found) == ["0000-cover-letter.patch", "0001-freezer-wait-for-it.patch"]
    text = found["0001-freezer-wait-for-it.patch"]
    assert "Subject: [PATCH 1/1] freezer: wait for it\n\nWhy.\n---" in text
    added = [line[1:] for line in text.split("\n") if line.startswith("+")]
    assert added == [
        "++ b/include/linux/freezer.h",
        "int waits;",
        "++ b/kernel/freezer.c",
        "/* It waits. */",
        "static void freezer_wait(void)",
        "{",
        "\tint nr;",
        "}",
        "\tfreezer_wait();",
    ]


def test_a_feature_of_which_nobody_has_said_what_it_comes_to(root: Path) -> None:
    wanted = order(["thaw"], BASE, Reader.UPSTREAM, root)
    assert wanted.names == ("thaw",)
    with pytest.raises(UsageError, match="no series for upstream of thaw") as caught:
        planner(wanted, root)
    assert "--for distro" in caught.value.hint


SECOND = """
[[upstream.patch]]
words = { title = "freezer: wait twice", text = "Why twice." }
yes = ["lull_freeze_twice"]
[[upstream.edit]]"""


def test_what_a_later_patch_brings_is_not_there_before(
    root: Path, pristine: Pristine
) -> None:
    again = "+\tif (lull_freeze_twice())\n+\t\tlull_freeze_wait();\n line 15"
    hook = root / "features/freeze/hooks/6.12/0002-wait.patch"
    put(hook, WAIT.replace("+14,5", "+14,7").replace(" line 15", again))
    change(root, "\n[[upstream.edit]]", SECOND)
    _, first, second = made(root, pristine).values()
    assert first.count("+\tfreezer_wait();") == 1
    assert "[PATCH 2/2] freezer: wait twice\n\nWhy twice.\n---" in second
    added = [line for line in second.split("\n") if line.startswith("+")]
    assert added == ["+++ b/kernel/freezer.c", "+\tfreezer_wait();"]


def test_what_nobody_needs_yet_comes_with_who_needs_it(
    root: Path, pristine: Pristine
) -> None:
    again = "+\tif (lull_freeze_twice())\n+\t\tlull_freeze_more();\n line 15"
    hook = root / "features/freeze/hooks/6.12/0002-wait.patch"
    put(hook, WAIT.replace("+14,5", "+14,7").replace(" line 15", again))
    more = "static void lull_freeze_more(void)\n{\n}\n\nstatic void lull_freeze_wait"
    header = root / "features/freeze/kernel/kernel/lull_near.h"
    put(header, NEAR.replace("static void lull_freeze_wait", more, 1))
    change(root, "\n[[upstream.edit]]", SECOND)
    change(root, "rename = {", 'rename = { lull_freeze_more = "freezer_more",')
    _, first, second = made(root, pristine).values()
    assert "freezer_more" not in first
    assert "+static void freezer_more(void)\n+{\n+}\n" in second


BEFORE = """
[[upstream.patch]]
words = { title = "freezer: wait late", text = "Why late." }
[[upstream.patch.before]]
file = "kernel/lull_near.h"
old = "	late();"
new = "	early();"
[[upstream.patch]]
words = { title = "freezer: wait later", text = "Why later." }
[[upstream.patch.before]]
file = "kernel/lull_near.h"
old = "	lull_freeze_count(FREEZE_WAITS, 1);"
new = "	late();"
[[upstream.edit]]"""


def test_what_was_there_before_a_patch_is_undone_from_the_last(
    root: Path, pristine: Pristine
) -> None:
    change(root, "\n[[upstream.edit]]", BEFORE)
    _, *mails = made(root, pristine).values()
    changed = [
        [line for line in mail.split("\n") if re.match(r"[-+]\t\w*\(\);", line)]
        for mail in mails
    ]
    assert changed == [
        ["+\tearly();", "+\tfreezer_wait();"],
        ["-\tearly();", "+\tlate();"],
        ["-\tlate();"],
    ]
    more = (
        '[[upstream.patch.before]]\nfile = "kernel/lull_near.h"\nold = "no"\nnew = ""'
    )
    change(root, "[[upstream.edit]]", f"{more}\n[[upstream.edit]]")
    with pytest.raises(LabError, match="nothing to replace: 'no'"):
        made(root, pristine)


TAKES = """
[[upstream.patch]]
words = {{ title = "freezer: more", text = "More." }}
{more}
[[upstream.edit]]"""

SOURCE = """\
// SPDX-License-Identifier: GPL-2.0-only
#include "lull_near.h"

static int lull_odd;

/* Nobody counts (FZ1). */
void lull_freeze_more(int a,
\t\t      int b)
{
	lull_freeze_count(0, 1);
	if (lull_freeze_on())
		b();
}
"""


def test_what_is_in_a_file_of_the_feature_is_taken_from_there(
    root: Path, pristine: Pristine
) -> None:
    more = """
calls = ["lull_freeze_more"]
[[upstream.patch.take]]
source = "kernel/lull/freeze/more.c"
names = ["lull_freeze_more"]
file = "kernel/freezer.c"
after = "line 20"
static = true
"""
    put(root / "features/freeze/kernel/kernel/lull/freeze/more.c", SOURCE)
    change(root, "\n[[upstream.edit]]", TAKES.format(more=more))
    change(root, "rename = {", 'rename = { lull_freeze_more = "more",')
    change(root, "line 20", "line 1")
    again = "+\tlull_freeze_more(1, 2);\n line 15"
    hook = root / "features/freeze/hooks/6.12/0002-wait.patch"
    put(hook, WAIT.replace("+14,5", "+14,6").replace(" line 15", again))
    text = list(made(root, pristine).values())[2]
    assert "+/* Nobody counts. */\n+static void more(int a,\n+\t\t int b)\n" in text
    assert "+{\n+\tb();\n+}\n" in text and "odd" not in text
    change(root, '"line 1"', '"line 99"')
    with pytest.raises(LabError, match="not one of it, but 0"):
        made(root, pristine)


def test_a_file_of_the_feature_becomes_one_of_the_kernel(
    root: Path, pristine: Pristine
) -> None:
    more = """
take = [{ source = "kernel/lull/freeze/more.c", file = "kernel/more.c" }]
remove = ["lull_odd"]
"""
    put(root / "features/freeze/kernel/kernel/lull/freeze/more.c", SOURCE)
    change(root, "\n[[upstream.edit]]", TAKES.format(more=more))
    change(root, "rename = {", 'rename = { lull_freeze_more = "more",')
    with pytest.raises(LabError, match=r"Lull is left in kernel/more\.c"):
        made(root, pristine)
    first = """[[upstream.first]]
file = "kernel/lull/freeze/more.c"
old = '#include "lull_near.h"'
new = '#include "near.h"'
[[upstream.edit]]"""
    change(root, "[[upstream.edit]]", first)
    text = list(made(root, pristine).values())[2]
    assert "+++ b/kernel/more.c" in text and "odd" not in text
    assert "+void more(int a,\n+\t  int b)\n" in text


def test_another_text_for_what_has_changed_is_refused(
    root: Path, pristine: Pristine
) -> None:
    says = root / "features/freeze/series.toml"
    said = says.read_text()
    define = """
[[upstream.define]]
file = "kernel/lull_near.h"
name = "lull_freeze_wait"
was = "{was}"
text = "static void lull_freeze_wait(void) {{ here(); }}\\n"
"""
    near = NEAR.split("#ifdef")[0] + NEAR.split("_FREEZE\n")[1].split("#else")[0]
    put(root / "features/freeze/kernel/kernel/lull_near.h", near)
    says.write_text(said.split("[[upstream.edit]]")[0] + define.format(was="0" * 8))
    with pytest.raises(LabError, match=r"lull_freeze_wait in .*lull_near\.h") as caught:
        made(root, pristine)
    was = re.search(r'was = "(\w+)"', caught.value.hint)
    assert was
    says.write_text(said.split("[[upstream.edit]]")[0] + define.format(was=was[1]))
    text = list(made(root, pristine).values())[1]
    assert "+static void freezer_wait(void) { here(); }\n" in text


def test_hooks_may_be_made_on_those_of_another_feature(
    root: Path, pristine: Pristine
) -> None:
    """What these do is not in the series, and its headers need not be there."""
    other = HOOK.format(what="thaw", at=14, next=15)
    put(root / "features/thaw/hooks/6.12/0001-call.patch", other)
    hook = root / "features/freeze/hooks/6.12/0002-wait.patch"
    wait = WAIT.replace(" line 14\n", " #include <linux/lull_thaw.h>\n")
    put(hook, wait.replace("-14,2 +14,5", "-15,2 +15,5"))
    with pytest.raises(DoesNotFit):
        made(root, pristine)
    change(root, "true = [", 'below = ["thaw/0001-call"]\ntrue = [')
    text = list(made(root, pristine).values())[1]
    assert "thaw" not in text and "+\tfreezer_wait();" in text
    change(root, "thaw/0001-call", "thaw/0002-call")
    with pytest.raises(LabError, match="these are not hooks"):
        made(root, pristine)


#: A patch, an edit and a hook that is in none, as one base alone has them.
ONE_BASE = r"""
[[upstream.patch]]
bases = ["BASE"]
words = { title = "freezer: wait twice", text = "Why twice." }

[[upstream.patch.edit]]
file = "kernel/freezer.c"
old = "\tlull_freeze_wait();"
new = "\tfreezer_waits();"

[[upstream.also_skip]]
bases = ["BASE"]
hooks = ["0003-for-comparison"]

[[upstream.edit]]"""


@pytest.mark.parametrize(("base", "patches"), [(BASE, 2), ("7.3", 1)])
def test_what_is_said_of_another_base_is_not_said_of_this(
    root: Path, pristine: Pristine, base: str, patches: int
) -> None:
    change(root, "\n[[upstream.edit]]", ONE_BASE.replace("BASE", base))
    if base == BASE:
        with pytest.raises(UsageError, match="there is no hook 0003-for-comparison"):
            made(root, pristine)
        change(root, "0003-for-comparison", "0002-wait")
    _, *mails = made(root, pristine).values()
    assert len(mails) == patches
    assert ("+\tfreezer_waits();" in mails[-1]) is (base == BASE)


REWORD = """
[[upstream.reword]]
bases = ["BASE"]
old = "All of it."
new = "Some of it."

[[upstream.edit]]"""


def test_a_message_may_be_in_other_words_on_a_base(
    root: Path, pristine: Pristine
) -> None:
    change(root, "\n[[upstream.edit]]", REWORD.replace("BASE", "7.3"))
    assert "\nAll of it." in made(root, pristine)["0000-cover-letter.patch"]
    change(root, 'bases = ["7.3"]', f'bases = ["{BASE}"]')
    assert "\nSome of it." in made(root, pristine)["0000-cover-letter.patch"]
    change(root, 'old = "All of it."', 'old = "of it."')
    with pytest.raises(LabError, match="not once, but 3 times"):
        made(root, pristine)


def test_a_base_may_have_a_file_of_its_own(root: Path, pristine: Pristine) -> None:
    own = SAYS.partition("[upstream]")[2].replace("upstream.", "")
    file = put(root / f"features/freeze/series-{BASE}.toml", own)
    put(file, file.read_text().replace("Why all of it.", "Why it is so here."))
    letter, *_ = made(root, pristine).values()
    assert "Why it is so here." in letter and "Why all of it." not in letter
    put(file, file.read_text().replace('"0003-compare"', '"0003-none"'))
    with pytest.raises(UsageError) as caught:
        made(root, pristine)
    assert caught.value.where == f"features/freeze/series-{BASE}.toml"
    twice = '[[first]]\nfile = "kernel/lull_near.h"\nold = "freeze_wait"\nnew = "x"\n'
    put(file, file.read_text().replace('"0003-none"', '"0003-compare"') + twice)
    with pytest.raises(LabError, match="more than one of it") as wrong:
        made(root, pristine)
    assert wrong.value.where == caught.value.where
    put(file, file.read_text().replace("Why it is so here.", "x" * 80))
    with pytest.raises(LabError, match=f"series-{BASE}.toml.*longer than 75"):
        made(root, pristine)


#: What a base wants otherwise in a file of the feature's.
OTHER = """
diff --git a/kernel/lull_near.h b/kernel/lull_near.h
--- a/kernel/lull_near.h
+++ b/kernel/lull_near.h
@@ -5,3 +5,3 @@
 {
-\tint nr, unused;
+\tint nr, unused;\t/* here */
 
"""


def test_a_file_of_the_feature_is_as_the_base_wants_it(
    root: Path, pristine: Pristine
) -> None:
    put(root / "features/freeze/hooks/6.12/0002-wait.patch", WAIT + OTHER.lstrip())
    _, text = made(root, pristine).values()
    assert "+\tint nr;\t/* here */\n" in text
    assert "lull_near.h" not in text


def test_the_command_counts_patches_and_says_what_is_left_out(
    root: Path, pristine: Pristine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "repo_root", lambda: root)
    change(root, 'tests = "Some."', 'tests = "Some."\nleft_out = "The walk."')
    words = ["series", "freeze", "--for", "upstream", "--tree", str(pristine.tree)]
    result = CliRunner().invoke(cli.app, [*words, "-o", str(tmp_path / "out")])
    assert "not all of freeze: The walk.\n" in result.output
    assert "\n1 patches for Linux" in result.output
    assert len(list((tmp_path / "out").iterdir())) == 2


@pytest.mark.parametrize("newest", ["7.3", BASE])
def test_the_command_says_what_a_base_that_is_not_the_newest_means(
    root: Path,
    pristine: Pristine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    newest: str,
) -> None:
    monkeypatch.setattr(command, "repo_root", lambda: root)
    monkeypatch.setattr(command, "base_names", lambda: [BASE, newest])
    words = ["series", "freeze", "--for", "upstream", "--tree", str(pristine.tree)]
    said = CliRunner().invoke(cli.app, [*words, "-o", str(tmp_path / "out")]).output
    lines = [line for line in said.split("\n") if "against mainline" in line]
    assert len(lines) == (newest != BASE)
    assert not lines or "6.12.117, the newest base here is 7.3" in lines[0]
    assert "say where the project is, at 'where: fill in'\n" in said
    put(root / "pyproject.toml", '[project.urls]\nSource = "https://here.example"\n')
    said = CliRunner().invoke(cli.app, [*words, "-o", str(tmp_path / "two")]).output
    assert "where the project is" not in said


def test_it_is_of_one_feature(root: Path) -> None:
    with pytest.raises(UsageError, match="one feature"):
        order(["freeze", "thaw"], BASE, Reader.UPSTREAM, root)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("0003-compare", "0003-other", "there is no hook 0003-other"),
        ('"0001-call", "0003-compare"', '"0001-call"', "nothing is said of the hook"),
        (
            '["0002-wait"]',
            '["0002-wait", "0003-compare"]',
            "Lull is left in kernel/freezer.c: 'lull_comp",
        ),
        ('drop = ["lull_freeze_count"]', "", "Lull is left"),
        ('"freezer_wait"', '"freeze_debug_wait"', r"Lull is left in .*freeze_debug_w"),
        (
            'rename = { lull_freeze_wait = "freezer_wait" }',
            "",
            "'static void lull_free",
        ),
        ("int nr, unused;", "int no;", "nothing to replace: 'int no;'"),
        ('"int freezer;"', '"int frozen;"', "not one of it, but 0"),
        ('true = ["lull_freeze_on"]', "", "Lull is left"),
        ("[upstream.patch.words]", "[[upstream.patch.edit]]", "Field required"),
        (WORDS, "", "the message speaks of Lull"),
        ('hooks = ["0002-wait"]', "", "nothing is said of the hook 0002-wait"),
        ('["dead"]', '["dead"]\nremove = ["thawer"]', "no thawer to remove"),
        ('text = "Why."', 'text = "As on stock."', "the message speaks of Lull"),
    ],
)
def test_what_does_not_come_out_right_is_refused(
    root: Path, pristine: Pristine, old: str, new: str, match: str
) -> None:
    change(root, old, new)
    with pytest.raises(LullError, match=match):
        made(root, pristine)


def test_what_is_replaced_is_there_once(root: Path, pristine: Pristine) -> None:
    header = root / "features/freeze/kernel/kernel/lull_near.h"
    header.write_text(NEAR.replace("\tint nr,", "\tint nr, unused;\n\tint nr,"))
    with pytest.raises(LabError, match="not one of it, but 2"):
        made(root, pristine)
