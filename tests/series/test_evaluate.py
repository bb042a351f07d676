# SPDX-License-Identifier: GPL-2.0-only
"""C with its switches settled: what goes, what stays, what is refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lull.errors import LabError
from lull.series.evaluate import Known, evaluate

KNOWN = Known(
    symbols={"CONFIG_ON": True, "CONFIG_OFF": False},
    calls={"yes": True, "no": False, "by(A)": True, "by": False, "later": False},
    dropped=frozenset({"note", "later"}),
)


def done(text: str) -> str:
    return evaluate(text, KNOWN, "f.c")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # Expressions.
        ("x = a && yes(1);", "x = a;"),
        ("x = yes(f(1), 2) && a;", "x = a;"),
        ("x = no() || a && b;", "x = a && b;"),
        ("x = a == b && no();", "x = \x02;"),
        ("if (a || (yes() && b))\n\tc();", "if (a || b)\n\tc();"),
        ("if (a || (yes() && b == c))\n\tc();", "if (a || (b == c))\n\tc();"),
        ("if (a || (yes() && f(&b->c)))\n\tc();", "if (a || f(&b->c))\n\tc();"),
        ("x = (yes() && f(a) + f(b)) * c;", "x = (f(a) + f(b)) * c;"),
        ("if (a &&\n    !no()) {\n\tb();\n}", "if (a) {\n\tb();\n}"),
        ("x = no() ? a : b;", "x = b;"),
        ("x = yes() ?\n\ta & F(B) : 0;", "x = a & F(B);"),
        ("f(a, no() && g(b), c);", None),
        ("x = IS_ENABLED(CONFIG_ON) && \\\n\ty;", "x = y;"),
        ("x = a || no() && b;", "x = a;"),
        ("x = a && yes() || b;", "x = a || b;"),
        # Statements.
        ("\tif (yes())\n\t\ta();\n\tb();", "\ta();\n\tb();"),
        ("\tif (no())\n\t\ta();\n\tb();", "\tb();"),
        ("\tif (!yes()) {\n\t\ta();\n\t}\n\n\tb();", "\tb();"),
        ("\tif (yes()) {\n\t\ta();\n\t\tb();\n\t}\n\tc();", "\ta();\n\tb();\n\tc();"),
        (
            "\tif (a) {\n\t\tb();\n\t} else if (yes()) {\n\t\tc();\n\t} else {\n"
            "\t\td();\n\t}",
            "\tif (a) {\n\t\tb();\n\t} else {\n\t\tc();\n\t}",
        ),
        ("if (no()) {\n\ta();\n} else {\n\tb();\n}", "b();"),
        ("if (a)\n\tb();\nelse if (no())\n\tc();", "if (a)\n\tb();"),
        ("if (no() && (a || b))\n\tc();\nd();", "d();"),
        ("if (yes() || a)\n\tc();", "c();"),
        ("{\n\tnote(1);\n\n\ta();\n}", "{\n\ta();\n}"),
        ("{\n\ta();\n\n\tnote(f(1),\n\t     2);\n}", "{\n\ta();\n}"),
        ("a();\n\n\twhile (!yes()) {\n\t\tb();\n\t}\n\tc();", "a();\n\n\tc();"),
        ("while (yes())\n\ta();", None),
        # One call of a function, and one that is a statement, too.
        ("x = a && by(A) && !by(B);", "x = a;"),
        ("if (maybe(A))\n\tby(a);", None),
        ("{\n\tlater(1);\n\tx = a || later(2);\n}", "{\n\tx = a;\n}"),
        # What comes behind a jump.
        ("{\n\tif (yes())\n\t\treturn 1;\n\treturn 2;\n}", "{\n\treturn 1;\n}"),
        (
            "{\n\tif (yes()) {\n\t\ta();\n\t\tgoto out;\n\t}\n\n\tb();\nnear:\n"
            "\tc();\nout:\n\td();\n}",
            "{\n\ta();\n\td();\n}",
        ),
        (
            "{\n\tif (x)\n\t\tgoto near;\n\tif (yes())\n\t\tgoto out;\n\tb();\n"
            "near:\n\tc();\nout:\n\td();\n}",
            "{\n\tif (x)\n\t\tgoto near;\n\tgoto out;\n\nnear:\n\tc();\n"
            "out:\n\td();\n}",
        ),
        (
            "{\n\tif (no())\n\t\tgoto out;\n\tb();\nout:\n\tc();\n}",
            "{\n\tb();\n\tc();\n}",
        ),
        (
            "{\n\tif (a) {\n\t\tif (yes())\n\t\t\treturn;\n\t\tb();\n\t}\n\tc();\n}",
            "{\n\tif (a) {\n\t\treturn;\n\t}\n\tc();\n}",
        ),
        # The preprocessor.
        ("#ifdef CONFIG_ON\na\n#else\nb\n#endif\nc", "a\nc"),
        ("#ifdef CONFIG_OFF\n#if X\na\n#endif\n#endif\nc", "c"),
        ("#ifndef CONFIG_OFF\na\n#endif", "a"),
        ("#if defined(CONFIG_ON) && defined(CONFIG_OFF)\na\n#else\nb\n#endif", "b"),
        (
            "#ifdef X\n#ifdef CONFIG_ON\na\n#endif\n#elif Y\nb\n#endif",
            "#ifdef X\na\n#elif Y\nb\n#endif",
        ),
        ("a\n\n#ifdef CONFIG_OFF\nb\n#endif\n\nc", "a\n\nc"),
        # What speaks of nothing that is settled, and what only looks like it.
        ("if (a)  b();\n\n\n\tc;", "if (a)  b();\n\n\n\tc;"),
        ('/* yes() */ x = "no()"; nono();', '/* yes() */ x = "no()"; nono();'),
    ],
)
def test_what_is_left(text: str, wanted: str | None) -> None:
    if wanted is None or "\x02" in wanted:
        with pytest.raises(LabError, match="cannot be settled"):
            done(text)
    else:
        assert done(text) == wanted


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x = yes();", "true or false: 'x = true;'"),
        ("x = f() && no();", "may do something"),
        ("if (a)\n\tnote(1);", "not a statement by itself"),
        ("if (yes())\n\tfor (;;)\n\t\ta();", "a statement in a statement"),
        ("x = yes() ? a : b ? c : d;", "a choice in a choice"),
        ("if (yes(", "never closed"),
        ("#if CONFIG_ON > 1\n#endif", "CONFIG_ON > 1"),
        ("#ifdef CONFIG_ON\n#elif X\n#endif", "#elif X"),
        ("#ifdef X\n#elif defined(CONFIG_ON)\n#endif", "defined"),
        ("#ifdef CONFIG_ON\n", "without #endif"),
        ("#endif\n", "without #if"),
    ],
)
def test_what_cannot_be_settled_is_refused(text: str, match: str) -> None:
    with pytest.raises(LabError, match=re.escape(match)):
        done(text)


expressions = st.recursive(
    st.sampled_from(["yes()", "no()", "a", "b", "a == b", "c < 2"]),
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("!({})".format, inner),
        st.builds("{} && {}".format, inner, inner),
        st.builds("{} || {}".format, inner, inner),
    ),
    max_leaves=6,
)

PROGRAM = """\
#include <stdio.h>
static int yes(void) { return 1; }
static int no(void) { return 0; }
static int a, b, c;
BODY
int main(void)
{
	(void)yes; (void)no;
	for (int n = 0; n < 27; n++) {
		a = n % 3; b = n / 3 % 3; c = n / 9;
		RUN
	}
}
"""


FUNCTION = """\
static int f{n}(void)
{{
	int x = 0;

	if ({0})
		x = 1;
	else
		x = 2;
	if ({1}) {{
		x += 10;
		goto out;
	}}
	x += 20;
	while (({2}) && x < 60)
		x += 9;
	if ({3})
		return x;
	if (x > 40)
		goto more;
	x += 100;
more:
	x += 200;
out:
	return x;
}}
"""


@settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(expressions, min_size=160, max_size=160))
def test_it_does_what_it_did(tmp_path: Path, found: list[str]) -> None:
    """Functions of conditions and jumps, compiled before and after."""
    texts = [
        FUNCTION.format(*found[n : n + 4], n=n // 4) for n in range(0, len(found), 4)
    ]
    settled: dict[int, str] = {}
    for n, text in enumerate(texts):
        try:
            settled[n] = done(text)
        except LabError:
            continue  # refused is right, too
    assert len(settled) > len(texts) / 2
    assert not re.search(r"\b(yes|no)\(", "".join(settled.values()))
    said = []
    for bodies in (texts, settled):
        body = "\n".join(bodies[n] for n in settled)
        calls = " ".join(f'printf("%d ", f{n}());' for n in settled)
        (tmp_path / "x.c").write_text(
            PROGRAM.replace("BODY", body).replace("RUN", calls)
        )
        # No label is left that nobody jumps to.
        strict = "-Werror=unused-label" if bodies is settled else "-w"
        subprocess.run(["gcc", strict, "x.c", "-o", "x"], cwd=tmp_path, check=True)
        done_ = subprocess.run([tmp_path / "x"], capture_output=True, check=True)
        said.append(done_.stdout)
    assert said[0] == said[1]
