# SPDX-License-Identifier: GPL-2.0-only
"""Each way in which a boot can end is told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lull.errors import (
    GuestFailed,
    GuestPanic,
    Killed,
    Late,
    LostVM,
    LullError,
    TimedOut,
    Unmet,
)
from lull.vm.console import scan
from lull.vm.outcome import Closing, Ending, closing, failure

HELLO = b'{"t":"hello","probe":1}\n'
DONE = b'{"t":"done","samples":0,"ok":true}\n'
ERROR = b'{"t":"error","what":"no zram","where":"zfree","hint":""}\n'
NO_PORT = b"probe: no virtio port lull.results\n"
GOOD = Ending(HELLO + DONE, b"[    1.000000] fine\n", b"", 0, None, False, "x", ())
FOLDER = Path("/run/boot-1")


def told(ending: Ending) -> LullError | None:
    return failure(ending, scan(ending.console), FOLDER)


def test_a_good_end_is_no_failure() -> None:
    assert told(GOOD) is None


@pytest.mark.parametrize(
    ("name", "code"), [("panic-sysrq", 255), ("warning", 255), ("rcu-stall", 255)]
)
def test_a_kernel_bug_fails_a_run_that_was_done(
    recorded: dict[str, bytes], name: str, code: int
) -> None:
    error = told(replace(GOOD, console=recorded[name]))
    assert isinstance(error, GuestPanic)
    assert error.exit_code == code
    assert "console.log" in error.hint


def test_the_report_is_the_first_that_says_what_it_is() -> None:
    """Two CPUs at once: the WARNING of the first cut is five lines below it."""
    lines = [
        "------------[ cut here ]------------",
        *["Call Trace:"] * 4,
        "WARNING: CPU: 0 PID: 48 at mm/zsmalloc.c:487 zs_page_migrate+0x241/0x637",
        "kernel BUG at mm/zsmalloc.c:872!",
    ]
    console = "".join(f"[    6.024752] {line}\n" for line in lines).encode()
    error = told(replace(GOOD, console=console))
    assert isinstance(error, GuestPanic)
    assert error.report.startswith("WARNING: WARNING: CPU: 0 PID: 48 at mm/zsmalloc")


def test_a_precondition_that_was_not_met_is_told_apart() -> None:
    unmet = ERROR.replace(b'"hint":""', b'"hint":"","unmet":true')
    assert isinstance(told(replace(GOOD, results=HELLO + unmet + DONE)), Unmet)
    assert not isinstance(told(replace(GOOD, results=HELLO + ERROR + unmet)), Unmet)


def test_a_bug_is_told_before_the_hang_it_caused(recorded: dict[str, bytes]) -> None:
    error = told(replace(GOOD, console=recorded["rcu-stall"], gave_up="no result"))
    assert isinstance(error, GuestPanic)
    assert "given up: no result" in error.what


@pytest.mark.parametrize(
    ("change", "kind", "code", "words"),
    [
        ({"gave_up": "no result for 5 s"}, TimedOut, 124, "no result for 5 s"),
        ({"results": HELLO + ERROR + DONE}, GuestFailed, 125, "zfree: no zram"),
        ({"results": HELLO}, LostVM, 125, "had not said that it was done"),
        ({"results": HELLO + DONE[:-4]}, LostVM, 125, "status 0"),
        ({"results": HELLO, "returncode": -9}, Killed, 125, "killed by SIGKILL"),
        # By the lab, where the guest did not power off.
        ({"returncode": -9, "killed": True}, LostVM, 125, "killed by SIGKILL"),
        ({"returncode": 1, "stderr": b"no KVM\n"}, LostVM, 125, "says: no KVM"),
        (
            {"results": b"", "console": GOOD.console + NO_PORT},
            Late,
            125,
            "without the port",
        ),
    ],
)
def test_each_failure(
    change: dict[str, object], kind: type[LullError], code: int, words: str
) -> None:
    error = told(replace(GOOD, **change))  # type: ignore[arg-type]
    assert type(error) is kind
    assert error.exit_code == code
    assert words in error.what
    assert error.where == str(FOLDER)
    assert "[    1.000000] fine" in error.what


def test_a_guest_asleep_is_told_so() -> None:
    asleep = ("SUSPEND", "WAKEUP", "SUSPEND", "SHUTDOWN")
    error = told(replace(GOOD, gave_up="no result", events=asleep))
    assert error is not None
    assert "suspended and nothing woke it" in error.what
    error = told(replace(GOOD, gave_up="no result", events=asleep[:2]))
    assert error is not None
    assert "suspended" not in error.what


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[1]", b"{}", b'{"t":1}', b"\xff\xfe", b"{" * 100_000]
)
def test_lines_that_are_not_results_are_skipped(line: bytes) -> None:
    assert closing(line + b"\n" + DONE) == Closing(True, ())
