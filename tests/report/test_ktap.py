# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.report.ktap import (
    ALL,
    BAIL_OUT,
    MAX_DEPTH,
    NO_RESULT,
    OUTPUT,
    PLAN,
    UNNAMED,
    VERSION,
    Point,
    fails,
    parse,
    write,
)

#: What a line of the format may be, and nothing else.
LINE = re.compile(
    r" *(KTAP version 1|1\.\.\d+|#( .*)?|(not )?ok \d+ [^#]+( # (SKIP|XFAIL)[^#]*)?)"
)

#: Any text, and text that looks like something.
HOSTILE = st.text() | st.lists(
    st.sampled_from(
        [
            "\n",
            "\r",
            " ",
            "  ",
            "#",
            "- ",
            "\\",
            "\\x41",
            "\u2028",
            "é",
            "ok 1 x",
            "not ok 2 y",
            "1..9",
            "# SKIP",
            "# TODO",
            "Bail out!",
            "KTAP version 1",
            "Subtest: z",
        ]
    )
).map("".join)


def leaves() -> st.SearchStrategy[Point]:
    said = st.lists(HOSTILE, max_size=2).map(tuple)
    name = HOSTILE.filter(bool)
    return st.one_of(
        st.builds(Point, name, st.booleans(), diagnostics=said),
        st.builds(Point, name, skipped=HOSTILE, diagnostics=said),
        st.builds(Point, name, expected=HOSTILE, diagnostics=said),
    )


def parents(inner: st.SearchStrategy[Point]) -> st.SearchStrategy[Point]:
    def whole(point: Point, subtests: list[Point]) -> Point:
        """Failed where one of its subtests is."""
        if not any(map(fails, subtests)):
            return Point(point.name, point.ok, point.skipped, subtests=tuple(subtests))
        return Point(point.name, False, subtests=tuple(subtests))

    return st.builds(whole, leaves(), st.lists(inner, max_size=3))


POINTS = st.lists(st.recursive(leaves(), parents, max_leaves=8), max_size=4).map(tuple)


def only(text: str, *, planned: bool = True) -> Point:
    (point,) = parse(text, planned=planned)
    return point


@given(POINTS)
def test_what_is_written_is_read_back(points: tuple[Point, ...]) -> None:
    assert parse(write(points)) == points


@given(POINTS)
def test_each_line_is_one_of_the_formats(points: tuple[Point, ...]) -> None:
    text = write(points)
    assert text.isascii()
    for line in text.removesuffix("\n").split("\n"):
        assert LINE.fullmatch(line), line
        assert line == line.rstrip()


@given(
    st.text()
    | HOSTILE
    | st.lists(
        st.builds(
            "{}{}{}".format,
            st.sampled_from(["", "  ", "    ", "\t"]),
            st.sampled_from(
                [
                    "ok 1",
                    "not ok 2 a",
                    "1..2",
                    "1..0",
                    "1..0 # SKIP",
                    "TAP version 13",
                    "# b",
                    "noise",
                    "Bail out!",
                    "ok 1 c # TODO",
                    "ok 999999999999 d",
                ]
            ),
            st.text(max_size=3),
        )
    ).map("\n".join),
    st.booleans(),
)
def test_no_text_is_too_odd_to_be_read(text: str, planned: bool) -> None:
    points = parse(text, planned=planned)
    assert parse(write(points)) == points
    if not re.search(r"^[ \t]*1\.\.0", text, re.MULTILINE):
        assert points


def test_it_is_written_as_the_format_says() -> None:
    points = (
        Point("first", diagnostics=("seen: 3",)),
        Point(
            "second",
            subtests=(
                Point("one", ok=False, diagnostics=("3 > 2",)),
                Point("two", skipped="no swap"),
                Point("three", expected="known"),
            ),
            diagnostics=("of two",),
        ),
    )
    assert write(points) == (
        "KTAP version 1\n"
        "1..2\n"
        "# seen: 3\n"
        "ok 1 first\n"
        "  KTAP version 1\n"
        "  1..3\n"
        "  # 3 > 2\n"
        "  not ok 1 one\n"
        "  ok 2 two # SKIP no swap\n"
        "  ok 3 three # XFAIL known\n"
        "# of two\n"
        "not ok 2 second\n"
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a\nok 2 b", r"ok 1 a\x0aok 2 b"),
        ("a # SKIP", r"ok 1 a \x23 SKIP"),
        ("- a ", r"ok 1 \x2d a\x20"),
        ("\u2028\U0001f600", r"ok 1 \u2028\U0001f600"),
        (r"C:\dir \x0a", r"ok 1 C:\dir \x5cx0a"),
        ("", "ok 1 (unnamed)"),
    ],
)
def test_a_name_is_no_line_of_its_own(name: str, line: str) -> None:
    text = write((Point(name),))
    assert text.splitlines() == [VERSION, "1..1", line]
    assert only(text).name == (name or UNNAMED)


