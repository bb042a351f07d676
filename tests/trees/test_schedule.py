# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.errors import BadTree, UsageError
from lull.host.files import repo_root
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.order import skipped, us_in, waits_for
from lull.trees.reader import read
from lull.trees.schedule import (
    Costs,
    CriticalPath,
    Rules,
    Schedule,
    critical_path,
    schedule,
)
from lull.trees.shapes import load
from tests.trees.made import trees

SUSPEND, RESUME = Phase.SUSPEND, Phase.RESUME
STOCK, PARENTS, LINKS, LULL = Rules

PHASES = st.sampled_from(Phase)
RULES = st.sampled_from(Rules)
ASLEEP = trees(us=1000, busy=False)
COSTS = st.builds(Costs, st.sampled_from([0, 3, 50]), st.sampled_from([0, 7]))


def tree(text: str) -> Tree:
    return read(f"lull-tree 1\n{text}".encode(), "test")


def times(found: Schedule) -> Mapping[str, tuple[float, float]]:
    return {name: (slot.start_us, slot.end_us) for name, slot in found.slots.items()}


def made(text: str, phase: Phase, rules: Rules) -> dict[str, tuple[float, float]]:
    """The slots without costs; a name's own letters and no others."""
    found = schedule(tree(text), phase, rules)
    assert found.phase is phase
    assert found.makespan_us == max(slot.end_us for slot in found.slots.values())
    return dict(times(found))


# The list is walked down from its end: s, which is not async and stands before
# x, waits for its child n, and x starts only then.
HELD = """
device x async suspend=298 resume=298
device s suspend=4 resume=4
device n async parent=s suspend=123 resume=123
"""


def test_going_down_stock_starts_an_async_device_when_the_walk_reaches_it() -> None:
    assert made(HELD, SUSPEND, STOCK) == {
        "n": (0, 123),
        "s": (123, 127),
        "x": (127, 425),
    }


@pytest.mark.parametrize("rules", [PARENTS, LINKS, LULL])
def test_going_down_the_others_start_what_is_free_before_the_walk(
    rules: Rules,
) -> None:
    assert made(HELD, SUSPEND, rules) == {
        "n": (0, 123),
        "s": (123, 127),
        "x": (0, 298),
    }


@pytest.mark.parametrize("rules", Rules)
def test_going_up_the_walk_holds_up_nothing_that_is_async(rules: Rules) -> None:
    # n waits for s, which runs at once; x for nothing.
    assert made(HELD, RESUME, rules) == {"s": (0, 4), "n": (4, 127), "x": (0, 298)}


def test_going_up_the_walk_may_have_to_reach_a_device_under_stock_alone() -> None:
    text = tree("device m resume=1000\ndevice a async resume=5\n")
    for rules in Rules:
        start = 1000 if rules is STOCK else 0
        late = schedule(text, RESUME, rules, upfront=False)
        assert times(late)["a"] == (start, start + 5)
        assert times(schedule(text, RESUME, rules))["a"] == (0, 5)


# s and d have nothing to do on the way up, and a parent that takes its time.
LEFT = """
device p async resume=1000
device s parent=p
device d direct parent=p resume=9
device a async resume=5
"""


@pytest.mark.parametrize("rules", Rules)
def test_going_up_the_walk_passes_by_who_was_left_alone(rules: Rules) -> None:
    found = times(schedule(tree(LEFT), RESUME, rules, upfront=False))
    assert found["s"] == found["d"] == (0, 0) and found["a"] == (0, 5)
    # It was not, where somebody is below it who was not.
    busy = tree(LEFT + "device b parent=s resume=3\n")
    found = times(schedule(busy, RESUME, rules, upfront=False))
    assert found["s"] == (1000, 1000) and found["b"] == (1000, 1003)


def test_who_has_a_consumer_is_not_left_alone_in_parents() -> None:
    text = """
device p async resume=1000
device w resume=5000
device d async direct parent=p
device c async supplier=d resume=5
"""
    costs = Costs(start_us=3, wake_us=7)
    found = times(schedule(tree(text), RESUME, Rules.PARENTS, costs=costs))
    assert found["p"] == (3, 1003) and found["d"] == (1006, 1006)
    assert found["c"] == (1013, 1018)


