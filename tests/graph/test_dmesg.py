# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip

import pytest

from lull.graph import dmesg
from lull.graph.ftrace import read
from lull.trees.model import Phase
from tests.graph import traces

LOG = b"""# suspend-010203-040506 box mem 5.3.0+
[    1.030701] PM: suspend of devices complete after 30.600 msecs
[    1.030702] PM: start suspend of devices complete after 30.700 msecs
[    1.033201] PM: late suspend of devices complete after 2.200 msecs
[    1.035101] PM: noirq suspend of devices complete after 1.099 msecs
[    1.042101] PM: noirq resume of devices complete after 2.100 msecs
[    1.044101] PM: early resume of devices complete after 1.100 msecs
[    1.070701] PM: resume of devices complete after 20.500 msecs
"""


def totals(log: bytes) -> list[dict[Phase, float]]:
    return [{p: t.ms for p, t in c.by_phase.items()} for c in dmesg.read(log)]


def test_the_six_totals_are_read_and_no_other_line_is() -> None:
    assert totals(LOG) == [
        {
            Phase.SUSPEND: 30.6,
            Phase.SUSPEND_LATE: 2.2,
            Phase.SUSPEND_NOIRQ: 1.099,
            Phase.RESUME_NOIRQ: 2.1,
            Phase.RESUME_EARLY: 1.1,
            Phase.RESUME: 20.5,
        }
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"PM: suspend of devices complete after 30.600 msecs",
        b"<7>[    1.030701] PM: suspend of devices complete after 30.600 msecs",
        b"[    1.030701][  T123] PM: suspend of devices aborted after 30.600 msecs",
        b"[    1.030701] box kernel: PM: hibernate of devices complete after"
        b" 30.600 msecs\r",
    ],
)
def test_a_line_reads_however_the_log_puts_it(line: bytes) -> None:
    assert totals(line) == [{Phase.SUSPEND: 30.6}]


def test_gzip_reads_like_plain() -> None:
    assert dmesg.read(gzip.compress(LOG)) == dmesg.read(LOG)


def test_each_suspend_begins_a_cycle() -> None:
    assert len(totals(LOG + LOG)) == 2


def test_a_cycle_is_found_by_its_time() -> None:
    later = LOG.replace(b"[    1.0", b"[    2.0").replace(b"30.600", b"31.000")
    lines = traces.cycle(1_000_000) + traces.cycle(2_000_000)
    cycles = read(traces.text(lines), "x").cycles
    logs = dmesg.read(LOG + later)
    for number, ms in ((1, 30.6), (2, 31.0)):
        found = dmesg.of_cycle(logs, cycles, number)
        assert found is not None
        assert found.by_phase[Phase.SUSPEND].ms == ms
    only = dmesg.of_cycle(dmesg.read(later), cycles, 1)
    assert only is None


def test_without_times_cycles_pair_where_there_are_as_many() -> None:
    bare = b"\n".join(line[15:] for line in LOG.split(b"\n"))
    cycles = read(traces.text(traces.cycle()), "x").cycles
    assert dmesg.of_cycle(dmesg.read(bare), cycles, 1) is not None
    assert dmesg.of_cycle(dmesg.read(bare + bare), cycles, 1) is None


def test_half_a_percent_is_the_limit_but_for_the_time_of_a_line() -> None:
    (cycle,) = read(traces.text(traces.cycle()), "x").cycles
    checks = {c.phase: c for c in dmesg.check(cycle, dmesg.read(LOG)[0])}
    assert [phase for phase, check in checks.items() if not check.ok] == [Phase.RESUME]
    assert checks[Phase.RESUME].off == pytest.approx(0.2 / 20.5)
    # 0.09% would do, 9 us do too.
    near = dmesg.Check(Phase.RESUME_EARLY, trace_ms=0.109, log_ms=0.1)
    far = dmesg.Check(Phase.RESUME_EARLY, trace_ms=0.111, log_ms=0.1)
    assert (near.ok, far.ok) == (True, False)
