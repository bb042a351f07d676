# SPDX-License-Identifier: GPL-2.0-only
"""A series without frame, modes and tests: what is left, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull import cli
from lull.errors import LabError, LullError, UsageError
from lull.model import Summary
from lull.report.ablation import render
from lull.series import cli as command
from lull.series.assemble import Reader, files, measured_in, order, planner
from lull.series.letter import KEPT, Measured
from lull.series.pristine import Pristine
from lull.series.stages import DoesNotFit
from tests.series.made import HOOK, project, put, tree

BASE = "6.12"

SAYS = """
[upstream]
true = ["lull_freeze_on"]
drop = ["lull_freeze_count"]
skip = ["0001-call", "0003-compare"]
tests = "Some."
rename = { lull_freeze_wait = "freezer_wait" }
[upstream.cover]
title = "freezer: wait"
text = "Why all of it."
[[upstream.patch]]
hooks = ["0002-wait"]
steps = ["dead"]
[upstream.patch.words]
title = "freezer: wait for it"
text = "Why."
[[upstream.patch.declare]]
file = "include/linux/freezer.h"
after = "int freezer;"
text = "int waits;"
[[upstream.edit]]
file = "kernel/freezer.c"
old = "int nr, unused;"
new = "int nr;"
"""

WORDS = """[upstream.patch.words]
title = "freezer: wait for it"
text = "Why."
"""

WAIT = """\
Subject: [PATCH] freezer: let Lull wait

Why, in all modes.

diff --git a/kernel/freezer.c b/kernel/freezer.c
--- a/kernel/freezer.c
+++ b/kernel/freezer.c
@@ -14,2 +14,5 @@
 line 14
+#include "lull_near.h"
+	if (lull_freeze_on())
+		lull_freeze_wait();
 line 15
"""

COMPARE = """\
Subject: [PATCH] freezer: compare

Why.

diff --git a/kernel/freezer.c b/kernel/freezer.c
--- a/kernel/freezer.c
+++ b/kernel/freezer.c
@@ -18,2 +18,3 @@
 line 18
+lull_compare();
 line 19
"""

NEAR = """\
/* SPDX-License-Identifier: GPL-2.0-only */
/* For kernel/freezer.c: it waits (FZ5). */
#ifdef CONFIG_LULL_FREEZE
static void lull_freeze_wait(void)
{
	int nr, unused;

	lull_freeze_count(FREEZE_WAITS, 1);
}
#else
static void lull_freeze_wait(void) { }
#endif
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = project(tmp_path / "project")
    room = root / "features/freeze"
    put(room / "series.toml", (room / "series.toml").read_text() + SAYS)
    put(room / "hooks/6.12/0002-wait.patch", WAIT)
    put(room / "hooks/6.12/0003-compare.patch", COMPARE)
    put(room / "kernel/kernel/lull_near.h", NEAR)
    return root


@pytest.fixture
def pristine(tmp_path: Path) -> Pristine:
    place = tree(tmp_path / "tree")
    put(place / "include/linux/freezer.h", "int freezer;\n")
    return Pristine(place, "6.12.117")


def made(
    root: Path, pristine: Pristine, measured: Measured | None = None
) -> dict[str, str]:
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    steps = planner(wanted, root)(pristine.read)
    found = files(wanted, steps, pristine, root, measured)
    return {name: data.decode() for name, data in found.items()}


def change(root: Path, old: str, new: str) -> None:
    says = root / "features/freeze/series.toml"
    assert old in says.read_text()
    says.write_text(says.read_text().replace(old, new))


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


def test_a_cover_letter_has_the_places_of_what_was_not_measured(
    root: Path, pristine: Pristine
) -> None:
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "Subject: [PATCH 0/1] freezer: wait\n" in letter
    for part in ("Why all of it.", "[empty: no run was named", "[empty: in no run"):
        assert part in letter
    assert "lull run freeze --base 6.12 --clock insn --ablate" in letter
    assert "1 file" in letter or "2 files" in letter
    assert "***" not in letter


def test_a_letter_says_how_long_each_patch_is(root: Path, pristine: Pristine) -> None:
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "\n    1  +7 -0      step dead\n\n" in letter
    note = "a note of many words, which goes on and on, and on and on"
    change(root, '["dead"]', f'["dead"]\nnote = "{note}"')
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert f"on and on,\n{' ' * 18}and on and on\n" in letter
    change(root, f'steps = ["dead"]\nnote = "{note}"', "fix = true")
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "\n    1  +7 -0      a fix of what is there\n\n" in letter
    # Nothing of it was measured.
    assert "[empty:" not in letter and "Evidence:" not in letter


def test_a_runs_table_is_quoted(root: Path, pristine: Pristine) -> None:
    letter = made(root, pristine, Measured("a b\n1 2"))["0000-cover-letter.patch"]
    assert "What it brings\na b\n1 2\n\n" in letter
    assert "no run was named" not in letter