def test_a_laptop_resumes_on_6_1_as_it_was_measured() -> None:
    """611 ms on insn (features/devices/README.md, On 6.1)."""
    laptop = load(repo_root() / "features/devices/trees/laptop.tree")
    found = schedule(laptop, RESUME, STOCK, upfront=False)
    assert found.makespan_us == pytest.approx(611_000, rel=0.002)


# p has a child that ends early, and a supplier's edge to c, which ends late.
# w is not async and holds up the walk before it reaches p.
JOINED = """
device p async suspend=10 resume=10
device w suspend=1 resume=1
device a async parent=p suspend=20 resume=20
device c async supplier=p parent=w suspend=50 resume=50
"""


def test_going_down_a_device_waits_for_its_consumers_too() -> None:
    for rules in Rules:
        found = made(JOINED, SUSPEND, rules)
        # Stock's walk reaches p only when w has ended, a microsecond later.
        start = 51 if rules is STOCK else 50
        assert found == {
            "c": (0, 50),
            "a": (0, 20),
            "w": (50, 51),
            "p": (start, start + 10),
        }


def test_going_up_a_device_waits_for_parent_and_suppliers() -> None:
    for rules in Rules:
        assert made(JOINED, RESUME, rules) == {
            "p": (0, 10),
            "w": (0, 1),
            "a": (10, 30),
            "c": (10, 60),
        }


# Costs tell the rules apart: a start takes 100, waking up 1.
COSTLY = Costs(start_us=100, wake_us=1)
PAIR = """
device p async suspend=10 resume=10
device b async suspend=5 resume=5
device c async parent=p supplier=b suspend=10 resume=10
"""


@pytest.mark.parametrize(
    ("phase", "rules", "want"),
    [
        # All start at 0 and wait in their workers.
        (SUSPEND, STOCK, {"c": (100, 110), "p": (111, 121), "b": (111, 116)}),
        # The walk meets no obstacle and starts p and b at 0.
        (SUSPEND, PARENTS, {"c": (100, 110), "p": (111, 121), "b": (111, 116)}),
        # The end of c starts p and b.
        (SUSPEND, LULL, {"c": (100, 110), "p": (210, 220), "b": (210, 215)}),
        (RESUME, STOCK, {"p": (100, 110), "b": (100, 105), "c": (111, 121)}),
        (RESUME, LULL, {"p": (100, 110), "b": (100, 105), "c": (210, 220)}),
    ],
)
def test_costs_fall_on_starts_and_on_waking_up(
    phase: Phase, rules: Rules, want: dict[str, tuple[float, float]]
) -> None:
    assert times(schedule(tree(PAIR), phase, rules, costs=COSTLY)) == want


# m is not async and is where the walk begins: it keeps the walk away from the
# others for 1000, going down in the one and going up in the other.
BLOCK = """
device b async suspend=5
device p async suspend=10
device c async parent=p supplier=b suspend=10
device m suspend=1000
"""
BLOCK_UP = """
device m resume=1000
device b async resume=5
device p async resume=300
device c async parent=p supplier=b resume=10
device q async supplier=b resume=10
"""


def test_behind_a_held_up_walk_parents_start_parents_and_links_suppliers() -> None:
    found = {
        rules: times(schedule(tree(BLOCK), SUSPEND, rules, costs=COSTLY))
        for rules in Rules
    }
    # The walk goes on at 1000.
    assert found[STOCK]["c"] == (1100, 1110)
    # b has no child, so parents starts it at once; it waits for its consumer.
    assert found[PARENTS] == {
        "m": (0, 1000),
        "c": (100, 110),
        "p": (210, 220),
        "b": (111, 116),
    }
    # For links it is no leaf: the end of c starts it.
    assert found[LINKS] == {**found[PARENTS], "b": (210, 215)}
    assert found[LULL] == found[LINKS]


