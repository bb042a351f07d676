# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from lull.graph.analysis import analyse
from lull.graph.ftrace import read
from lull.graph.perfetto import to_json
from lull.trees.model import Phase
from tests.graph import traces
from tests.graph.traces import MAIN, call, phase


def events(data: bytes) -> list[dict[str, Any]]:
    found = analyse(read(data, "x"))
    text = to_json(found.cycle, found.graph, found.paths.values())
    read_back: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return read_back


def crowd() -> bytes:
    """Forty callbacks that overlap in all ways, some of no length."""
    calls = [
        call(
            i * 7 % 50,
            60 + i * 11 % 40 * (i % 5),
            ("kworker/x", 500 + i),
            f"d {i}",
            bus,
        )
        for bus in ("bus [suspend]",)
        for i in range(40)
    ]
    main = [
        call(i * 3, i * 3 + i % 3, MAIN, f"d m{i}", "bus [suspend]") for i in range(9)
    ]
    return traces.text(phase(0, 1000, "dpm_suspend", *calls, *main))


DATA = {"recorded": traces.recorded(), "crowd": crowd()}


def ns(event: dict[str, Any]) -> tuple[int, int]:
    start = round(event["ts"] * 1000)
    return start, start + round(event["dur"] * 1000)


def tracks(data: bytes) -> dict[int, list[dict[str, Any]]]:
    found = defaultdict(list)
    for event in events(data):
        if event["ph"] == "X":
            found[event["tid"]].append(event)
    return found


def names(data: bytes) -> dict[int, str]:
    return {
        event["tid"]: event["args"]["name"]
        for event in events(data)
        if event["name"] == "thread_name"
    }


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_on_each_track_slices_nest(data: bytes) -> None:
    for slices in tracks(data).values():
        open_ends: list[int] = []
        for start, end in map(ns, slices):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_workers_do_not_seem_to_call_one_another(data: bytes) -> None:
    for tid, slices in tracks(data).items():
        if not names(data)[tid].startswith("phases"):
            ends = [ns(event) for event in slices]
            for before, after in pairwise(ends):
                assert before[1] <= after[0]


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_each_arrow_begins_and_ends_inside_a_slice_and_goes_forward(
    data: bytes,
) -> None:
    slices = tracks(data)
    ends: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for event in events(data):
        if event["ph"] in "sf":
            ends[event["id"]][event["ph"]] = event
    assert ends
    for arrow in ends.values():
        assert set(arrow) == {"s", "f"}
        assert arrow["s"]["ts"] <= arrow["f"]["ts"]
        at = {edge: round(event["ts"] * 1000) for edge, event in arrow.items()}
        around = {
            edge: [ns(each) for each in slices[event["tid"]]]
            for edge, event in arrow.items()
        }
        # From one that has ended by then, to one that begins there.
        assert any(start <= at["s"] <= end <= at["f"] for start, end in around["s"])
        assert any(start == at["f"] for start, _ in around["f"])


def test_there_is_a_slice_for_each_callback_and_each_step() -> None:
    found = analyse(read(DATA["recorded"], "x"))
    slices = [each for some in tracks(DATA["recorded"]).values() for each in some]
    want = len(found.cycle.callbacks) + len(found.cycle.steps)
    assert len(slices) == want
    screen = [e for e in slices if e["name"] == "screen"]
    assert [e["args"]["phase"] for e in screen] == [
        Phase.SUSPEND,
        Phase.SUSPEND_LATE,
        Phase.RESUME_EARLY,
        Phase.RESUME,
    ]
    assert screen[0]["dur"] == pytest.approx(30_000)


def test_the_main_thread_has_a_track_of_its_own() -> None:
    tracks_of = {
        names(DATA["recorded"])[tid]: {event["name"] for event in slices}
        for tid, slices in tracks(DATA["recorded"]).items()
    }
    assert tracks_of["main thread"] == {"kbd"}
    assert "kbd" not in tracks_of["worker 1"]
