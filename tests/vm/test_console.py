# SPDX-License-Identifier: GPL-2.0-only
"""Kernel bugs are found in recorded logs, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.vm.console import scan, show, tail

DATA = Path(__file__).parent / "data"


def kinds(log: bytes) -> list[str]:
    return [finding.kind for finding in scan(log)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("panic-sysrq", ["panic"]),
        ("panic-init", ["panic"]),
        ("warning", ["WARNING"]),
        (
            "lockdep",
            ["lockdep"] * 3 + ["atomic sleep"] * 2 + ["lockdep"],
        ),
        ("kasan", ["KASAN", "KCSAN", "UBSAN"]),
        (
            "rcu-stall",
            ["RCU stall"] * 4 + ["soft lockup", "hung task"],
        ),
        (
            "oops",
            ["list corruption", "BUG", "Oops", "BUG", "Oops", "Oops", "Oops"],
        ),
        ("torn", ["report", "WARNING"]),
        ("non-utf8", ["WARNING"]),
        ("clean-boot", []),
        ("harmless", []),
        ("suspended", []),
        ("truncated", []),
    ],
)
def test_each_recorded_log(
    recorded: dict[str, bytes], name: str, expected: list[str]
) -> None:
    found = kinds(recorded[name])
    assert found == expected


def test_a_finding_says_where_and_what_follows(recorded: dict[str, bytes]) -> None:
    (found,) = scan(recorded["warning"], after=4)
    assert found.line == 3
    assert found.text.startswith("WARNING: CPU: 1 PID: 61 at kernel/freezer.c:141")
    assert len(found.after) == 4
    assert found.after[0].endswith("Not tainted 6.12.117 #1")
    assert str(found).startswith("WARNING, line 3: WARNING: CPU: 1")


def test_what_follows_ends_at_the_next_finding(recorded: dict[str, bytes]) -> None:
    first, second, *_ = scan(recorded["lockdep"], after=1000)
    assert first.line + len(first.after) + 1 == second.line


def test_bytes_that_are_not_utf8_survive(recorded: dict[str, bytes]) -> None:
    (found,) = scan(recorded["non-utf8"])
    assert found.line == 3
    assert r"drivers/\xe9t\xe9.c:1 f\xff+0x1/0x2" in found.text
    assert found.after == (r"[    2.000200][    T1] \x1b[31mred\x00",)
    found.text.encode()  # no surrogates: a terminal takes it


def test_a_report_cut_off_in_its_first_line_is_found() -> None:
    assert kinds(b"[    1.000000] WARNING: CPU: 0 PID") == ["WARNING"]
    assert kinds(b"[    1.000000] Kernel panic - not syncing") == ["panic"]


def test_one_that_is_expected_is_left_out(recorded: dict[str, bytes]) -> None:
    assert scan(recorded["warning"], [r"kernel/freezer\.c:141"]) == []
    left = scan(recorded["lockdep"], [r"freezer_lock", "sleeping function"])
    assert [f.line for f in left] == [17, 22, 28, 29]


def test_expecting_one_does_not_hide_another(recorded: dict[str, bytes]) -> None:
    assert len(scan(recorded["kasan"], ["data-race in freezing_slow_path"])) == 2


@given(st.binary(max_size=300))
def test_any_bytes_are_scanned(text: bytes) -> None:
    scan(text)
    assert tail(text).encode() is not None


@given(st.sampled_from(["panic-init", "lockdep", "oops"]), st.data())
def test_a_log_cut_anywhere_has_no_other_findings(
    name: str, data: st.DataObject
) -> None:
    log = (DATA / f"{name}.log").read_bytes()
    whole = scan(log)
    cut = scan(log[: data.draw(st.integers(0, len(log)))])
    if cut and cut[-1].kind == "report":
        cut.pop()  # the line that it announces was cut off
    assert [f.line for f in cut] == [f.line for f in whole][: len(cut)]


def test_the_tail_is_the_last_lines() -> None:
    assert tail(b"a\r\nb\r\nc\r\n", 2) == "b\nc"
    assert tail(b"") == ""
    assert show(b"a\tb\x07") == r"a" + "\t" + r"b\x07"
