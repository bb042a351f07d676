# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import gzip
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from lull.errors import NoRecording
from lull.graph import dmesg
from lull.graph.analysis import analyse
from lull.graph.ftrace import read
from lull.graph.perfetto import to_json
from lull.vm.timeouts import host_factor
from tests.graph import traces

GOOD = traces.recorded()
PARTS = (b"[", b"]", b"-", b": ", b"\n", b"\0", b"\xff", b" begin", b", parent: ")


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The good one, with lines dropped, doubled and swapped, and bytes changed."""
    lines = GOOD.split(b"\n")
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, len(lines) - 1))
        to = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(("drop", "double", "swap", "change", "rename"))):
            case "drop" if len(lines) > 1:
                del lines[at]
            case "double":
                lines.insert(to, lines[at])
            case "swap":
                lines[at], lines[to] = lines[to], lines[at]
            case "rename":
                lines[at] = lines[at].replace(b"screen", b"bus0")
            case _:
                place = draw(st.integers(0, len(lines[at])))
                piece = draw(st.sampled_from(PARTS) | st.binary(max_size=6))
                cut = draw(st.integers(0, 9))
                lines[at] = lines[at][:place] + piece + lines[at][place + cut :]
    data = b"\n".join(lines)
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


def all_of(data: bytes) -> None:
    recording = read(data, "x")
    for number in range(1, len(recording.cycles) + 1):
        found = analyse(recording, number, dmesg.read(data))
        to_json(found.cycle, found.graph, found.paths.values())
        found.replays()


@settings(max_examples=300, deadline=None)
@given(mutated())
def test_a_damaged_trace_reads_or_says_that_there_is_nothing(data: bytes) -> None:
    try:
        all_of(data)
    except NoRecording as error:
        assert error.hint


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_read_or_say_that_there_is_nothing(data: bytes) -> None:
    for each in (data, b"\x1f\x8b" + data, gzip.compress(data)):
        try:
            all_of(each)
        except NoRecording as error:
            assert error.hint


def test_lines_made_to_be_slow_are_not() -> None:
    dashes = b"suspend_resume: " + b"-1 [" * 1000 + b"\n"
    long = b"suspend_resume: " + b"-1 " * 300_000 + b"\n"
    starts = b"".join(
        b" a-%d [0] 1.000000: device_pm_callback_start: d d%d, parent: d%d, bus"
        b" [suspend]\n" % (i, i, i + 1)
        for i in range(9000)
    )
    begin = time.process_time()
    all_of(dashes * 100 + long + starts)
    assert time.process_time() - begin < 20 * host_factor()
