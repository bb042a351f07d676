# SPDX-License-Identifier: GPL-2.0-only
"""What the kernel's own tests say, held against what they say on stock."""

from __future__ import annotations

import pytest

from lull.runs import selftests
from lull.runs.selftests import (
    STATUS,
    Rank,
    Try,
    losses,
    read_tries,
    results,
)

STOCK = "ok 1 test_a\nok 2 # SKIP test_b\nnot ok 3 test_c\n"
MODES = ("stock", "lull")


def lost(*lull: str, stock: tuple[str, ...] = (STOCK,)) -> tuple[str, ...]:
    tries = [Try("test_core", "stock", 1, text) for text in stock]
    tries += [Try("test_core", "lull", 1, text) for text in lull]
    return losses(tries, ("test_core",), MODES)


def test_a_try_is_a_note() -> None:
    notes = ("case 0: set up in 3 ms", f"selftest test_core lull 1\n{STOCK}")
    assert read_tries(notes) == (Try("test_core", "lull", 1, STOCK),)
    (silent,) = read_tries(["selftest test_core stock 139\n"])
    assert (silent.status, silent.text) == (139, "")


@pytest.mark.parametrize(
    "text",
    [
        STOCK,
        "ok 1 test_a\nok 2 test_b\nok 3 test_c\n",
        # Others run before it, or not at all.
        "ok 1 # SKIP test_b\nok 2 test_a\n",
        # What a fork had in its buffer.
        f"ok 1 test_a\n{STOCK}",
    ],
)
def test_what_is_no_worse_is_no_loss(text: str) -> None:
    assert lost(text) == ()


@pytest.mark.parametrize(
    ("text", "losses"),
    [
        ("not ok 1 test_a\nok 2 # SKIP test_b\n", ["test_a: failed, but passed"]),
        ("ok 1 # SKIP test_a\nok 2 # SKIP test_b\n", ["test_a: skipped, but passed"]),
        ("ok 1 # XFAIL test_a\nok 2 test_b\n", ["test_a: skipped, but passed"]),
        ("ok 1 test_a\nnot ok 2 test_b\n", ["test_b: failed, but skipped"]),
        ("ok 1 test_ab\nok 2 test_b\n", ["test_a: missing, but passed"]),
        ("", ["test_a: missing, but passed", "test_b: missing, but skipped"]),
        ("1..0 # SKIP no cgroups\n", ["test_a: missing", "test_b: missing"]),
        ("Bail out!\n", ["test_a: missing", "test_b: missing"]),
    ],
)
def test_what_is_worse_is_named(text: str, losses: list[str]) -> None:
    found = lost(text)
    assert len(found) == len(losses)
    for sentence, part in zip(found, losses, strict=True):
        assert sentence.startswith(f"test_core: lull: {part}")


def test_the_best_of_the_tries_counts() -> None:
    failed = "not ok 1 test_a\nok 2 # SKIP test_b\n"
    assert lost(failed, STOCK) == lost(STOCK, failed) == ()
    assert lost(failed, failed) != ()
    assert lost(failed, stock=(failed, STOCK)) != ()


def test_a_mode_that_did_not_run_has_lost_all() -> None:
    assert len(lost()) == 2


def test_what_passes_nothing_on_stock_shows_nothing() -> None:
    for stock in ((), ("",), ("not ok 1 test_a\n",), ("Killed\n",)):
        assert lost("ok 1 test_a\n", stock=stock) == (
            "test_core: stock: no test has passed",
        )


def test_a_test_within_another_is_named_by_both() -> None:
    text = "TAP version 13\n  1..1\n  ok 1 inner\nok 1 outer\n"
    inner = "test_core: lull: outer / inner: missing, but passed in stock"
    assert lost("ok 1 outer\n", stock=(text,)) == (inner,)


@pytest.mark.parametrize(
    ("status", "text", "found"),
    [
        (0, "all is well\n", {STATUS: Rank.PASSED}),
        (1, "all is well\n", {STATUS: Rank.FAILED}),
        (137, "", {STATUS: Rank.FAILED}),
        (4, "no such device\n", {STATUS: Rank.SKIPPED}),
        # The script goes on, says that it has passed, and ends with 0.
        (0, "FAIL swapon /dev/zram1 failed\nzram02 : [PASS]\n", {STATUS: 1}),
        (0, "ok 1 no FAIL\n1..1\n", {"no FAIL": Rank.PASSED, STATUS: 3}),
        (139, "ok 1 a\n", {"a": Rank.PASSED, STATUS: Rank.FAILED}),
        (4, "1..0 # SKIP no pages\n", {"(all)": Rank.SKIPPED, STATUS: 2}),
    ],
)
def test_how_a_program_ends_is_a_result(
    status: int, text: str, found: dict[str, int]
) -> None:
    assert results([Try("program", "stock", status, text)]) == found


def test_the_best_end_of_the_tries_counts() -> None:
    bad, good = Try("a", "stock", 1, "not ok 1 b\n"), Try("a", "stock", 0, "ok 1 b\n")
    assert results([bad, good]) == results([good, bad])
    assert results([bad, good]) == {"b": Rank.PASSED, STATUS: Rank.PASSED}
    assert results([]) == {}


def test_worse_is_less_than_there_where_it_did_not_fail() -> None:
    passed, failed = {"a": Rank.PASSED}, {"a": Rank.FAILED}
    assert list(selftests.lost(passed, failed)) == ["a: failed, but passed"]
    assert (
        list(selftests.lost(failed, {})) == list(selftests.lost(failed, passed)) == []
    )
    assert list(selftests.lost(passed, {})) == ["a: missing, but passed"]


def test_tests_of_one_name_are_many() -> None:
    text = "ok 1 leak\n{} 2 leak\nok 3 leak\nok 4 copied {} MB\n"
    good, bad = text.format("ok", 1), text.format("not ok", 24)
    names = ["leak", "leak (2)", "leak (3)", "copied N MB"]
    assert list(selftests.verdicts([good])) == names
    assert lost(bad, stock=(good,)) == (
        "test_core: lull: leak (2): failed, but passed in stock",
    )
