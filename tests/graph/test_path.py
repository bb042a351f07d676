# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest

from lull.graph.ftrace import read
from lull.graph.path import CriticalRun, Waits, Why, covered_s, critical
from lull.graph.tree import graph
from lull.trees.model import Phase
from tests.graph import traces
from tests.graph.traces import BUS, DISK, MAIN, SCREEN, Line, call, phase


def waits(data: bytes, which: Phase, upfront: bool | None = None) -> Waits:
    recording = read(data, "x")
    cycle = recording.cycle()[1]
    upfront = not which.down if upfront is None else upfront
    return Waits(graph(recording, cycle), which, cycle.spans[which], upfront)


def run(lines: list[Line], which: Phase, upfront: bool | None = None) -> CriticalRun:
    return critical(waits(traces.text(lines), which, upfront))


def steps(path: CriticalRun) -> list[tuple[str, Why, str | None]]:
    return [(step.name, step.why, step.after) for step in path.steps]


def test_the_bus_waited_for_the_screen_in_suspend() -> None:
    path = run(traces.cycle(), Phase.SUSPEND)
    assert steps(path) == [
        ("screen", Why.FIRST, None),
        ("bus0", Why.DEPENDENCY, "screen"),
    ]
    assert path.callbacks_s == pytest.approx(0.0305)
    assert path.share(path.steps[0]) == pytest.approx(30_000 / 30_600)
    assert path.rest_s == pytest.approx(60e-6)


def test_the_screen_waited_for_the_bus_in_resume() -> None:
    path = run(traces.cycle(), Phase.RESUME)
    assert steps(path) == [
        ("bus0", Why.FIRST, None),
        ("screen", Why.DEPENDENCY, "bus0"),
    ]


def test_devices_without_a_callback_pass_waiting_on() -> None:
    lines = [
        *phase(
            0,
            30,
            "dpm_prepare",
            call(1, 1, MAIN, "d top", "[suspend]"),
            call(2, 2, MAIN, "d middle<top", "[suspend]"),
            call(3, 3, MAIN, "d low<middle", "[suspend]"),
        ),
        *phase(
            100,
            20_000,
            "dpm_suspend",
            call(10, 9_000, DISK, "d low<middle", "bus [suspend]"),
            call(9_010, 10_000, BUS, "d top", "bus [suspend]"),
        ),
    ]
    found = waits(traces.text(lines), Phase.SUSPEND)
    assert found.dependencies("top") == {"low"}
    assert found.why("top").after == "low"


WALK = [
    *phase(
        0,
        30,
        "dpm_prepare",
        call(1, 1, MAIN, "d disk", "[suspend]"),
        call(2, 2, MAIN, "d slow", "[suspend]"),
        call(3, 3, MAIN, "d fast", "[suspend]"),
    ),
    *phase(
        100,
        30_000,
        "dpm_suspend",
        call(10, 1_010, MAIN, "d fast", "bus [suspend]"),
        call(1_015, 9_015, MAIN, "d slow", "bus [suspend]"),
        call(9_030, 29_000, DISK, "d disk", "bus [suspend]"),
    ),
]


def test_what_the_main_thread_runs_comes_one_after_the_other() -> None:
    path = run(WALK, Phase.SUSPEND)
    assert steps(path)[1] == ("slow", Why.THREAD, "fast")


def test_where_the_walk_starts_a_device_it_waited_for_the_main_thread() -> None:
    path = run(WALK, Phase.SUSPEND)
    assert steps(path)[2] == ("disk", Why.STARTED, "slow")


def test_where_all_start_upfront_a_late_start_is_not_explained_by_the_walk() -> None:
    step = waits(traces.text(WALK), Phase.SUSPEND, True).why("disk")
    # It begins 15 us after the end of what took 8 ms.
    assert (step.why, step.after) == (Why.NEAR, "slow")


@pytest.mark.parametrize(("start", "why"), [(500, Why.NEAR), (7_950, Why.STARTED)])
def test_a_walk_that_comes_by_explains_what_begins_right_after_some_end(
    start: int, why: Why
) -> None:
    order = ("d last", "d next", "d long", "d kbd")
    lines = [
        *phase(
            0,
            30,
            "dpm_prepare",
            *(call(i, i, MAIN, name, "[suspend]") for i, name in enumerate(order, 1)),
        ),
        *phase(
            100,
            30_000,
            "dpm_suspend",
            call(10, 20, MAIN, "d kbd", "bus [suspend]"),
            call(30, 8_000, SCREEN, "d long", "bus [suspend]"),
            call(start, start + 1, BUS, "d next", "bus [suspend]"),
            call(8_020, 29_000, DISK, "d last", "bus [suspend]"),
        ),
    ]
    step = waits(traces.text(lines), Phase.SUSPEND).why("last")
    assert step.why is why
    if why is Why.STARTED:
        assert step.gap == "main thread between callbacks"


def test_a_walk_that_waits_at_a_device_without_callbacks_names_whom_for() -> None:
    lines = [
        *phase(
            0,
            30,
            "dpm_prepare",
            call(1, 1, MAIN, "d disk", "[suspend]"),
            call(2, 2, MAIN, "d port", "[suspend]"),
            call(3, 3, MAIN, "d card<port", "[suspend]"),
        ),
        *phase(
            100,
            30_000,
            "dpm_suspend",
            call(10, 8_000, SCREEN, "d card<port", "bus [suspend]"),
            call(8_020, 29_000, DISK, "d disk", "bus [suspend]"),
        ),
    ]
    recording = f"{traces.devinfo(disk=True, card=True, port=False)}\n".encode()
    path = critical(waits(traces.text(lines) + recording, Phase.SUSPEND))
    assert steps(path)[-1] == ("disk", Why.WALK, "card")


def test_time_before_a_start_that_nothing_explains_is_named() -> None:
    lines = phase(
        0, 20_000, "dpm_resume", call(9_000, 19_000, DISK, "d disk", "bus [resume]")
    )
    (step,) = run(lines, Phase.RESUME).steps
    assert step.gap_s == pytest.approx(0.009)
    assert step.gap == "not explained by the recording"


def test_time_in_which_the_main_thread_was_busy_is_named_with_whom() -> None:
    lines = phase(
        0,
        20_000,
        "dpm_suspend",
        call(10, 8_000, MAIN, "d kbd", "bus [suspend]"),
        call(7_000, 19_000, DISK, "d disk", "bus [suspend]"),
    )
    step = run(lines, Phase.SUSPEND).steps[-1]
    assert step.name == "disk"
    assert step.gap == "main thread busy with kbd"


def test_callbacks_side_by_side_count_once() -> None:
    found = waits(traces.recorded(), Phase.SUSPEND)
    assert covered_s(found.calls.values()) == pytest.approx(0.0305)
    assert covered_s([]) == 0


def test_a_callback_inside_another_does_not_count() -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(0, 90, DISK, "d a", "bus [suspend]"),
        call(10, 20, BUS, "d b", "bus [suspend]"),
        call(30, 40, BUS, "d c", "bus [suspend]"),
    )
    found = waits(traces.text(lines), Phase.SUSPEND)
    assert covered_s(found.calls.values()) == pytest.approx(90e-6)