def test_going_up_links_starts_consumers_and_parents_what_has_no_parent() -> None:
    found = {
        rules: times(schedule(tree(BLOCK_UP), RESUME, rules, costs=COSTLY))
        for rules in Rules
    }
    first = {"m": (0, 1000), "b": (100, 105), "p": (100, 400)}
    # All workers wait from the beginning.
    assert found[STOCK] == {**first, "c": (401, 411), "q": (106, 116)}
    # q has no parent; c is started by the end of p.
    assert found[PARENTS] == {**first, "c": (500, 510), "q": (106, 116)}
    # The end of b starts both; c's worker then waits for p.
    assert found[LINKS] == {**first, "c": (401, 411), "q": (205, 215)}
    assert found[LULL] == {**first, "c": (500, 510), "q": (205, 215)}


def test_what_is_not_async_goes_one_after_the_other_in_the_order_of_the_walk() -> None:
    text = "device a suspend=3 resume=3\ndevice b suspend=4 resume=4\n"
    for rules in Rules:
        assert made(text, SUSPEND, rules) == {"b": (0, 4), "a": (4, 7)}
        assert made(text, RESUME, rules) == {"a": (0, 3), "b": (3, 7)}


def test_busy_callbacks_share_the_cpus_and_sleepers_need_none() -> None:
    text = (
        "device a async suspend=busy:10\ndevice b async suspend=busy:30\n"
        "device c async suspend=30\n"
    )
    one = schedule(tree(text), SUSPEND, LULL, cpus=1)
    # Half a CPU each until a has its 10; then b has one to itself.
    assert times(one) == {"a": (0, 20), "c": (0, 30), "b": (0, 40)}
    two = schedule(tree(text), SUSPEND, LULL, cpus=2)
    assert times(two) == {"a": (0, 10), "c": (0, 30), "b": (0, 30)}


def test_the_slots_tell_the_main_thread_and_stand_in_the_order_of_ends() -> None:
    found = schedule(tree(HELD), SUSPEND, LULL)
    assert {slot.name for slot in found.slots.values() if slot.main} == {"s"}
    assert list(found.slots) == ["n", "s", "x"]


def test_a_phase_without_a_callback_takes_no_time() -> None:
    found = schedule(tree(HELD), Phase.SUSPEND_NOIRQ, STOCK)
    assert found.makespan_us == 0
    assert set(found.slots) == {"x", "s", "n"}


def test_a_direct_device_is_skipped_unless_something_below_it_is_not() -> None:
    text = (
        "device p direct suspend=5\ndevice c direct parent=p suspend=7\n"
        "device idle parent=c\ndevice q direct suspend=9\n"
        "device busy parent=q suspend=1\ndevice r direct suspend=2\n"
        "device s supplier=r suspend=1\n"
    )
    assert skipped(tree(text)) == {"p", "c"}
    found = times(schedule(tree(text), SUSPEND, LULL))
    assert found["p"] == found["c"] == (13, 13)
    assert found["r"] == (1, 3)


def test_the_critical_path_is_the_longest_chain_of_either_kind_of_edge() -> None:
    assert critical_path(tree(JOINED), SUSPEND) == CriticalPath(60, ("c", "p"))
    assert critical_path(tree(JOINED), RESUME) == CriticalPath(60, ("p", "c"))
    assert critical_path(tree(HELD), SUSPEND) == CriticalPath(298, ("x",))
    assert critical_path(tree(HELD), Phase.RESUME_EARLY) == CriticalPath(0, ())


def test_a_list_that_is_out_of_order_is_refused() -> None:
    wrong = Tree((Device("a", parent="b"), Device("b")))
    for phase in Phase:
        with pytest.raises(BadTree, match="declared later"):
            schedule(wrong, phase, STOCK)
        with pytest.raises(BadTree, match="declared later"):
            critical_path(wrong, phase)


def test_no_cpu_and_negative_costs_are_refused() -> None:
    with pytest.raises(UsageError):
        schedule(tree(HELD), SUSPEND, STOCK, cpus=0)
    with pytest.raises(UsageError):
        schedule(tree(HELD), SUSPEND, STOCK, costs=Costs(wake_us=-1))


