# SPDX-License-Identifier: GPL-2.0-only
"""What a text of C defines, other names in it, and what nobody needs."""

from __future__ import annotations

import pytest

from lull.errors import LabError
from lull.series.definitions import defined, needed, without
from lull.series.names import renamed

TEXT = """\
#define ROOM(n) \\
	((n) + 1)

/* How many. */
#define MANY 3

/* A task. */
struct task {
	int nr;	/* of it */
};

static int count, unused;

static struct task *first(void);

/*
 * Of all.
 */
static DEFINE_SPINLOCK(lock);

int rows[] = {
	1,
};

/**
 * first - of them
 */
static struct task *first(void)
	__acquires(lock)
{
	count++;	/* first() { */
	return second(MANY);
}

int last(int a,
\t int b)
{
	return first() ? a : b;
}
"""


@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [
        ("ROOM", "#define ROOM(n) \\\n", "+ 1)\n"),
        ("MANY", "/* How many. */\n#define", "MANY 3\n"),
        ("struct task", "/* A task. */\nstruct task {", "};\n"),
        ("lock", "/*\n * Of all.\n */\nstatic", "(lock);\n"),
        ("rows", "int rows[]", "};\n"),
        ("last", "int last(int a,", "}\n"),
    ],
)
def test_a_definition_comes_with_its_comment(name: str, begin: str, end: str) -> None:
    found = defined(TEXT, name, "f.c")
    assert found.startswith(begin) and found.endswith(end)
    assert found in TEXT and found not in without(TEXT, name, "f.c")


@pytest.mark.parametrize("name", ["first", "second", "nr", "task"])
def test_one_that_is_not_there_once_is_refused(name: str) -> None:
    with pytest.raises(LabError, match=f"not one {name}, but"):
        defined(TEXT, name, "f.c")


def test_a_declaration_goes_with_it() -> None:
    left = without(TEXT, "first", "f.c")
    assert "struct task *first" not in left and "of them" not in left
    assert "first() ? a" in left and "\n\n\n" not in left


def test_what_nobody_needs_goes_and_what_that_needed() -> None:
    text = TEXT.replace("first() ? a : b", "b").replace(
        "\nstatic struct task *first(void);\n", ""
    )
    left = needed(text, "", "f.c")
    assert "second" not in left and "count" in left and "lock" not in left
    assert "int last" in left and "MANY" in left
    # What the base has is the base's.
    assert "second" in needed(text, "static struct task *first(void) {", "f.c")
    # But a comment there is not it.
    assert "second" not in needed(text, "/* the first of them */", "f.c")


def test_a_name_is_a_word_or_begins_some() -> None:
    text = "lull_a(lull_ab, x_lull_a); /* lull_a */\n"
    assert renamed(text, {"lull_a": "z"}) == "z(lull_ab, x_lull_a); /* z */\n"
    assert renamed(text, {"lull_*": "q_*"}) == "q_a(q_ab, x_lull_a); /* q_a */\n"


def test_lines_below_a_bracket_go_with_it() -> None:
    text = (
        "static int lull_first(int a,\n\t\t      int b)\n{\n"
        "\tif (lull_first(a,\n\t\t       b) && b)\n\t\tgo(lull_first(1, 2),\n"
        "\t\t   a);\n\tx(lull_first(1, 2), a,\n\t  b);\n}\n"
    )
    assert renamed(text, {"lull_first": "f"}) == (
        "static int f(int a,\n\t     int b)\n{\n"
        "\tif (f(a,\n\t      b) && b)\n\t\tgo(f(1, 2),\n"
        "\t\t   a);\n\tx(f(1, 2), a,\n\t  b);\n}\n"
    )