def test_a_diagnostic_is_no_header_of_subtests() -> None:
    """KUnit's reader would take what follows for subtests."""
    text = write((Point("a", diagnostics=("Subtest: b", "x\nnot ok 1 c")),))
    assert text.splitlines()[2:4] == [r"# \x53ubtest: b", r"# x\x0anot ok 1 c"]


CGROUP = """\
TAP version 13
1..4
# preparing
ok 1 test_kill_simple
ok 2 # SKIP test_kill_tree
not ok 3 test_kill_forkbomb
ok 4 # XFAIL test_kill_dead
# Totals: pass:1 fail:1 xfail:1 xpass:0 skip:1 error:0
"""


def test_the_kernels_selftests_are_read() -> None:
    assert parse(CGROUP) == (
        Point("test_kill_simple", diagnostics=("preparing",)),
        Point("test_kill_tree", skipped=""),
        Point("test_kill_forkbomb", ok=False),
        Point("test_kill_dead", expected=""),
    )


@pytest.mark.parametrize(
    ("line", "point"),
    [
        ("ok 1 - named", Point("named")),
        ("ok 1", Point(UNNAMED)),
        ("ok 1 a # SKIP why", Point("a", skipped="why")),
        ("not ok 1 a # skip: why", Point("a", skipped="why")),
        ("ok 1 a #SKIPPED", Point("a", skipped="")),
        ("ok 1 bug #7 # SKIP why", Point("bug #7", skipped="why")),
        ("not ok 1 a # TODO later", Point("a", expected="later")),
        (
            "not ok 1 a # TIMEOUT 30 s",
            Point("a", ok=False, diagnostics=("TIMEOUT 30 s",)),
        ),
        ("ok 1 a # ERROR", Point("a", ok=False, diagnostics=("ERROR",))),
        ("not ok 1 # error name", Point("name", ok=False, diagnostics=("ERROR",))),
        ("ok 1 a # rcode=0", Point("a", diagnostics=("rcode=0",))),
        ("ok 1 a #  done", Point("a", diagnostics=("done",))),
        (
            "not ok 1 a # skipping went wrong",
            Point("a", ok=False, diagnostics=("skipping went wrong",)),
        ),
    ],
)
def test_a_result_line_is_read(line: str, point: Point) -> None:
    assert only(f"TAP version 13\n1..1\n{line}\n") == point


def test_other_lines_decide_nothing() -> None:
    point = only(
        "[    0.1] booting\nTAP version 14\r\nnot ok at all\n1..1\n  okay 1 x\n"
        "not ok 1.5 s\n1..5 apples\nok 1 a\nok\n[   9.9] off\n"
    )
    assert not fails(point)
    assert point.diagnostics[-3:] == ("okay 1 x", "not ok 1.5 s", "1..5 apples")


def test_nested_as_kunit_once_wrote_it() -> None:
    point = only(
        "TAP version 14\n1..1\n    # Subtest: suite\n    1..2\n"
        "    ok 1 - a\n    not ok 2 - b\n# suite: pass:1 fail:1\nnot ok 1 - suite\n"
    )
    assert point.name == "suite"
    assert [inner.name for inner in point.subtests] == ["a", "b"]
    assert point.diagnostics[-1] == "suite: pass:1 fail:1"