@given(trees(us=1000), PHASES, RULES, st.integers(1, 3), COSTS)
def test_every_device_has_one_slot_that_begins_after_what_it_waits_for(
    tree: Tree, phase: Phase, rules: Rules, cpus: int, costs: Costs
) -> None:
    found = schedule(tree, phase, rules, cpus=cpus, costs=costs)
    assert set(found.slots) == {device.name for device in tree.devices}
    skip = skipped(tree)
    needs = waits_for(tree, phase)
    for device in tree.devices:
        slot = found.slots[device.name]
        assert slot.main is not device.is_async
        assert slot.end_us - slot.start_us >= us_in(device, phase, skip) - 1e-6
        for other in needs[device.name]:
            assert found.slots[other].end_us <= slot.start_us
    assert found.makespan_us == max(slot.end_us for slot in found.slots.values())


@given(trees(us=1000), PHASES, RULES, st.integers(1, 3), COSTS)
def test_the_main_thread_follows_the_list_and_does_one_thing_at_a_time(
    tree: Tree, phase: Phase, rules: Rules, cpus: int, costs: Costs
) -> None:
    slots = schedule(tree, phase, rules, cpus=cpus, costs=costs).slots
    devices = tree.devices[::-1] if phase.down else tree.devices
    main = [slots[device.name] for device in devices if not device.is_async]
    for first, second in pairwise(main):
        assert first.end_us <= second.start_us


@given(trees(us=1000), PHASES, RULES, st.integers(1, 3), COSTS)
def test_no_schedule_is_shorter_than_the_critical_path(
    tree: Tree, phase: Phase, rules: Rules, cpus: int, costs: Costs
) -> None:
    path = critical_path(tree, phase)
    found = schedule(tree, phase, rules, cpus=cpus, costs=costs)
    assert found.makespan_us >= path.us * (1 - 1e-9)
    devices = {device.name: device for device in tree.devices}
    skip = skipped(tree)
    assert path.us == sum(us_in(devices[n], phase, skip) for n in path.devices)


@given(ASLEEP, PHASES)
def test_with_all_async_and_no_costs_every_schedule_is_the_critical_path(
    tree: Tree, phase: Phase
) -> None:
    free = Tree(tuple(replace(device, is_async=True) for device in tree.devices))
    for rules in Rules:
        assert schedule(free, phase, rules).makespan_us == critical_path(free, phase).us


@given(ASLEEP, PHASES, RULES)
def test_without_costs_no_device_ends_sooner_than_under_lull(
    tree: Tree, phase: Phase, rules: Rules
) -> None:
    best = schedule(tree, phase, LULL).slots
    for name, slot in schedule(tree, phase, rules).slots.items():
        assert best[name].end_us <= slot.end_us


@given(ASLEEP, PHASES)
def test_without_costs_only_stock_going_down_differs(tree: Tree, phase: Phase) -> None:
    best = times(schedule(tree, phase, LULL))
    for rules in (PARENTS, LINKS) if phase.down else Rules:
        assert times(schedule(tree, phase, rules)) == best


@given(ASLEEP, PHASES, RULES)
def test_without_busy_work_the_number_of_cpus_does_not_matter(
    tree: Tree, phase: Phase, rules: Rules
) -> None:
    assert schedule(tree, phase, rules, cpus=1) == schedule(tree, phase, rules, cpus=9)


@given(trees(us=1000), PHASES, RULES, st.integers(1, 3))
def test_busy_callbacks_never_get_more_than_the_cpus(
    tree: Tree, phase: Phase, rules: Rules, cpus: int
) -> None:
    skip = skipped(tree)
    zero = Work(0)
    used = sum(
        us_in(device, phase, skip)
        for device in tree.devices
        if device.work.get(phase, zero).busy
    )
    found = schedule(tree, phase, rules, cpus=cpus)
    assert found.makespan_us * cpus >= used * (1 - 1e-9)
