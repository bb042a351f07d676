# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from lull.errors import NoRecording
from lull.graph.ftrace import read
from lull.graph.recording import Cycle, Recording
from lull.graph.tree import graph
from lull.trees.model import Phase
from tests.graph import traces
from tests.graph.traces import BUS, DISK, MAIN, SCREEN, Line, call, mark, phase


def texts(recording: Recording) -> list[str]:
    found = [
        *recording.caveats,
        *(c for each in recording.cycles for c in each.caveats),
    ]
    return [str(caveat) for caveat in found]


def only(data: bytes) -> Cycle:
    (cycle,) = read(data, "x").cycles
    return cycle


def missing(data: bytes, text: str) -> bool:
    return any(text in caveat for caveat in texts(read(data, "x")))


def test_a_whole_cycle_has_its_phases_callbacks_and_order_and_no_caveat() -> None:
    recording = read(traces.recorded(), "x")
    (cycle,) = recording.cycles
    assert texts(recording) == []
    assert cycle.complete
    assert {p: round(s.ms, 3) for p, s in cycle.spans.items()} == {
        Phase.SUSPEND: 30.6,
        Phase.SUSPEND_LATE: 2.2,
        Phase.SUSPEND_NOIRQ: 1.1,
        Phase.RESUME_NOIRQ: 2.1,
        Phase.RESUME_EARLY: 1.1,
        Phase.RESUME: 20.7,
    }
    assert [n.device for n in cycle.prepared] == [
        "platform",
        "kbd",
        "bus0",
        "disk",
        "screen",
    ]
    first = cycle.calls(Phase.SUSPEND)[0]
    assert (first.device, first.driver, first.parent) == ("screen", "screen", "bus0")
    assert first.us == pytest.approx(30_000)
    assert (first.task, first.pid) == SCREEN


def test_header_and_footer_say_kernel_mode_cpus_and_async() -> None:
    recording = read(traces.recorded(), "x")
    header = recording.header
    assert (header.kernel, header.mode, header.cpus) == ("5.3.0+", "mem", 4)
    assert recording.asynchronous == {
        "platform": False,
        "kbd": False,
        "bus0": True,
        "disk": True,
        "screen": True,
    }


@pytest.mark.parametrize("dialect", traces.DIALECTS)
def test_every_dialect_reads_alike(dialect: str) -> None:
    want = read(traces.text(traces.cycle()), "x").cycles
    assert read(traces.text(traces.cycle(), dialect), "x").cycles == want


@pytest.mark.parametrize("dialect", traces.GRAPHS)
def test_a_trace_of_function_graph_reads_alike_but_for_the_names_of_tasks(
    dialect: str,
) -> None:
    code = b" 100.000001 |   1)  sh-100   | 0.313 us    |    sysfs_notify();\n"
    data = code + traces.text(traces.cycle(), dialect)
    cycle, want = only(data), only(code + traces.text(traces.cycle()))
    assert [replace(call, task="") for call in cycle.callbacks] == [
        replace(call, task="") for call in want.callbacks
    ]
    assert cycle.spans == want.spans
    assert cycle.prepared == want.prepared
    assert {call.task for call in cycle.callbacks} == {"sh", "<...>", "kworker"}


def test_without_marks_a_worker_is_known_by_a_name_that_is_cut_off() -> None:
    lines = [*call(10, 60, DISK, "d dev", "bus [suspend]")]
    recording = read(traces.text(lines, "graph"), "x")
    assert graph(recording, recording.cycles[0]).tree.devices[0].is_async


def test_a_trace_of_function_graph_without_its_options_is_refused_with_them() -> None:
    data = "".join(f"{traces.NO_TASK(line)}\n" for line in traces.cycle()).encode()
    with pytest.raises(NoRecording, match="without the times or the tasks") as caught:
        read(data, "x")
    assert "funcgraph-abstime and funcgraph-proc" in caught.value.hint


