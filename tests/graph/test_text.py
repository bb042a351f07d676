# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from lull.graph import dmesg, text
from lull.graph.analysis import Analysis, analyse
from lull.graph.edits import parse
from lull.graph.ftrace import read
from lull.graph.recording import Caveat
from lull.graph.whatif import predict
from lull.trees.model import Phase
from tests.graph import traces
from tests.graph.traces import DISK, MAIN, call, phase


def found(data: bytes | None = None, log: bytes | None = None) -> Analysis:
    logs = None if log is None else dmesg.read(log)
    return analyse(read(traces.recorded() if data is None else data, "x"), logs=logs)


def table(one: Analysis) -> list[str]:
    return text.phases(one.cycle, one.graph, one.paths, one.ideals, one.checks)


def test_the_heading_says_kernel_mode_cpus_and_cycle() -> None:
    one = found()
    assert text.heading(one.recording, one.number, one.cycle, "f") == [
        "f: Linux 5.3.0+, mem, 4 CPUs, cycle 1 of 1"
    ]


def test_a_caveat_says_how_often_and_where_first() -> None:
    assert text.caveats([]) == []
    lines = text.caveats([Caveat("x", 1, 7), Caveat("y", 3, 9), Caveat("z", 2)])
    assert lines[2:] == [
        "  - x (line 7)",
        "  - y (3 times, first at line 9)",
        "  - z (2 times)",
    ]


def test_the_table_has_a_line_a_phase() -> None:
    lines = table(found())
    assert lines[1] == "phase              ms  calls       sum    as run     ideal"
    assert lines[2] == "suspend          30.600      4    43.500    30.500    30.500"
    assert len(lines) == 8


def test_the_kernels_own_figure_is_beside_it_and_a_difference_is_marked() -> None:
    log = b"[    1.0] PM: suspend of devices complete after 30.000 msecs\n"
    lines = table(found(log=log))
    assert lines[2].endswith("    30.000 +2.00% !")
    assert "disagree by more than 0.5%" in lines[-1]


def test_a_phase_that_does_not_end_is_marked() -> None:
    lines = table(found(traces.text(traces.cycle()[:26])))
    assert any(line.startswith("suspend_late ") and "+" in line for line in lines)


def test_a_bar_lies_where_the_callback_ran_and_tells_main_thread_and_worker() -> None:
    lines = [
        *phase(
            0,
            3000,
            "dpm_suspend",
            call(0, 850, MAIN, "d kbd", "bus [suspend]"),
            call(1500, 2999, DISK, "d disk", "bus [suspend]", err=-16),
        )
    ]
    one = found(traces.text(lines))
    shown = text.timeline(one.waits[Phase.SUSPEND], None)
    assert shown[1] == ("suspend: 3.000 ms, all callbacks (# worker, = main thread)")
    assert shown[2].split("|")[1] == "=" * 9 + " " * 21
    assert shown[3].split("|")[1] == " " * 15 + "#" * 15
    assert shown[3].endswith("1.499 err=-16")


def test_only_the_longest_are_shown_in_order_of_their_start() -> None:
    shown = text.timeline(found().waits[Phase.SUSPEND], 2)
    assert "the 2 longest of 4" in shown[1]
    assert [line.split()[0] for line in shown[2:]] == ["screen", "disk"]


def test_the_path_says_who_waited_for_whom_and_the_best_there_is() -> None:
    one = found()
    lines = text.critical(one.paths[Phase.SUSPEND], one.ideals[Phase.SUSPEND])
    assert lines[2:] == [
        "   98.0%    30.000  screen: nothing before it",
        "    1.6%     0.500  bus0: waited for screen",
        "  in any order, at least 30.500 ms: screen, bus0",
    ]


def test_many_short_steps_are_one_line() -> None:
    calls = [
        call(i * 10, i * 10 + 1, MAIN, f"d m{i}", "bus [suspend]") for i in range(9)
    ]
    last = call(100, 99_000, MAIN, "d big", "bus [suspend]")
    one = found(traces.text(phase(0, 99_001, "dpm_suspend", *calls, last)))
    lines = text.critical(one.paths[Phase.SUSPEND], one.ideals[Phase.SUSPEND])
    assert lines[2].endswith("9 short ones, m0 to m8")
    assert "big" in lines[3]


def test_a_device_says_what_it_waits_for_and_what_for_it() -> None:
    assert text.device(found().waits[Phase.SUSPEND], "bus0")[1:] == [
        "bus0 in suspend: async",
        "  began at 30.040 ms, took 0.500 ms",
        "  waited for screen",
        "  waits for",
        "    disk                        12.000  to 12.030",
        "    screen                      30.000  to 30.020",
        "  is waited for by",
        "    nothing",
    ]


def test_a_device_without_a_callback_has_its_neighbours_all_the_same() -> None:
    lines = text.device(found().waits[Phase.SUSPEND], "platform")
    assert lines[1] == "platform in suspend: not async, no callback"
    assert "    kbd                          1.000  to 1.050" in lines


def test_a_replay_that_is_off_is_marked_and_says_why() -> None:
    lines = phase(0, 1000, "dpm_suspend", call(10, 60, MAIN, "d a", "bus [suspend]"))
    one = found(traces.text(lines))
    shown = text.replays(one.replays(), one.kernel)
    assert "stock, a guess" in shown[1]
    assert shown[2].endswith("1.000     0.050  -95.0% !")
    assert "in no callback" in shown[3]


def test_a_prediction_has_both_times_and_the_change() -> None:
    one = found()
    got = predict(one.graph, one.kernel, parse("screen=1ms"), [Phase.SUSPEND])
    lines = text.predictions(got, "screen=1ms")
    assert lines[-1] == "  suspend             30.500    12.500  -59.0%"


def test_no_line_is_wider_than_79_columns() -> None:
    one = found(log=b"[    1.0] PM: suspend of devices complete after 30.000 msecs\n")
    lines = text.caveats(one.caveats) + table(one)
    for each in one.paths:
        lines += text.timeline(one.waits[each], None)
        lines += text.critical(one.paths[each], one.ideals[each])
    lines += text.replays(one.replays(), one.kernel)
    wide = [p for line in lines for p in line.split("\n") if len(p) > text.WIDTH]
    assert wide == []
