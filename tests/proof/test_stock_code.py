# SPDX-License-Identifier: GPL-2.0-only
"""What of a feature's own C is reached in its mode stock."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.kernels.inputs import feature_dirs
from lull.proof.stock_code import added, stock_code
from lull.series.c_text import code_only
from lull.series.definitions import texts

FILE = """
/* Not asked for. */
#define LATE 3
#define SOON 2

DEFINE_STATIC_KEY_FALSE(lull_on);
int lull_left;
static int kept[] = { SOON, };

static bool helps(void)
{
	return kept[0];
}

/* lull_other() is only told of. */
void lull_stock(void)
{
	if (helps())
		lull_far();
	lull_near();
}

void lull_other(void)
{
	lull_stock();
}

static void called(void)
{
}

static int __init begin(void)
{
	return LATE;
}
late_initcall_sync(begin);
"""

FAR = """
void lull_far(void)
{
}

void lull_near(void)
{
}
"""

HOOK = """Subject: call lull_other()

--- a/kernel/a.c
+++ b/kernel/a.c
@@ -1,3 +1,4 @@
 \tlull_other();
-\tlull_other();
+\tlull_stock(); /* and not lull_other() */
+\tcalled();
 two
"""


def names(*callers: str, looking: tuple[str, ...] = ()) -> list[str]:
    """The first lines of code of what is reached."""
    found = stock_code((FILE, FAR), callers, looking)
    return [code_only(text).strip().splitlines()[0] for text in found]


def test_what_is_called_brings_what_it_cannot_do_without() -> None:
    """Of another file only what is called whatever comes."""
    assert names("void f(void) { lull_stock(); }") == [
        "#define LATE 3",
        "#define SOON 2",
        "static int __init begin(void)",
        "static bool helps(void)",
        "static int kept[] = { SOON, };",
        "void lull_stock(void)",
        "void lull_near(void)",
    ]


def test_an_initcall_is_reached_and_what_nobody_names_is_not() -> None:
    assert names("") == ["#define LATE 3", "static int __init begin(void)"]


def test_who_looks_at_a_switch_names_the_variables_alone() -> None:
    header = "if (static_branch_unlikely(&lull_on) && lull_left) lull_other();"
    brought = set(names("", looking=(header,))) - set(names(""))
    assert brought == {"DEFINE_STATIC_KEY_FALSE(lull_on);", "int lull_left;"}


def test_a_hook_calls_by_the_code_it_brings() -> None:
    lines = added((HOOK,))
    assert "two" not in lines
    assert "void lull_other(void)" not in names(lines)
    assert "void lull_stock(void)" in names(lines)
    # Another's, of the same name.
    assert "static void called(void)" not in names(lines)


def test_a_comment_is_of_what_it_is_above() -> None:
    texts_ = stock_code((FILE, FAR), ("lull_stock",), ())
    assert any(
        text.startswith("/* lull_other() is only told of. */") for text in texts_
    )
    assert not any("Not asked for" in text for text in texts_ if "SOON" in text)


def test_what_cannot_be_told_apart_brings_its_file() -> None:
    file = "DEFINE_IT(lull_it, 3);\nint more;\n"
    assert file in stock_code((file,), ("lull_it",), ())
    assert not stock_code((file,), ("other",), ())


LOOK = "static_branch_unlikely"
_INLINE = re.compile(r"^static (?:__always_)?inline\b[^;{]*?\b(\w+)\(", re.MULTILINE)
_CALLED = re.compile(
    r"^(?!static)[A-Za-z_][^(){};=\n]*?\b(\w+)\([^;{]*\{", re.MULTILINE
)


def own_functions(room: Path) -> set[str]:
    place = room / "kernel/kernel/lull"
    files = [path for path in place.rglob("*.c") if path.name != "debug.c"]
    return {name for p in files for name in _CALLED.findall(code_only(p.read_text()))}


def calling_blindly(headers: list[str], own: set[str]) -> set[str]:
    """The inline functions that call some of ``own`` without a look at a switch."""
    words = {
        # Where the option is off, a function of the same name does nothing.
        name: set(re.findall(r"\w+", code_only("".join(texts(h, name, name))))) - {name}
        for h in headers
        for name in _INLINE.findall(code_only(h))
    }
    looks = {LOOK, *(name for name, said in words.items() if LOOK in said)}
    return {n for n, said in words.items() if said & own and not said & looks}


def test_who_calls_without_a_look_is_seen() -> None:
    looking = "static inline bool a(void)\n{\n\treturn static_branch_unlikely(&x);\n}\n"
    blind = "static inline void b(void)\n{\n\tmine();\n}\n"
    asking = "static inline void c(void)\n{\n\tif (a())\n\t\tmine();\n}\n"
    assert calling_blindly([looking + blind + asking], {"mine"}) == {"b"}


@pytest.mark.parametrize("room", feature_dirs(repo_root()), ids=lambda room: room.name)
def test_what_include_has_looks_at_a_switch_before_it_calls(room: Path) -> None:
    """Else what it calls would be reached in the mode stock, and be in no key."""
    headers = [p.read_text() for p in sorted((room / "kernel/include/linux").glob("*"))]
    own = own_functions(room)
    assert own and any(LOOK in text for text in headers)
    assert calling_blindly(headers, own) == set()