def test_gzip_reads_like_plain() -> None:
    assert read(gzip.compress(traces.recorded()), "x") == read(traces.recorded(), "x")


def test_a_task_may_be_called_anything() -> None:
    odd = ("a-1 [9] b: c", 7)
    lines = phase(0, 100, "dpm_suspend", call(1, 2, odd, "d dev", "bus [suspend]"))
    (found,) = only(traces.text(lines)).callbacks
    assert (found.task, found.pid) == odd


def test_start_and_end_pair_by_task_where_names_are_the_same() -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(1, 50, DISK, "ep ep_81<a", "bus [suspend]"),
        call(2, 20, BUS, "ep ep_81<b", "bus [suspend]"),
    )
    found = {c.parent: round(c.us) for c in only(traces.text(lines)).callbacks}
    assert found == {"a": 49, "b": 18}


def test_an_end_of_another_device_does_not_end_what_the_task_runs() -> None:
    lines = phase(0, 100, "dpm_suspend", call(10, 60, MAIN, "d a", "bus [suspend]"))
    lines.insert(2, call(20, 20, MAIN, "d other", "bus [suspend]")[1])
    data = traces.text(lines)
    (found,) = only(data).callbacks
    assert found.us == pytest.approx(50)
    assert missing(data, "a callback ends without having started (line 9)")


@pytest.mark.parametrize(
    ("who", "driver", "device"),
    [
        ("i8042 kbd 00:03", "i8042 kbd", "00:03"),
        ("platform Fixed MDIO bus.0", "platform", "Fixed MDIO bus.0"),
        (" memory", "", "memory"),
    ],
)
def test_drivers_and_devices_may_have_blanks(
    who: str, driver: str, device: str
) -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(1, 2, MAIN, f"{who}<platform", "bus [suspend]"),
        call(3, 4, MAIN, "d fixed-0<Fixed MDIO bus.0", "bus [suspend]"),
    )
    found = only(traces.text(lines)).callbacks[0]
    assert (found.driver, found.device) == (driver, device)


def test_prepare_and_complete_are_no_phases() -> None:
    lines = [
        *traces.prepare(0),
        *phase(50, 60, "dpm_suspend", call(1, 2, MAIN, "d dev", "bus [suspend]")),
        *phase(70, 80, "dpm_complete", call(1, 2, MAIN, "d dev", "[resume]")),
    ]
    cycle = only(traces.text(lines))
    assert [c.device for c in cycle.callbacks] == ["dev"]
    assert len(cycle.prepared) == 5


def test_cycles_are_kept_apart_and_the_last_whole_one_is_chosen() -> None:
    lines = traces.cycle(1_000_000) + traces.cycle(2_000_000)
    torn = traces.cycle(3_000_000)[:30]
    recording = read(traces.text(lines + torn), "x")
    assert [c.complete for c in recording.cycles] == [True, True, False]
    number, cycle = recording.cycle()
    assert number == 2
    assert cycle.spans[Phase.SUSPEND].start_s == pytest.approx(2.0001)


def test_s2idle_walks_the_noirq_phases_again_inside_one_cycle() -> None:
    again = []
    for us in (0, 1000):
        again += phase(us, us + 100, "dpm_suspend_noirq")
        again.append(mark(us + 200, "timekeeping_freeze", True, 0))
        again.append(mark(us + 300, "timekeeping_freeze", False, 0))
        again += phase(us + 400, us + 500, "dpm_resume_noirq")
    lines = [
        *phase(0, 100, "dpm_suspend"),
        *(Line(x.us + 1000, x.who, x.event, x.rest) for x in again),
        *phase(5000, 5100, "dpm_resume"),
    ]
    data = traces.text(lines)
    spans = only(data).spans
    assert spans[Phase.SUSPEND_NOIRQ].start_s == pytest.approx(0.001)
    assert spans[Phase.RESUME_NOIRQ].start_s == pytest.approx(0.0024)
    assert missing(data, "runs again")


