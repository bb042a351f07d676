# SPDX-License-Identifier: GPL-2.0-only
"""A series without frame, modes and tests: what is left, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lull.errors import LabError, LullError, UsageError
from lull.model import Summary
from lull.report.ablation import render
from lull.series.assemble import Reader, files, measured_in, order, planner
from lull.series.pristine import Pristine
from lull.series.upstream import Measured
from tests.series.made import project, put, tree

BASE = "6.12"

SAYS = """
[upstream]
true = ["lull_freeze_on"]
drop = ["lull_freeze_count"]
skip = ["0003-compare"]
tests = "Some."
rename = { lull_freeze_wait = "freezer_wait" }
[upstream.cover]
title = "freezer: wait"
text = "Why all of it."
[upstream.words."0002-wait"]
title = "freezer: wait for it"
text = "Why."
[[upstream.declare]]
hook = "0002-wait"
file = "include/linux/freezer.h"
after = "int freezer;"
text = "int waits;"
[[upstream.edit]]
file = "kernel/freezer.c"
old = "int nr, unused;"
new = "int nr;"
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
    # Of the first hook nothing is left: it included a header.
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
    assert "lull run freeze --base 6.12 --clock insn" in letter
    assert "1 file" in letter or "2 files" in letter
    assert "***" not in letter


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


def test_what_each_step_brings_is_quoted_once(root: Path, tmp_path: Path) -> None:
    place = run_folder(tmp_path / "run", "freeze")
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
    put(place / "summary.json", json.dumps(summary))
    steps = render(Summary.model_validate(summary)).strip()
    assert "dead" in steps
    put(place / "table.txt", f"{steps}\n\nthe table\n")
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    found = measured_in(place, wanted, root)
    assert found == Measured("the table", steps)


def test_the_letter_has_what_each_step_brings(root: Path, pristine: Pristine) -> None:
    found = made(root, pristine, Measured("a b", "step dead"))
    letter = found["0000-cover-letter.patch"]
    assert "What each step brings\nstep dead\n\n" in letter
    assert "[empty:" not in letter


def test_what_is_not_all_of_a_feature_says_so_and_has_no_figures(
    root: Path, pristine: Pristine, tmp_path: Path
) -> None:
    change(root, 'tests = "Some."', 'tests = "Some."\nleft_out = "The walk."')
    letter = made(root, pristine)["0000-cover-letter.patch"]
    assert "What is not in it\nThe walk.\n\n" in letter
    assert "Evidence:" not in letter and "lull run" not in letter
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


def test_a_hook_that_does_two_things_is_two_patches(
    root: Path, pristine: Pristine
) -> None:
    says = root / "features/freeze/series.toml"
    part = """
[[upstream.part]]
hook = "0002-wait"
words = { title = "freezer: have it", text = "Why first." }
without = [{ file = "kernel/freezer.c", old = "\\tfreezer_wait();\\n", new = "" }]
"""
    put(says, says.read_text() + part)
    _, first, second = made(root, pristine).values()
    assert "[PATCH 1/2] freezer: have it\n\nWhy first.\n---" in first
    assert "+static void freezer_wait(void)" in first
    assert "[PATCH 2/2] freezer: wait for it\n" in second
    added = [ln for ln in second.split("\n") if ln.startswith("+")]
    assert added == ["+++ b/kernel/freezer.c", "+\tfreezer_wait();"]
    change(root, "freezer_wait();", "freezer_waits();")
    with pytest.raises(LabError, match="not one of it, but 0"):
        made(root, pristine)


def test_it_is_of_one_feature(root: Path) -> None:
    with pytest.raises(UsageError, match="one feature"):
        order(["freeze", "thaw"], BASE, Reader.UPSTREAM, root)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("0003-compare", "0003-other", "there is no hook 0003-other"),
        ('skip = ["0003-compare"]', "", "Lull is left in kernel/freezer.c: 'lull_comp"),
        ('drop = ["lull_freeze_count"]', "", "Lull is left"),
        (
            'rename = { lull_freeze_wait = "freezer_wait" }',
            "",
            "'static void lull_free",
        ),
        ("int nr, unused;", "int no;", "nothing to replace: 'int no;'"),
        ('"int freezer;"', '"int frozen;"', "not one of it, but 0"),
        ('true = ["lull_freeze_on"]', "", "Lull is left"),
        ('words."0002-wait"', 'words."0001-call"', "the message speaks of Lull"),
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
