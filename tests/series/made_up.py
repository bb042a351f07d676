# SPDX-License-Identifier: GPL-2.0-only
"""A feature of a project that is made up, with a series for upstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lull.series.assemble import Reader, files, order, planner
from lull.series.figures import Quoted
from lull.series.pristine import Pristine
from tests.repository import git
from tests.series.made import project, put, tree

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
newer = "None of it."
breaks = "All of it."
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

#: Where the project keeps what it has measured of it.
RESULTS = "features/freeze/results/insn.json"
STEPS = "features/freeze/results/ablate-insn.json"

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


def freezer(place: Path) -> Path:
    """The project: its root."""
    root = project(place)
    room = root / "features/freeze"
    put(room / "series.toml", (room / "series.toml").read_text() + SAYS)
    put(room / "hooks/6.12/0002-wait.patch", WAIT)
    put(room / "hooks/6.12/0003-compare.patch", COMPARE)
    put(room / "kernel/kernel/lull_near.h", NEAR)
    put(root / RESULTS, json.dumps(summary()))
    return root


def row(mode: str, median: float, **more: Any) -> dict[str, Any]:
    """A row of summary.json: of the one case that there is."""
    return {
        "feature": "freeze",
        "workload": "load",
        "metric": "time",
        "unit": "ns",
        "params": {},
        "mode": mode,
        "n": 6,
        "median": median,
        "ci95": None,
        **more,
    }


def summary(feature: str = "freeze", base: str = BASE) -> dict[str, Any]:
    """What a run leaves: half of what stock takes."""
    lull = {"ratio": 0.5, "ratio_ci95": [0.4, 0.6], "p": 0.01}
    rows = [row("stock", 2000, feature=feature)]
    rows.append(row("lull", 1000, feature=feature, **lull))
    return {
        "schema": 1,
        "base": base,
        "kernel": "6.12.117",
        "clock": "insn",
        "accel": "tcg",
        "cpus": 2,
        "seeds": 6,
        "rows": rows,
        "expectations": [],
        "ok": True,
    }


def share(step: str, ratio: float, low: float, high: float) -> dict[str, Any]:
    """What a step brings, with its interval."""
    return {
        "feature": "freeze",
        "workload": "load",
        "params": {},
        "metric": "time",
        "step": step,
        "text": f"what {step} does",
        "alone": f"lull+{step}",
        "without": f"lull-{step}",
        "none": "lull=none",
        "ratio": ratio,
        "ratio_ci95": [low, high],
        "p": 0.01,
    }


def freezer_tree(place: Path) -> Pristine:
    """The kernel that it changes."""
    tree(place)
    put(place / "include/linux/freezer.h", "int freezer;\n")
    return Pristine(place, "6.12.117")


def made(
    root: Path, pristine: Pristine, measured: Quoted | None = None
) -> dict[str, str]:
    wanted = order(["freeze"], BASE, Reader.UPSTREAM, root)
    steps = planner(wanted, root)(pristine.read)
    found = files(wanted, steps, pristine, root, measured)
    return {name: data.decode() for name, data in found.items()}


def change(root: Path, old: str, new: str, file: str = "series.toml") -> None:
    """One thing is otherwise in what the feature says of itself."""
    says = root / "features/freeze" / file
    assert old in says.read_text()
    says.write_text(says.read_text().replace(old, new))


LETTER = "0000-cover-letter.patch"

NOTE_TEXT = "It is made up, and so is all that is said of it in this test."
NOTE = f"""
[[notes]]
workload = "load"
metric = "time"
text = "{NOTE_TEXT}"
"""


def letter_of(root: Path, pristine: Pristine, measured: Quoted | None = None) -> str:
    """The cover letter."""
    return made(root, pristine, measured)[LETTER]


def keep_steps(root: Path, *shares: dict[str, Any], more: Any = ()) -> None:
    """Figures of steps are kept."""
    put(root / STEPS, json.dumps(summary() | {"steps": shares} | dict(more)))


def origin_of(root: Path, file: str, commit: str) -> None:
    """Where a kept figure is from."""
    origin = {"command": "lull run all", "created": "2026-11-25", "commit": commit}
    put((root / file).with_suffix(".origin.json"), json.dumps(origin))


def committed(root: Path, *files: str) -> str:
    """The commit that has them."""
    git(root, "add", *files)
    git(root, "commit", "-q", "-m", "a change")
    return head(root)


def head(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def messages(root: Path, pristine: Pristine) -> list[str]:
    """What each patch says of itself, its lines joined."""
    mails = list(made(root, pristine).values())[1:]
    return [" ".join(mail.split("\n---\n")[0].split()) for mail in mails]
