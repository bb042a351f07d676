# SPDX-License-Identifier: GPL-2.0-only
"""Which data races of a freeze are the kernel's own, by KCSAN's reports."""

from __future__ import annotations

import pytest

from lull.proof.trial import trials
from lull.vm.console import scan

(RACES,) = (trial for trial in trials() if trial.id == "freeze: races")


def race_of_one(where: str, access: str = "read", size: int = 4) -> bytes:
    """A report of KCSAN as a console had it (6.12, 30 November 2026)."""
    return f"""\
[   23.312341] BUG: KCSAN: data-race in {where}
[   23.313062]\x20
[   23.313276] race at unknown origin, with {access} to 0xffff88800355ce2c of \
{size} bytes by task 1 on cpu 0:
[   23.313652]  {where}
[   23.313837]  visit_group+0xc2/0x240
[   23.316384]\x20
[   23.316465] value changed: 0x0040004c -> 0x0040804c
""".encode()


def race_of_two(functions: str) -> bytes:
    """The same where KCSAN is told of both, whose names it puts in their order."""
    first, second = functions.split(" / ")
    assert first <= second
    return f"""\
[   23.312341] BUG: KCSAN: data-race in {functions}
[   23.313062]\x20
[   23.313276] read-write to 0xffff88800355ce2c of 4 bytes by task 81 on cpu 1:
[   23.313652]  {first}+0x1c/0x90
[   23.316384]\x20
[   23.316465] read to 0xffff88800355ce2c of 4 bytes by task 1 on cpu 0:
[   23.316501]  {second}+0x87/0x110
""".encode()


@pytest.mark.parametrize(
    ("report", "counts"),
    [
        (race_of_one("freeze_task+0x87/0x110"), False),
        (race_of_one("freezing_slow_path+0x1a/0x90"), False),
        (race_of_one("freezing_slow_path+0x5a/0x90", size=1), False),
        (race_of_two("exit_signals / freeze_task"), False),
        (race_of_two("freeze_task / get_signal"), False),
        (race_of_two("begin_new_exec / freezing_slow_path"), False),
        (race_of_two("freeze_processes / freezing_slow_path"), False),
        (race_of_two("freezing_slow_path / thaw_processes"), False),
        (race_of_one("freeze_task+0x87/0x110", "write"), True),
        (race_of_one("freezing_slow_path+0x1a/0x90", "write"), True),
        (race_of_one("freeze_task+0x87/0x110", size=8), True),
        (race_of_one("freeze_task+0x87/0x110", size=1), True),
        (race_of_one("visit_group+0xc2/0x240"), True),
        (race_of_two("freeze_task / lull_freeze_pass"), True),
        (race_of_two("freeze_task / somebody_leaves"), True),
        (race_of_two("freeze_task / visit_group"), True),
        (race_of_two("at_rest / freezing_slow_path"), True),
        (race_of_two("exit_signals / visit_group"), True),
    ],
)
def test_of_races_of_a_freeze_only_the_kernels_own_do_not_count(
    report: bytes, counts: bool
) -> None:
    assert bool(scan(report, RACES.allow)) is counts
    assert scan(report)
