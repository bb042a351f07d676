# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import pytest

from lull.errors import BadTree
from lull.graph.ftrace import read
from lull.graph.tree import NO_LINKS, Graph, graph, merge
from lull.trees.model import Device, Phase, Work
from tests.graph import traces
from tests.graph.traces import BUS, DISK, MAIN, call, phase


def made(data: bytes) -> Graph:
    recording = read(data, "x")
    return graph(recording, recording.cycle()[1])


def devices(data: bytes) -> dict[str, Device]:
    return {device.name: device for device in made(data).tree.devices}


def texts(found: Graph) -> list[str]:
    return [str(caveat) for caveat in found.caveats]


def test_the_tree_has_the_order_of_prepare_the_parents_and_the_flags() -> None:
    found = made(traces.recorded())
    assert [(d.name, d.parent, d.is_async) for d in found.tree.devices] == [
        ("platform", None, False),
        ("kbd", "platform", False),
        ("bus0", None, True),
        ("disk", "bus0", True),
        ("screen", "bus0", True),
    ]


def test_times_are_those_of_the_callbacks_alone() -> None:
    found = devices(traces.recorded())
    assert found["disk"].work == {
        Phase.SUSPEND: Work(12_000),
        Phase.RESUME: Work(5_000),
    }
    assert found["platform"].work == {}
    # Waited 30 ms for the screen before that.
    assert found["bus0"].work[Phase.SUSPEND] == Work(500)


def test_without_links_a_caveat_says_so_and_nothing_else_is_wrong() -> None:
    found = made(traces.recorded())
    assert texts(found) == [NO_LINKS]
    assert not found.links


def test_without_flags_a_worker_shows_that_a_device_is_async() -> None:
    found = made(traces.text(traces.cycle()))
    flags = {device.name: device.is_async for device in found.tree.devices}
    assert [name for name, flag in flags.items() if flag] == ["bus0", "disk", "screen"]
    assert any("is taken for async" in text for text in texts(found))


def test_what_nothing_ran_is_async_as_its_child_is() -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(1, 2, DISK, "d disk<host", "bus [suspend]"),
        call(3, 4, MAIN, "d led<board", "bus [suspend]"),
    )
    found = devices(traces.text(lines))
    assert (found["host"].is_async, found["board"].is_async) == (True, False)


def test_without_prepare_the_order_is_that_of_the_walk() -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(1, 2, MAIN, "d late", "bus [suspend]"),
        call(5, 6, MAIN, "d early", "bus [suspend]"),
    ) + phase(
        200,
        300,
        "dpm_resume",
        call(1, 2, MAIN, "d early", "bus [resume]"),
        call(3, 4, MAIN, "d middle", "bus [resume]"),
        call(5, 6, MAIN, "d late", "bus [resume]"),
    )
    found = made(traces.text(lines))
    assert [d.name for d in found.tree.devices] == ["early", "middle", "late"]
    assert any("the order of the list is a guess" in text for text in texts(found))


def test_what_the_walk_ran_stays_in_its_order_when_a_parent_moves() -> None:
    lines = [
        *phase(0, 50, "dpm_suspend", call(1, 2, BUS, "d top", "bus [suspend]")),
        *phase(
            100,
            200,
            "dpm_resume",
            call(1, 2, MAIN, "d x<top", "bus [resume]"),
            call(3, 4, MAIN, "d y", "bus [resume]"),
        ),
    ]
    found = made(traces.text(lines))
    assert [d.name for d in found.tree.devices] == ["top", "x", "y"]


def test_two_of_one_name_in_a_phase_are_two_devices() -> None:
    lines = phase(
        0,
        100,
        "dpm_suspend",
        call(1, 11, DISK, "d ep<a", "bus [suspend]"),
        call(2, 32, BUS, "d ep<b", "bus [suspend]"),
        call(50, 53, MAIN, "d ep<b", "bus [suspend]"),
    )
    found = devices(traces.text(lines))
    eps = [d for name, d in found.items() if name.startswith("ep")]
    assert sorted((str(d.parent), d.work[Phase.SUSPEND].us) for d in eps) == [
        ("a", 10),
        ("b", 3),
        ("b", 30),
    ]


def test_a_name_that_is_not_legal_becomes_legal() -> None:
    lines = phase(0, 9, "dpm_suspend", call(1, 2, MAIN, "d a/b", "bus [suspend]"))
    assert list(devices(traces.text(lines))) == ["a_b"]


def test_a_parent_of_several_of_its_name_is_the_one_before_the_child() -> None:
    order = ("d x<one", "d hub<one", "d hub<two", "d leaf<hub")
    lines = phase(
        0,
        50,
        "dpm_prepare",
        *(call(i, i, MAIN, name, "[suspend]") for i, name in enumerate(order, 1)),
    ) + phase(60, 90, "dpm_suspend")
    found = devices(traces.text(lines))
    assert found["leaf"].parent == "hub:2"
    assert found["hub:2"].parent == "two"


def test_a_circle_of_parents_is_cut_and_said() -> None:
    lines = phase(
        0,
        50,
        "dpm_suspend",
        call(1, 2, MAIN, "d a<b", "bus [suspend]"),
        call(3, 4, MAIN, "d b<a", "bus [suspend]"),
    )
    found = made(traces.text(lines))
    parents = {device.parent for device in found.tree.devices}
    assert parents in ({None, "a"}, {None, "b"})
    assert any("is its own ancestor" in text for text in texts(found))


def test_a_description_in_the_recording_gives_links_and_flags() -> None:
    head = "".join(
        f"# lull-tree: {line}\n"
        for line in (
            "lull-tree 1",
            "device disk async",
            "device screen async supplier=disk",
        )
    )
    found = made(traces.text(traces.cycle(), head=head))
    screen = found.tree.devices[1]
    assert found.links
    assert screen.suppliers == ("disk",)
    assert screen.work == {}


def test_a_description_takes_the_recorded_times() -> None:
    head = (
        "# lull-tree: lull-tree 1\n# lull-tree: device bus0\n"
        "# lull-tree: device disk async parent=bus0 suspend=1\n"
    )
    found = made(traces.text(traces.cycle(), head=head))
    assert found.tree.devices[1].work[Phase.SUSPEND] == Work(12_000)
    assert any("is not in the description" in text for text in texts(found))


def test_a_bad_description_is_an_error_that_names_it() -> None:
    head = "# lull-tree: lull-tree 1\n# lull-tree: device a parent=b\n"
    with pytest.raises(BadTree, match="b is unknown"):
        made(traces.text(traces.cycle(), head=head))


def test_merging_keeps_both_orders() -> None:
    def keys(names: str) -> list[tuple[str, None, int]]:
        return [(name, None, 0) for name in names]

    assert merge(keys("ace"), keys("abcd")) == keys("abcde")
    assert merge(keys("cd"), keys("abc")) == keys("abcd")
    assert merge(keys("ab"), keys("xy")) == keys("abxy")
    assert merge([], keys("xy")) == keys("xy")
