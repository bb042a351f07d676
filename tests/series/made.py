# SPDX-License-Identifier: GPL-2.0-only
"""A small project and a small tree, and patches applied as users do it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from lull.kernels.patches import parse_patch
from tests.repository import git

FREEZER = "".join(f"line {n}\n" for n in range(1, 21))

HOOK = """\
Subject: [PATCH] freezer: call {what}

Nobody does, because nobody can. Do it.

diff --git a/kernel/freezer.c b/kernel/freezer.c
--- a/kernel/freezer.c
+++ b/kernel/freezer.c
@@ -{at},2 +{at},3 @@
 line {at}
+#include <linux/lull_{what}.h>
 line {next}
"""

FRAME_HOOK = """\
Subject: [PATCH] lull: descend into it

It is not built, because nobody descends into it. Do that.

diff --git a/kernel/Makefile b/kernel/Makefile
--- a/kernel/Makefile
+++ b/kernel/Makefile
@@ -1 +1,2 @@
 obj-y += freezer.o
+obj-y += lull/
"""

SAYS = """\
{more}
[whole]
title = "{what}: all of it"
text = "A problem, its cause, and a change."
[core]
title = "{what}: the rest"
text = "What the hooks call."
"""

TOML = """\
name = "{what}"
title = "a title"
modes = [{{ name = "stock", text = "s" }}, {{ name = "lull", text = "l" }}]
[metrics.time]
unit = "ns"
text = "t"
[workloads.load]
text = "w"
[[cases]]
workload = "load"
quick = true
[[headlines]]
text = "{what}: a headline"
workload = "load"
metric = "time"
[[expectations]]
workload = "load"
metric = "time"
mode = "lull"
max = 0.5
clock = "insn"
"""


def put(path: Path, text: str) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def feature(root: Path, what: str, at: int, more: str = "") -> None:
    """A feature with one hook, which includes one header."""
    room = root / "features" / what
    put(room / "feature.toml", TOML.format(what=what))
    put(room / "series.toml", SAYS.format(what=what, more=more))
    hook = HOOK.format(what=what, at=at, next=at + 1)
    put(room / "hooks/6.12/0001-call.patch", hook)
    put(room / f"kernel/include/linux/lull_{what}.h", "#include <linux/deep.h>\n")
    put(room / f"kernel/kernel/lull/{what}/Kconfig", f"config {what}\n")
    put(room / f"kernel/kernel/lull/{what}/{what}.c", "int all;\n")


def project(root: Path) -> Path:
    """Two features, and the frame."""
    put(root / "kernel/series.toml", SAYS.format(what="lull", more=""))
    put(root / "kernel/overlay/kernel/lull/Kconfig", "menu\n")
    put(root / "kernel/overlay/include/linux/deep.h", "int deep;\n")
    put(root / "kernel/hooks/6.12/0001-frame.patch", FRAME_HOOK)
    feature(root, "freeze", 5)
    feature(root, "thaw", 12, 'needs = ["freeze"]\nconfig = { SMC = "n" }')
    return root


def tree(place: Path, version: str = "6.12.117") -> Path:
    """A kernel's sources, as far as the project's hooks know them."""
    numbers = zip(
        ("VERSION", "PATCHLEVEL", "SUBLEVEL"), version.split("."), strict=True
    )
    put(place / "Makefile", "".join(f"{n} = {v}\n" for n, v in numbers))
    put(place / "kernel/Makefile", "obj-y += freezer.o\n")
    put(place / "kernel/freezer.c", FREEZER)
    return place


def checkout(place: Path, files: Mapping[str, bytes | None]) -> Path:
    """A repository with these files and one commit."""
    place.mkdir(parents=True)
    for path, data in files.items():
        if data is not None:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data)
    git(place, "init", "-q")
    git(place, "add", "--all", "--force")
    git(place, "commit", "-q", "--allow-empty", "-m", "base")
    return place


def am(place: Path, mails: Iterable[Path]) -> None:
    """As README says it."""
    git(place, "am", "-q", *map(str, mails))


def patch(place: Path, mails: Iterable[Path]) -> str:
    """``patch -p1`` without fuzz; returns what it said."""
    said = ""
    for mail in mails:
        done = subprocess.run(
            ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-i", mail],
            cwd=place,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said += done.stdout
    return said


def moved(mail: str) -> set[str]:
    """The lines that a patch takes and brings as they were, by PATH:LINE in the file
    that it leaves: the kernel's own, which no hook need have touched. Of a cover
    letter none."""
    found: set[str] = set()
    if not re.search(r"^diff --git ", mail, re.MULTILINE):
        return found
    for part in parse_patch("mail", mail):
        lines = [line for hunk in part.hunks for line in hunk.lines]
        taken = {line[1:] for line in lines if line[0] == "-"}
        for hunk in part.hunks:
            first = int(re.split("[ ,]", hunk.header.partition("+")[2])[0])
            after = [line for line in hunk.lines if line[0] != "-"]
            for number, line in enumerate(after, first):
                if line[0] == "+" and line[1:] in taken:
                    found.add(f"{part.path}:{number}")
    return found


def contents(place: Path) -> dict[str, bytes]:
    """All files of a tree but git's own."""
    return {
        file.relative_to(place).as_posix(): file.read_bytes()
        for file in sorted(place.rglob("*"))
        if file.is_file() and ".git" not in file.relative_to(place).parts
    }