def test_noirq_suspend_that_fails_ends_where_its_resume_begins() -> None:
    lines = [
        *phase(0, 100, "dpm_suspend"),
        mark(200, "dpm_suspend_noirq", True),
        *phase(300, 400, "dpm_resume_noirq"),
        mark(410, "dpm_suspend_noirq", False),
    ]
    spans = only(traces.text(lines)).spans
    assert spans[Phase.SUSPEND_NOIRQ].ms == pytest.approx(0.1)


def test_a_file_that_is_cut_off_keeps_what_it_has() -> None:
    data = traces.recorded()
    at = data.index(b"machine_suspend") - 80
    recording = read(data[:at], "x")
    (cycle,) = recording.cycles
    assert not cycle.complete
    assert Phase.SUSPEND_NOIRQ in cycle.spans


def test_a_phase_that_does_not_end_lasts_to_the_last_event() -> None:
    data = traces.text(
        [
            mark(0, "dpm_suspend", True),
            *call(10, 60, MAIN, "d dev", "bus [suspend]"),
        ]
    )
    span = only(data).spans[Phase.SUSPEND]
    assert not span.ended
    assert span.ms == pytest.approx(0.06)
    assert missing(data, "dpm_suspend begins and does not end (line 7)")


def test_a_phase_that_has_no_begin_starts_with_its_first_callback() -> None:
    data = traces.text(
        [
            *call(10, 60, MAIN, "d dev", "bus [suspend]"),
            mark(100, "dpm_suspend", False),
        ]
    )
    span = only(data).spans[Phase.SUSPEND]
    assert not span.ended
    assert span.ms == pytest.approx(0.09)
    assert missing(data, "dpm_suspend ends without having begun")


def test_without_marks_the_callbacks_say_which_phase_it_is() -> None:
    lines = [
        *call(10, 60, MAIN, "d dev", "late bus [suspend]"),
        *call(100, 160, MAIN, "d dev", "noirq power domain [resume]"),
    ]
    cycle = only(traces.text(lines))
    assert list(cycle.spans) == [Phase.SUSPEND_LATE, Phase.RESUME_NOIRQ]
    assert not cycle.complete


def test_a_callback_that_does_not_end_has_no_time_but_a_latest_end() -> None:
    lines = phase(0, 100, "dpm_suspend", call(10, 60, MAIN, "d dev", "bus [suspend]"))
    del lines[2]
    data = traces.text(lines)
    (found,) = only(data).callbacks
    assert not found.ended
    assert found.us == 0
    assert found.last_s == pytest.approx(100e-6)
    assert missing(data, "a callback does not end")
    assert missing(data, "(line 8)")


def test_a_task_runs_one_callback_at_a_time() -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(10, 20, DISK, "d first", "bus [suspend]"),
        call(40, 60, DISK, "d second", "bus [suspend]"),
    )
    del lines[2]
    first, second = only(traces.text(lines)).callbacks
    assert (first.ended, first.last_s) == (False, pytest.approx(40e-6))
    assert second.us == pytest.approx(20)


def test_a_phase_whose_end_is_lost_ends_where_the_next_begins() -> None:
    lines = [line for line in traces.cycle() if "dpm_suspend[2] end" not in line.rest]
    data = traces.text(lines)
    cycle = only(data)
    span = cycle.spans[Phase.SUSPEND]
    assert not span.ended
    assert span.end_s == cycle.spans[Phase.SUSPEND_LATE].start_s
    assert missing(data, "dpm_suspend begins and does not end")


def test_late_suspend_that_fails_ends_where_its_resume_begins() -> None:
    lines = [
        mark(200, "dpm_suspend_late", True),
        *phase(300, 400, "dpm_resume_early"),
        mark(410, "dpm_suspend_late", False),
    ]
    span = only(traces.text(lines)).spans[Phase.SUSPEND_LATE]
    assert span.ended
    assert span.ms == pytest.approx(0.1)


