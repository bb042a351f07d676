# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.graph import text
from lull.graph.account import Account, Gap, account
from lull.graph.analysis import analyse
from lull.graph.ftrace import read
from lull.graph.recording import Cycle, Span, Whole
from tests.graph import traces
from tests.graph.traces import DISK, MAIN, Line, call, mark, note, phase


def whole(lines: list[Line], dialect: str = "flags") -> Account:
    found = account(read(traces.text(lines, dialect), "x").cycle()[1])
    assert found is not None
    return found


def cycle() -> list[Line]:
    """A whole cycle with sync, freeze, CPUs, thaw, and pm-graph's two notes."""
    lines = [
        note(990_000, "SUSPEND START"),
        mark(990_500, "suspend_enter", True),
        mark(991_000, "sync_filesystems", True),
        mark(994_000, "sync_filesystems", False),
        mark(994_100, "freeze_processes", True),
        mark(999_000, "freeze_processes", False),
        mark(999_100, "suspend_enter", False),
        *traces.cycle(1_000_000)[2:],
        mark(1_081_000, "thaw_processes", True, 0),
        mark(1_085_000, "thaw_processes", False, 0),
        note(1_090_000, "RESUME COMPLETE"),
    ]
    for us, cpu in ((35_200, 1), (35_400, 2)):
        lines.append(mark(1_000_000 + us, "CPU_OFF", True, cpu))
        lines.append(mark(1_000_000 + us + 150, "CPU_OFF", False, cpu))
    return sorted(lines, key=lambda line: line.us)


def test_every_part_of_a_cycle_is_there_and_they_sum_up() -> None:
    found = whole(cycle())
    assert [(part.name, part.us, part.times) for part in found.parts] == [
        ("sync", 3_000, 1),
        ("freeze", 4_900, 1),
        ("prepare", 10, 1),
        ("suspend", 30_600, 1),
        ("suspend_late", 2_200, 1),
        ("suspend_noirq", 1_100, 1),
        ("CPUs off", 300, 2),
        ("machine_suspend", 1_000, 1),
        ("resume_noirq", 2_100, 1),
        ("resume_early", 1_100, 1),
        ("resume", 20_700, 1),
        ("complete", 100, 1),
        ("thaw", 4_000, 1),
    ]
    assert found.total_us == 100_000
    assert found.tail_us == 5_000
    assert found.unclaimed_us == 100_000 - 5_000 - sum(p.us for p in found.parts)
    assert found.gaps[0] == Gap(9_300, "resume", "complete")


@pytest.mark.parametrize("dialect", [*traces.DIALECTS, *traces.GRAPHS])
def test_the_notes_of_pm_graph_are_read_in_every_dialect(dialect: str) -> None:
    assert whole(cycle(), dialect) == whole(cycle())
    assert whole(cycle(), dialect).whole == Whole(0.99, 1.09, True, True)


def test_without_the_notes_it_goes_from_the_first_event_to_the_last() -> None:
    found = whole(cycle()[1:-1])
    assert (found.total_us, found.tail_us) == (94_500, 0)
    assert not (found.whole.write or found.whole.returned)
    heading = text.account(found)[1]
    assert heading == "the whole cycle, from the first event to the last event"


def test_each_cycle_has_the_notes_around_it() -> None:
    again = [Line(x.us + 1_000_000, x.who, x.event, x.rest) for x in cycle()]
    recording = read(traces.text(cycle() + again), "x")
    assert [each.whole for each in recording.cycles] == [
        Whole(0.99, 1.09, True, True),
        Whole(1.99, 2.09, True, True),
    ]


def test_the_calls_of_prepare_and_complete_are_there() -> None:
    lines = [
        *phase(
            0, 5_000, "dpm_prepare", call(1, 3_001, MAIN, "d usb1<hub", "[suspend]")
        ),
        *phase(6_000, 6_100, "dpm_suspend", call(1, 2, DISK, "d x", "bus [suspend]")),
        *phase(
            7_000,
            1_700_000,
            "dpm_complete",
            call(1, 12, MAIN, "d usb1<hub", "completing bus [resume]"),
            call(20, 1_639_020, MAIN, "nvme nvme0", "completing bus [resume]"),
        ),
    ]
    found = whole(lines)
    complete = found.parts[-1]
    assert (complete.name, complete.us) == ("complete", 1_693_000)
    assert [aside.device for aside in complete.asides] == ["nvme0", "usb1"]
    assert complete.asides[0].us == pytest.approx(1_639_000)
    said = "\n".join(text.account(found))
    assert "1639.000  of it in nvme0" in said
    assert "3.000  of it in usb1" in said
    assert "0.011" not in said


def test_a_call_of_prepare_that_fails_is_a_caveat() -> None:
    lines = phase(
        0, 50, "dpm_prepare", call(1, 2, MAIN, "d usb1", "[suspend]", err=-16)
    )
    lines += phase(60, 90, "dpm_suspend")
    said = [str(each) for each in analyse(read(traces.text(lines), "x")).caveats]
    assert "a callback failed, first usb1 with -16 (line 8)" in said


def test_what_is_inside_another_step_belongs_to_the_inner_one() -> None:
    lines = [
        mark(0, "dpm_suspend_noirq", True),
        *phase(100, 400, "dpm_resume_noirq"),
        mark(410, "dpm_suspend_noirq", False),
    ]
    found = whole(lines)
    assert [(p.name, p.us) for p in found.parts] == [
        ("suspend_noirq", 110),
        ("resume_noirq", 300),
    ]


_TIMES = st.integers(0, 5_000).map(lambda tenth: 9_000 + tenth / 1e7)


@given(
    st.lists(st.tuples(_TIMES, _TIMES, st.sampled_from("abc")), max_size=12),
    _TIMES,
    _TIMES,
)
def test_the_parts_and_the_gaps_are_the_total_whatever_lies_where(
    steps: list[tuple[float, float, str]], one: float, other: float
) -> None:
    spans = tuple(Span(n, min(a, b), max(a, b), 1) for a, b, n in steps)
    start, end = sorted((one, other))
    found = account(Cycle(steps=spans, whole=Whole(start, end, True, True)))
    assert found is not None
    lengths = [found.tail_us, *(gap.us for gap in found.gaps)]
    lengths += [part.us for part in found.parts]
    assert all(us >= 0 for us in lengths)
    assert sum(lengths) == found.total_us == round(end * 1e6) - round(start * 1e6)
    # By hand, microsecond by microsecond.
    inside = sum(
        any(round(s.start_s * 1e6) <= us < round(s.end_s * 1e6) for s in spans)
        for us in range(round(start * 1e6), round(end * 1e6))
    )
    assert sum(part.us for part in found.parts) == inside


def test_the_lines_that_are_printed_sum_up_to_the_last_one() -> None:
    lines = text.account(whole(cycle()))
    figures = [line for line in lines[2:] if " of it " not in line]
    us = [round(float(line[34:46]) * 1000) for line in figures]
    assert sum(us[:-1]) == us[-1] == 100_000
    assert max(map(len, "\n".join(lines).split("\n"))) <= 79


def test_without_a_cycle_there_is_nothing_to_print() -> None:
    assert account(Cycle()) is None
    assert text.account(None) == []
