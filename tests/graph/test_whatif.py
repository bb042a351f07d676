# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest

from lull.errors import UsageError
from lull.graph.analysis import Analysis, analyse
from lull.graph.edits import parse
from lull.graph.ftrace import read
from lull.graph.recording import Header
from lull.graph.whatif import KernelRules, Replay, changed, predict, rules_of
from lull.trees.model import Phase, Tree
from lull.trees.schedule import Rules
from tests.graph import traces
from tests.graph.traces import DISK, MAIN, call, phase


def found(data: bytes) -> Analysis:
    return analyse(read(data, "x"))


def replays(data: bytes) -> dict[Phase, Replay]:
    return {each.phase: each for each in found(data).replays()}


@pytest.mark.parametrize(
    ("kernel", "rules", "upfront"),
    [
        ("3.15.0-latest", Rules.STOCK, True),
        ("5.3.0+", Rules.STOCK, True),
        ("6.1.75", Rules.STOCK, True),
        ("6.1.76", Rules.STOCK, False),
        ("6.6.15-arch1", Rules.STOCK, False),
        ("6.9.3", Rules.STOCK, False),
        ("6.10.0", Rules.STOCK, True),
        ("6.12.117", Rules.STOCK, True),
        ("6.16.1", Rules.PARENTS, True),
        ("6.17", Rules.LINKS, True),
        ("7.3.0", Rules.LINKS, True),
    ],
)
def test_a_version_stands_for_rules(kernel: str, rules: Rules, upfront: bool) -> None:
    assert rules_of(Header(kernel)) == KernelRules(rules, upfront)


def test_what_the_recording_says_of_its_rules_comes_first() -> None:
    assert rules_of(Header("6.12.117", rules="lull")).rules is Rules.LULL
    assert rules_of(Header("7.3.4", rules="parents")).rules is Rules.PARENTS


def test_changed_to_stock_it_is_what_the_version_has() -> None:
    kernel = rules_of(Header("7.3.4", rules="lull"))
    tree = Tree(())
    assert changed(tree, kernel, parse("mode=stock"))[1].rules is Rules.LINKS
    assert changed(tree, kernel, parse("mode=parents"))[1].rules is Rules.PARENTS
    before = rules_of(Header("6.1.170", rules="stock"))
    assert changed(tree, before, parse("mode=stock"))[1] == before


def test_stock_is_what_the_version_has() -> None:
    assert rules_of(Header("7.3.4", rules="stock")).rules is Rules.LINKS
    before = rules_of(Header("6.1.170", rules="stock"))
    assert before == KernelRules(Rules.STOCK, upfront=False)


@pytest.mark.parametrize("kernel", ["", "linux", "x.y"])
def test_an_unknown_version_is_taken_for_stock_and_said(kernel: str) -> None:
    assert rules_of(Header(kernel)) == KernelRules(Rules.STOCK, known=False)


def test_the_replay_of_a_plain_recording_has_its_times() -> None:
    for each in replays(traces.recorded()).values():
        # What is missing is the time around the callbacks, at most 200 us.
        assert 0 <= each.measured_us - each.predicted_us <= 201
        assert each.ok
        assert each.why == ""


def test_a_replay_that_is_off_says_that_the_time_is_in_no_callback() -> None:
    lines = phase(0, 1000, "dpm_suspend", call(10, 60, MAIN, "d a", "bus [suspend]"))
    (each,) = replays(traces.text(lines)).values()
    assert not each.ok
    assert "0.950 ms of it are in no callback" in each.why


def test_a_replay_that_is_off_names_who_began_late() -> None:
    lines = phase(
        0,
        1000,
        "dpm_resume",
        call(1, 500, DISK, "d a", "bus [resume]"),
        call(500, 999, ("kworker/1", 9), "d b", "bus [resume]"),
    )
    (each,) = replays(traces.text(lines)).values()
    assert each.off == pytest.approx(-0.5, abs=0.01)
    assert "b began 0.500 ms later" in each.why


def test_a_phase_that_is_cut_off_is_said_to_be() -> None:
    lines = phase(0, 1000, "dpm_suspend", call(500, 999, DISK, "d a", "bus [suspend]"))
    (each,) = replays(traces.text(lines[:-1])).values()
    assert each.why == "the phase is not recorded to its end"


def test_a_prediction_is_beside_the_models_own_time_of_the_recording() -> None:
    one = found(traces.recorded())
    (each,) = predict(
        one.graph,
        one.kernel,
        parse("mode=lull,screen:suspend=1ms"),
        [Phase.SUSPEND],
    )
    # The screen, then the bus; then the disk, then the bus.
    assert each.before_us == 30_500
    assert each.after_us == 12_500


def test_a_walk_that_blocks_costs_stock_what_lull_does_not_pay() -> None:
    order = ("d disk", "d port", "d card<port")
    lines = [
        *phase(
            0,
            50,
            "dpm_prepare",
            *(call(i, i, MAIN, name, "[suspend]") for i, name in enumerate(order, 1)),
        ),
        *phase(
            100,
            30_000,
            "dpm_suspend",
            call(1, 8_001, ("kworker/2", 8), "d card<port", "bus [suspend]"),
            call(8_002, 8_003, MAIN, "d port", "bus [suspend]"),
            call(8_004, 28_004, DISK, "d disk", "bus [suspend]"),
        ),
    ]
    one = found(traces.text(lines))
    (each,) = predict(one.graph, one.kernel, parse("mode=lull"), [Phase.SUSPEND])
    assert each.before_us == pytest.approx(28_001)
    assert each.after_us == pytest.approx(20_000)


@pytest.mark.parametrize(("kernel", "us"), [("6.9.1", 9_000), ("6.10.0", 8_000)])
def test_where_the_walk_starts_a_resume_what_is_behind_a_sync_device_waits(
    kernel: str, us: float
) -> None:
    lines = phase(
        0,
        9_000,
        "dpm_resume",
        call(0, 1_000, MAIN, "d kbd", "bus [resume]"),
        call(1_000, 9_000, DISK, "d disk", "bus [resume]"),
    )
    stamp = traces.STAMP.replace("5.3.0+", kernel)
    data = f"{stamp}\n".encode() + traces.text(lines)
    assert replays(data)[Phase.RESUME].predicted_us == pytest.approx(us)


def test_an_unknown_mode_is_an_error_that_names_the_modes() -> None:
    one = found(traces.recorded())
    with pytest.raises(UsageError) as caught:
        predict(one.graph, one.kernel, parse("mode=fast"), [Phase.SUSPEND])
    assert "parents" in caught.value.hint