def test_an_end_without_a_start_is_counted() -> None:
    lines = phase(0, 100, "dpm_suspend", call(10, 60, MAIN, "d dev", "bus [suspend]"))
    del lines[1]
    assert missing(traces.text(lines), "ends without having started (line 8)")


@pytest.mark.parametrize(
    ("line", "caveat"),
    [
        (b"CPU:1 [LOST 123 EVENTS]\n", "events were lost (123 times, first"),
        (b"CPU:1 [EVENTS DROPPED]\n", "events were lost (line 1)"),
        (
            b"# entries-in-buffer/entries-written: 10/25   #P:4\n",
            "overwritten before the trace was read (15 times",
        ),
        (b"suspend_resume: dpm\n", "a line of these events cannot be read (line 1)"),
        (b"# platform-devinfo: %%%%\n", "the list of devices at the end is damaged"),
        (
            b"# platform-devinfo: eJwrycgs\n",
            "the list of devices at the end is cut off",
        ),
    ],
)
def test_what_is_lost_or_damaged_is_a_caveat(line: bytes, caveat: str) -> None:
    assert missing(line + traces.text(traces.cycle()), caveat)


def test_a_footer_that_is_cut_off_keeps_what_it_has() -> None:
    flags = traces.devinfo(**{f"device{i}": True for i in range(500)}).encode()
    data = traces.text(traces.cycle()) + flags[: len(flags) * 2 // 3]
    assert missing(data, "at the end is cut off")
    assert read(data, "x").asynchronous["device0"]


def test_gzip_that_ends_early_is_read_as_far_as_it_goes() -> None:
    lines = [line for i in range(40) for line in traces.cycle(i * 1_000_000)]
    data = gzip.compress(traces.text(lines))
    half = data[: len(data) // 2]
    assert missing(half, "the gzip data ends early")
    assert len(read(half, "x").cycles) > 5


def test_gzip_that_is_damaged_is_read_up_to_there() -> None:
    lines = [line for i in range(400) for line in traces.cycle(i * 1_000_000)]
    data = bytearray(gzip.compress(traces.text(lines), 1))
    data[-4000:-3900] = bytes(100)
    recording = read(bytes(data), "x")
    assert len(recording.cycles) > 5
    assert "the gzip data is damaged" in texts(recording)


def test_names_that_are_not_utf8_are_kept_as_escapes() -> None:
    lines = phase(0, 100, "dpm_suspend", call(1, 2, MAIN, "d dev", "bus [suspend]"))
    data = traces.text(lines).replace(b"d dev", b"d d\xffv")
    assert only(data).callbacks[0].device == "d\\xffv"
    assert missing(data, "a name is not UTF-8")


def test_without_a_header_the_kernel_is_not_known_and_that_is_said() -> None:
    data = traces.text(traces.cycle(), head="")
    assert read(data, "x").header.kernel == ""
    assert missing(data, "the version of the kernel is not recorded")


def test_the_projects_own_comments_say_kernel_rules_and_tree() -> None:
    head = "# lull-kernel: 6.12.1\n# lull-rules: links\n# lull-tree: lull-tree 1\n"
    recording = read(traces.text(traces.cycle(), head=head), "x")
    assert recording.header.kernel == "6.12.1"
    assert recording.header.rules == "links"
    assert recording.description == "lull-tree 1\n"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"\x7fELF\0\0\0", "no line of it is an event"),
        (b"# tracer: nop\n#\n", "no line of it is an event"),
        (b"[1.0] PM: suspend of devices complete after 1.2 msecs\n", "kernel's log"),
        (traces.text(traces.cycle()[:2]), "before the first phase"),
    ],
)
def test_a_file_with_nothing_to_read_is_an_error_with_a_hint(
    data: bytes, what: str
) -> None:
    with pytest.raises(NoRecording, match=what) as caught:
        read(data, "some/file")
    assert caught.value.where == "some/file"
    assert "trace-cmd record" in caught.value.hint
