# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.errors import BadTree, UsageError
from lull.trees.model import Device, Phase, Tree, Work
from lull.trees.order import check_order
from lull.trees.schedule import Rules, critical_path, schedule
from lull.trees.shapes import SHAPES, make
from lull.trees.writer import write

BOTH = (Phase.SUSPEND, Phase.RESUME)


def plain(tree: Tree) -> dict[str, str | None]:
    return {device.name: device.parent for device in tree.devices}


def share(tree: Tree, wanted: Callable[[Device], bool]) -> float:
    return 100 * sum(map(wanted, tree.devices)) / len(tree.devices)


def test_a_chain_is_one_child_each() -> None:
    tree = make("chain:n=3,us=7,phases=suspend_late+suspend")
    assert plain(tree) == {"d0": None, "d1": "d0", "d2": "d1"}
    work = {Phase.SUSPEND: Work(7), Phase.SUSPEND_LATE: Work(7)}
    assert all(device.work == work and device.is_async for device in tree.devices)
    assert critical_path(tree, Phase.SUSPEND).us == 21


def test_a_fan_is_a_parent_with_children() -> None:
    tree = make("fan:n=2,us=7,top=5")
    assert plain(tree) == {"top": None, "d0": "top", "d1": "top"}
    assert [d.work[Phase.RESUME].us for d in tree.devices] == [5, 7, 7]
    assert {tuple(device.work) for device in tree.devices} == {BOTH}


def test_a_fan_of_fans_has_two_levels() -> None:
    tree = make("fan2:n=2,m=1,us=7,leaf=3,top=5")
    assert plain(tree) == {
        "top": None,
        "d0": "top",
        "d0.0": "d0",
        "d1": "top",
        "d1.0": "d1",
    }
    assert critical_path(tree, Phase.SUSPEND).us == 15


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_in_order_and_can_be_written(name: str) -> None:
    tree = make(name)
    check_order(tree)
    assert write(tree) == write(make(name))


def test_a_seed_gives_the_same_tree_on_every_machine() -> None:
    text = write(make("random:n=300,seed=3,busy=20"))
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "696688e505fc74521035525e12f74cf2392338e2471abdf2d98a50a423505f93"
    )


def test_the_seed_decides() -> None:
    assert len({write(make(f"random:n=20,seed={seed}")) for seed in range(20)}) == 20


@pytest.mark.parametrize("key", ["sync", "busy"])
def test_a_percentage_changes_nothing_else(key: str) -> None:
    def bare(value: int) -> list[tuple[str | None, tuple[str, ...], list[int]]]:
        return [
            (device.parent, device.suppliers, [w.us for w in device.work.values()])
            for device in make(f"random:{key}={value}").devices
        ]

    assert bare(0) == bare(30) == bare(100)


@pytest.mark.parametrize("name", ["chain", "fan", "random"])
def test_a_percentage_is_about_what_it_says(name: str) -> None:
    tree = make(f"{name}:n=2000,sync=30,busy=60")
    assert share(tree, lambda d: not d.is_async) == pytest.approx(30, abs=3)
    assert share(tree, lambda d: d.work[BOTH[0]].busy) == pytest.approx(60, abs=3)
    for value, want in ((0, True), (100, False)):
        all_of = make(f"{name}:sync={value}")
        assert {device.is_async for device in all_of.devices} == {want}


def test_a_random_tree_has_links_and_rare_callbacks_as_asked() -> None:
    tree = make("random:n=2000,links=50,rare=10")
    # A few draw their own parent and stay without.
    assert share(tree, lambda d: bool(d.suppliers)) == pytest.approx(50, abs=4)
    for phase in Phase:
        want = 100 if phase in BOTH else 10
        found = share(tree, lambda d, phase=phase: phase in d.work)  # type: ignore[misc]
        assert found == pytest.approx(want, abs=2)
    assert all(device.parent not in device.suppliers for device in tree.devices)
    most = max(device.work[Phase.SUSPEND].us for device in tree.devices)
    assert 100_000 < most <= 110_000


def test_by_default_a_random_suspend_and_resume_need_a_tenth_of_a_second_and_more() -> (
    None
):
    for seed in range(40):
        tree = make(f"random:seed={seed}")
        assert len(tree.devices) == 300
        for phase in BOTH:
            assert 100_000 <= critical_path(tree, phase).us <= 400_000


def test_by_default_a_random_tree_sleeps_and_sync_devices_hold_up_stock() -> None:
    trees = [make(f"random:seed={seed}") for seed in range(10)]
    assert not any(w.busy for t in trees for d in t.devices for w in d.work.values())
    ratios = [
        schedule(tree, Phase.SUSPEND, Rules.STOCK).makespan_us
        / schedule(tree, Phase.SUSPEND, Rules.LULL).makespan_us
        for tree in trees
    ]
    assert sorted(ratios)[5] > 1.1


def test_an_empty_tree_has_callbacks_everywhere_that_take_nothing() -> None:
    tree = make("empty:n=900")
    assert len(tree.devices) == 900
    work = dict.fromkeys(Phase, Work(0))
    assert all(device.work == work for device in tree.devices)
    assert share(tree, lambda d: d.is_async) == 8
    parents = plain(tree)
    depths = {
        sum(above is not None for above in (up, parents[up] if up else None))
        for up in parents.values()
    }
    assert depths == {0, 1, 2}


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_the_smallest_trees_are_trees(n: int) -> None:
    for spec in (
        f"chain:n={n}",
        f"random:n={n}",
        f"empty:n={n}",
        f"empty:n={n},sync=0",
    ):
        tree = make(spec)
        check_order(tree)
        assert len(tree.devices) == n
    assert len(make(f"fan:n={n - 1}").devices) == n


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "chain, fan, fan2, random, empty, file:PATH"),
        ("chian:n=3", "chain, fan, fan2, random, empty, file:PATH"),
        ("chain:nn=3", "n=50 us=1000 phases=suspend+resume sync=0 busy=0 seed=1"),
        ("chain:n", "n=50"),
        ("chain:n=3,", "n=50"),
        ("empty:us=3", "n=900 sync=92"),
        ("chain:n=3,n=4", "twice"),
        ("chain:n=0", "1 to 10000"),
        ("chain:n=10001", "0 to 10000"),
        ("fan2:n=10000,m=10000", "1 to 10000"),
        ("fan:n=10000", "1 to 10000"),
        ("chain:us=-1", "0 to 60000000"),
        ("chain:us=60000001", "0 to 60000000"),
        ("chain:us=" + "9" * 5000, "0 to 60000000"),
        ("chain:sync=101", "0 to 100"),
        ("chain:us=", "decimal"),
        ("chain:phases=", "suspend_noirq"),
        ("chain:phases=suspend+sleep", "resume_early"),
        ("file:/nowhere", "lull tree make"),
        ("file:\0", "lull tree make"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(spec: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        make(spec)
    assert says in str(caught.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.tree"
    tree = make("fan:n=3")
    file.write_text(write(tree))
    assert make(f"file:{file}") == tree
    file.write_text("nothing")
    with pytest.raises(BadTree) as caught:
        make(f"file:{file}")
    assert caught.value.where == f"{file}:1"