def run_folder(place: Path, feature: str, base: str = BASE) -> Path:
    row = {
        "feature": feature,
        "workload": "load",
        "metric": "time",
        "unit": "ns",
        "params": {},
        "mode": "lull",
        "n": 1,
        "median": 1,
        "ci95": None,
    }
    summary = {
        "schema": 1,
        "base": base,
        "kernel": "6.12.117",
        "clock": "insn",
        "accel": "tcg",
        "cpus": 2,
        "rows": [row],
        "expectations": [],
        "ok": True,
    }
    put(place / "summary.json", json.dumps(summary))
    put(place / "table.txt", "the table\n")
    return place


def with_steps(place: Path) -> Summary:
    """A run's folder whose steps were taken out."""
    summary = json.loads((place / "summary.json").read_text())
    share = {
        "feature": "freeze",
        "workload": "load",
        "params": {},
        "metric": "time",
        "step": "dead",
        "text": "who is dead is not visited",
        "alone": "lull+dead",
        "without": "lull-dead",
        "none": "lull=none",
        "ratio": 0.5,
    }
    summary["steps"] = [share]
    summary["seeds"] = 6
    put(place / "summary.json", json.dumps(summary))
    return Summary.model_validate(summary)


def test_what_each_step_brings_is_quoted_once(root: Path, tmp_path: Path) -> None:
    place = run_folder(tmp_path / "run", "freeze")
    steps = render(with_steps(place)).strip()
    assert "dead" in steps
    put(place / "table.txt", f"{steps}\n\nthe table\n")
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    found = measured_in(place, wanted, root)
    assert found == Measured("the table", steps)


def test_without_a_run_the_letter_has_what_the_project_keeps(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    place = run_folder(tmp_path / "run", "freeze")
    table = render(with_steps(place)).strip()
    summary = (place / "summary.json").read_text()
    put(root / "features/freeze" / KEPT, summary)
    letter = made(root, pristine)["0000-cover-letter.patch"]
    again = "lull run freeze --base 6.12 --clock insn --ablate --seeds 6"
    assert f"as this repeats it:\n{again}\n\n{table}\n" in letter
    assert "[empty: no run was named" in letter
    assert "\n    1  +7 -0      step dead (0.500)\n\nIn brackets: all of it" in letter
    # That of another kernel says nothing.
    put(root / "features/freeze" / KEPT, summary.replace('"6.12"', '"6.1"'))
    assert "[empty: in no run" in made(root, pristine)["0000-cover-letter.patch"]
    put(root / "features/freeze" / KEPT, "{}")
    with pytest.raises(LabError, match="no summary of a run"):
        made(root, pristine)


def test_the_letter_has_what_each_step_brings(root: Path, pristine: Pristine) -> None:
    found = made(root, pristine, Measured("a b", "step dead"))
    letter = found["0000-cover-letter.patch"]
    assert "What each step brings\nstep dead\n\n" in letter
    assert "[empty:" not in letter


def test_what_is_not_all_of_a_feature_says_so(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    change(root, 'tests = "Some."', 'tests = "Some."\nleft_out = "The walk."')
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "What is not in it\nThe walk.\n\n" in letter
    assert "The figures are of all of it there" in letter
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    with pytest.raises(UsageError, match="not all of freeze"):
        measured_in(run_folder(tmp_path / "run", "freeze"), wanted, root)


def test_it_has_to_be_a_run_of_that(root: Path, tmp_path: Path) -> None:
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    assert measured_in(
        run_folder(tmp_path / "run", "freeze"), wanted, root
    ) == Measured("the table")
    for other in (
        run_folder(tmp_path / "other", "zfree"),
        run_folder(tmp_path / "old", "freeze", "6.1"),
    ):
        with pytest.raises(UsageError, match="a run of"):
            measured_in(other, wanted, root)
    with pytest.raises(UsageError, match="no run"):
        measured_in(tmp_path / "nowhere", wanted, root)
    (tmp_path / "run/table.txt").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        measured_in(tmp_path / "run", wanted, root)
    with pytest.raises(UsageError, match="for a cover letter"):
        measured_in(tmp_path / "run", order(["freeze"], BASE, None, root), root)


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


def test_the_command_counts_patches_and_says_what_is_left_out(
    root: Path, pristine: Pristine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "repo_root", lambda: root)
    change(root, 'tests = "Some."', 'tests = "Some."\nleft_out = "The walk."')
    words = ["series", "freeze", "--for", "upstream", "--tree", str(pristine.tree)]
    result = CliRunner().invoke(cli.app, [*words, "-o", str(tmp_path / "out")])
    assert "not all of freeze: The walk.\n1 patches for Linux" in result.output
    assert len(list((tmp_path / "out").iterdir())) == 2


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
