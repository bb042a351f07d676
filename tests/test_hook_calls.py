# SPDX-License-Identifier: GPL-2.0-only
"""What the hooks of one base call of ours, those of another call as well.

A hook that has come to 6.12 and is forgotten elsewhere applies to nothing, compiles,
and is missed when a machine hangs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from lull.ask.on_base import uncalled
from lull.kernels.bases import DEFAULT_BASE, base_names, load_base
from lull.kernels.inputs import feature_dirs
from lull.kernels.patches import parse_patch
from lull.kernels.workspace import decode

ROOT = Path(__file__).resolve().parents[1]

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: What a file of the overlay defines: functions, which begin a line, and macros.
_DEFINED = re.compile(r"^(?:[A-Za-z_][\w \t*]*?|#\s*define\s+)\b(\w+)\(", re.MULTILINE)
_CONSTANT = re.compile(r"\bLULL_[A-Z0-9_]+\b")
_NAME = re.compile(r"\b\w+(?=\()|\bLULL_[A-Z0-9_]+\b")


def ours(texts: Iterable[str]) -> set[str]:
    """The names that files of the overlay bring."""
    found: set[str] = set()
    for text in texts:
        plain = _COMMENT.sub("", text)
        found.update(_DEFINED.findall(plain), _CONSTANT.findall(plain))
    return found


def names(lines: Iterable[str]) -> Counter[str]:
    """How often each name is called, or is a constant of ours, outside of comments."""
    return Counter(_NAME.findall(_COMMENT.sub("", "\n".join(lines))))


def calls(hooks: Iterable[str], overlay: Iterable[str]) -> Counter[str]:
    """What hooks bring into files of the kernel's own: of what a hook takes that
    another has brought, one less."""
    own = set(overlay)
    found: Counter[str] = Counter()
    for text in hooks:
        for part in parse_patch("hook", text):
            if part.path in own:
                continue
            for hunk in part.hunks:
                found.update(names(line[1:] for line in hunk.lines if line[0] == "+"))
                found.subtract(names(line[1:] for line in hunk.lines if line[0] == "-"))
    return found


def overlay_of(room: Path) -> dict[str, str]:
    place = room / "kernel"
    return {
        path.relative_to(place).as_posix(): decode(path.read_bytes())
        for path in sorted(place.rglob("*.[ch]"))
    }


def called(room: Path, base: str) -> Counter[str]:
    """The same of a feature's hooks for a base, and of its own names alone."""
    overlay = overlay_of(room)
    hooks = sorted((room / "hooks" / base).glob("*.patch"))
    found = calls((decode(hook.read_bytes()) for hook in hooks), overlay)
    mine = ours(overlay.values())
    return Counter({name: n for name, n in found.items() if n > 0 and name in mine})


HOOKED = [room for room in feature_dirs(ROOT) if (room / "hooks").is_dir()]


@pytest.mark.parametrize(
    "base", [name for name in base_names() if name != DEFAULT_BASE]
)
@pytest.mark.parametrize("room", HOOKED, ids=lambda room: room.name)
def test_what_the_hooks_call_on_one_base_they_call_on_another(
    room: Path, base: str
) -> None:
    """As often, or [uncalled] says why not, and of nothing else."""
    if not (room / "hooks" / base).is_dir():
        pytest.skip(f"{room.name} is not on {base}")
    there, here = called(room, DEFAULT_BASE), called(room, base)
    assert there
    fewer = {name for name, count in there.items() if here[name] < count}
    said = uncalled(room.name, load_base(base))
    assert fewer == set(said)
    assert all(said.values())


OVERLAY = """
/* lull_not_this() is only told of. */
static inline bool lull_may(struct task_struct *p)
{
\treturn lull_on && asked(p);
}
#define lull_both(a, b)\t((a) + (b))
enum { LULL_WALK, LULL_WAIT };
"""

HOOK = """Subject: call

--- a/kernel/a.c
+++ b/kernel/a.c
@@ -1,3 +1,6 @@
 one
-\tgo(lull_may(p));
+\t/* lull_may() is told of here, too. */
+\tif (lull_may(p) || lull_may(q))
+\t\tlull_both(LULL_WALK, other(p));
+\tlull_on = true;
 two
--- a/kernel/lull_a.h
+++ b/kernel/lull_a.h
@@ -1,1 +1,2 @@
 one
+lull_may(p);
"""


def test_calls_are_those_of_code_in_the_kernel_s_files() -> None:
    mine = ours([OVERLAY])
    assert mine == {"lull_may", "lull_both", "LULL_WALK", "LULL_WAIT"}
    found = calls([HOOK], ["kernel/lull_a.h"])
    assert {name: found[name] for name in sorted(mine)} == {
        "LULL_WAIT": 0,
        "LULL_WALK": 1,
        "lull_both": 1,
        "lull_may": 1,
    }