def test_a_parent_fails_with_its_subtest() -> None:
    inner = "  KTAP version 1\n  1..1\n  not ok 1 b\n"
    for word in ("", " # SKIP", " # TODO"):
        point = only(f"KTAP version 1\n1..1\n{inner}ok 1 a{word}\n")
        assert not point.ok
        assert point.skipped is point.expected is None


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("", OUTPUT, "no result"),
        ("Segmentation fault\n", OUTPUT, "no result"),
        ("TAP version 13\n", OUTPUT, "no result"),
        ("TAP version 13\nok 1 a\n", PLAN, "no plan"),
        ("TAP version 13\n1..3\nok 1 a\nok 2 b\n", PLAN, "2 results of 3"),
        ("TAP version 13\n1..1\nok 1 a\nok 2 b\n", PLAN, "2 results of 1"),
        ("1..1\nok 1 a\n1..2\n", PLAN, "a plan of 2"),
        ("1..2\nok 1 a\nBail out! no memory\n", BAIL_OUT, "no memory"),
        ("1..1\n  1..1\n  ok 1 a\n", NO_RESULT, "missing"),
        ("1..1\n  ok 1 a\nok 1 b\n", PLAN, "no plan"),
        ("1..2\nok 1 a\nTAP version 13\n1..1\nok 1 b\n", PLAN, "1 results of 2"),
    ],
)
def test_what_is_wrong_with_the_text_has_failed(text: str, name: str, why: str) -> None:
    found = [point for point in flat(parse(text)) if point.name == name]
    assert found and fails(found[0])
    assert any(why in line for point in found for line in point.diagnostics)


def flat(points: tuple[Point, ...]) -> list[Point]:
    return [one for point in points for one in (point, *flat(point.subtests))]


def test_without_results_the_end_of_the_text_is_kept() -> None:
    assert only("a\n" * 9 + "Killed\n").diagnostics[-1] == "Killed"
    assert parse("1..0\n") == ()
    assert parse("1..0 # SKIP no cgroups\n") == (Point(ALL, skipped="no cgroups"),)


def test_a_plan_may_come_last_or_not_at_all() -> None:
    assert parse("ok 1 a\n1..1\n") == (Point("a"),)
    assert parse("ok 1 a\nok 2 b\n", planned=False) == (Point("a"), Point("b"))
    lost = parse("ok 1 a\nok 3 c\n", planned=False)
    assert lost[-1] == Point(PLAN, ok=False, diagnostics=("2 results of 3",))
    assert only("killed\n", planned=False).name == OUTPUT


def test_what_a_fork_had_in_its_buffer_counts_once() -> None:
    text = "ok 1 a\nok 1 a\nok 2 b\nok 1 a\nok 2 b\nnot ok 3 c\n"
    names = [point.name for point in parse(text, planned=False)]
    assert names == ["a", "b", "c"]
    # The same number with another result is another one.
    assert any(map(fails, parse("1..1\nok 1 a\nnot ok 1 a\n")))


def test_after_a_bail_out_nobody_waits_for_the_rest() -> None:
    text = "1..3\nok 1 a\nBail out! # no memory\n"
    bailed = Point(BAIL_OUT, ok=False, diagnostics=("# no memory",))
    assert parse(text) == (Point("a"), bailed)


def test_a_diagnostic_belongs_to_the_level_that_it_is_on() -> None:
    point = only(
        "    1..1\n      1..1\n    # of p\n      # of a\n      ok 1 a\n"
        "      # of p, too\n    ok 1 p\n"
    )
    a = Point("a", diagnostics=("of a",))
    assert point == Point("p", diagnostics=("of p", "of p, too"), subtests=(a,))


def test_several_texts_in_a_row() -> None:
    points = parse("TAP version 13\n1..1\nok 1 a\nTAP version 13\n1..1\nok 1 b\n")
    assert points == (Point("a"), Point("b"))


def test_deeper_than_anybody_nests_is_read() -> None:
    text = "".join(" " * depth + "ok 1 a\n" for depth in range(40 * MAX_DEPTH))
    points = parse(text)
    assert any(map(fails, points))
    assert parse(write(points)) == points


def test_long_texts_take_no_square_of_their_length() -> None:
    """Whoever searches a line again from each of its spaces takes 16 times as long."""

    def seconds(text: str) -> float:
        begin = time.process_time()
        parse(text)
        write((Point(text, diagnostics=(text,)),))
        return time.process_time() - begin

    for before, many, after in (
        ("", "#", ""),
        ("", "# ", ""),
        ("", " ", "x"),
        ("ok 1 ", "#  ", ""),
    ):
        # In turns, so that what else runs slows both.
        tries = [
            [seconds(before + many * n + after) for n in (20_000, 80_000)]
            for _ in range(5)
        ]
        assert min(long for _, long in tries) < 9 * min(short for short, _ in tries)
