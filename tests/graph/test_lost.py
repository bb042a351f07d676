# SPDX-License-Identifier: GPL-2.0-only
"""What a recording that lacks events may say: less, and nothing impossible."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lull.errors import NoRecording
from lull.graph import text
from lull.graph.analysis import Analysis, analyse
from lull.graph.edits import parse
from lull.graph.ftrace import read
from lull.graph.whatif import predict
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.schedule import critical_path
from lull.trees.shapes import random
from tests.graph import traces
from tests.graph.traces import BUS, SCREEN, Line, call, phase

#: A trace of several CPUs is in order to about a millisecond.
SLACK_MS = 2.0


def found(lines: list[Line]) -> Analysis:
    return analyse(read(traces.text(lines), "x"))


def without(lines: list[Line], what: str) -> list[Line]:
    kept = [line for line in lines if what not in f"{line.event}: {line.rest}"]
    assert len(kept) < len(lines)
    return kept


def screen_and_bus() -> list[Line]:
    return phase(
        0,
        40_000,
        "dpm_suspend",
        call(20, 30_020, SCREEN, "screen screen<bus0", "bus [suspend]"),
        call(30_040, 39_040, BUS, "bus bus0", "type [suspend]"),
    )


def test_a_chain_with_a_lost_end_is_not_longer_than_its_phase() -> None:
    one = found(without(screen_and_bus(), "screen screen, err=0"))
    # As if it had gone on to the end: 40 + 9 ms of 40.
    assert one.ideals[Phase.SUSPEND].us == 9_000
    assert one.paths[Phase.SUSPEND].callbacks_s == pytest.approx(0.009)


def test_a_lost_end_is_shown_with_what_it_took_at_most() -> None:
    one = found(without(screen_and_bus(), "screen screen, err=0"))
    bars = text.timeline(one.waits[Phase.SUSPEND], None)
    (bar,) = (line for line in bars if "screen" in line)
    assert bar.endswith("39.980 at most")
    assert "?" in bar
    assert "its end is lost" in "".join(text.device(one.waits[Phase.SUSPEND], "screen"))


def test_a_model_without_a_lost_time_says_that_it_is_lost() -> None:
    one = found(without(screen_and_bus(), "screen screen, err=0"))
    (replay,) = one.replays()
    assert replay.why == "the ends of 1 callbacks are lost"


#: A task, its device, and who calls.
Call = tuple[tuple[str, int], str, str]
SCREEN_CALL: Call = (SCREEN, "screen screen<bus0", "bus")
BUS_CALL: Call = (BUS, "bus bus0", "type")


@pytest.mark.parametrize(
    ("which", "waited_for", "waits"),
    [
        (Phase.SUSPEND, SCREEN_CALL, BUS_CALL),
        (Phase.RESUME, BUS_CALL, SCREEN_CALL),
    ],
    ids=["down", "up"],
)
def test_a_time_that_goes_beyond_who_waited_for_it_is_cut_and_said(
    which: Phase, waited_for: Call, waits: Call
) -> None:
    lines = phase(
        0,
        40_000,
        f"dpm_{which}",
        call(20, 30_020, *waited_for[:2], f"{waited_for[2]} [{which}]"),
        call(20_020, 39_020, *waits[:2], f"{waits[2]} [{which}]"),
    )
    one = found(lines)
    assert one.ideals[which].us == 20_000 + 19_000
    assert any("it counts up to there" in str(caveat) for caveat in one.caveats)


@settings(max_examples=60, deadline=None)
@example(4603003, 0.4)
@given(st.integers(0, 2**32), st.sampled_from((0.01, 0.1, 0.4)))
def test_whatever_is_lost_no_figure_is_impossible(seed: int, share: float) -> None:
    draw = Random(seed)
    tree = random(n=25, us=20_000, resume=20_000, sync=40, links=0, seed=seed)
    lines = [x for x in traces.of_tree(tree) if draw.random() >= share]
    try:
        one = found(lines)
    except NoRecording:
        return
    for which, span in one.cycle.spans.items():
        assert one.ideals[which].us / 1e3 <= span.ms + SLACK_MS
        assert one.paths[which].callbacks_s * 1e3 <= span.ms + SLACK_MS
        for call_ in one.graph.calls[which].values():
            assert (call_.last_s - call_.start_s) * 1e3 <= span.ms + SLACK_MS
    for each in predict(one.graph, one.kernel, parse("mode=lull"), one.paths):
        assert each.after_us <= sum(
            device.work[each.phase].us
            for device in one.graph.tree.devices
            if each.phase in device.work
        )


def test_a_trace_of_the_model_reads_back_as_the_tree() -> None:
    work = {Phase.SUSPEND: Work(3_000), Phase.RESUME: Work(700)}
    tree = Tree(
        (
            Device("a", work=work),
            Device("b", "a", is_async=True, work=work),
            Device("c", "b", is_async=True, work=work),
        )
    )
    one = found(traces.of_tree(tree))
    assert one.graph.tree == tree
    assert critical_path(tree, Phase.SUSPEND) == one.ideals[Phase.SUSPEND]
