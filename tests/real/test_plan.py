# SPDX-License-Identifier: GPL-2.0-only
"""Scenarios of real programs: what is read of them, and what a run is going to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.ask.catalog import features as others
from lull.ask.presence import why_absent
from lull.cli import app
from lull.errors import LabError, UsageError
from lull.guest.boot import Start
from lull.kernels.bases import base_names, load_base
from lull.model import Clock
from lull.real import plan as asked
from lull.real.catalog import features, more, scenarios, select
from lull.real.plan import Request, plan, release, versions
from tests.real.rooms import NEEDS, room

LISTED = (
    "dog\t2.1-3\n"
    "libc6:amd64\t2.36\n"
    "linux-image-6.1.0-40-cloud-amd64\t6.1.153-1\n"
    "linux-image-6.12.117-lull-cloud-amd64\t6.12.117-1\n"
    "linux-image-cloud-amd64\t6.1.153-1\n"
)

FELT = """packages = []
[[felt]]
feature = "walk"
text = "a dog walks"
workload = "zombies"
metric = "total"
"""


def request_of(tmp_path: Path, **members: object) -> Request:
    made = Request(
        scenarios=(room(tmp_path),),
        base="6.12",
        clock=Clock.WALL,
        quick=False,
        seeds=(1, 2),
    )
    return dataclasses.replace(made, **members)  # type: ignore[arg-type]


def test_the_project_s_own_are_read() -> None:
    names = [one.name for one in scenarios()]
    assert "containers" in names and names == sorted(names)
    assert [one.name for one in features()] == names
    assert {"crun", "runc"} <= set(more().packages)
    for one in scenarios():
        assert one.feature.mode_names[0] == "stock" and "lull" in one.feature.mode_names
        assert one.feature.headlines and one.feature.shown
        assert "lull" not in one.guest.bare and "stock" in one.guest.bare


def test_they_are_none_of_lull_run_s() -> None:
    assert not {one.name for one in others()} & {one.name for one in scenarios()}


def test_an_unknown_name_is_a_usage_error_with_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="unknown scenario: 'contain'") as caught:
        select(["contain"])
    assert "containers" in caught.value.hint


@pytest.mark.parametrize(
    ("needs", "what"),
    [
        ("packages = ", "not TOML"),
        (f'{NEEDS}package = ["dog"]', "package: Extra"),
        (f'{NEEDS}files = ["gone"]', "gone is not there"),
        ('packages = []\nbare = ["slow"]', "bare: 'slow' is no mode"),
        (FELT.replace("total", "totals"), "felt: no zombies totals"),
        (FELT, "felt: 'walk' is not switched"),
    ],
)
def test_what_is_wrong_with_guest_toml_is_named(
    tmp_path: Path, needs: str, what: str
) -> None:
    with pytest.raises(LabError, match=what) as caught:
        room(tmp_path, needs=needs)
    assert "walk" in str(caught.value)


def test_a_boot_has_all_modes_in_mirrored_turns(tmp_path: Path) -> None:
    planned = plan(request_of(tmp_path))
    assert [item.title for item in planned] == ["walk, seed 1", "walk, seed 2"]
    for item in planned:
        for case in item.job.cases:
            assert set(case.order) == {"stock", "quick", "lull"}
            assert case.order[:6] == case.order[:6][::-1]


def test_on_insn_a_boot_has_each_mode_once(tmp_path: Path) -> None:
    planned = plan(request_of(tmp_path, clock=Clock.INSN, seeds=tuple(range(1, 7))))
    orders = {case.order for item in planned for case in item.job.cases}
    assert {tuple(sorted(order)) for order in orders} == {("lull", "quick", "stock")}
    assert len(orders) > 1


def test_without_lull_there_are_its_bare_modes(tmp_path: Path) -> None:
    planned = plan(request_of(tmp_path / "bare", bare=True))
    orders = [case.order for item in planned for case in item.job.cases]
    assert {mode for order in orders for mode in order} == {"stock", "quick"}


def test_a_mode_that_needs_lull_is_refused_without_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mode 'lull' of walk needs a kernel") as bad:
        plan(request_of(tmp_path, bare=True, modes=("lull",)))
    assert "stock, quick" in bad.value.hint


def test_the_kernel_with_lull_is_the_one_that_is_said() -> None:
    assert release(LISTED) == "6.12.117-lull-cloud-amd64"
    without = "".join(x for x in LISTED.splitlines(True) if "lull" not in x)
    assert release(without) == "6.1.0-40-cloud-amd64"
    with pytest.raises(LabError, match="no kernel"):
        release("dog\t1\n")


def test_versions_are_of_the_scenario_s_programs(tmp_path: Path) -> None:
    one = room(tmp_path)
    assert versions(LISTED, one) == "dog 2.1-3\n"
    with pytest.raises(LabError, match="image is another one: it has no dog"):
        versions("cat\t1\n", one)


def lull(*words: str) -> str:
    done = CliRunner().invoke(app, ["guest", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def test_dry_run_says_the_boots_and_the_job() -> None:
    text = lull("measure", "containers", "--seeds", "2", "--dry-run")
    assert "# boot 2 of 2: containers, seed 2, wall clock, with this job:" in text
    assert "#   param runtime runc" in text and "qemu-system" in text
    quick = lull("measure", "containers", "--quick", "--debian", "--dry-run")
    assert "runc" not in quick and "threadgroup" not in quick
    assert "favordynmods" in quick


def test_wrong_words_are_refused_before_anything_is_built() -> None:
    for words, what in (
        (["nothing"], "unknown scenario"),
        (["containers", "--mode", "fast"], "unknown mode"),
        (["containers", "--workload", "walk"], "unknown workload"),
        (["containers", "--clock", "sundial"], "unknown clock"),
        (["containers", "--debian", "--mode", "lull"], "needs a kernel with Lull"),
        (["containers", "--debian", "--packages", "x"], "takes no --packages"),
        (["containers", "--debian", "--clock", "insn"], "does not come up on insn"),
    ):
        with pytest.raises(UsageError, match=what):
            lull("measure", *words)


def test_scenarios_are_listed() -> None:
    text = lull("scenarios")
    assert "containers: " in text and "mode lull (with Lull)" in text
    assert "packages: crun, runc" in text
    for base in map(load_base, base_names()):
        absent = [why for one in scenarios() if (why := why_absent(one.feature, base))]
        assert text.count(f"  not on {base.name}: ") == len(absent)
        assert all(f"  not on {base.name}: {why}\n" in text for why in absent)


@pytest.mark.parametrize("name", base_names())
def test_of_one_base_they_are_listed_as_there(name: str) -> None:
    text, base = lull("scenarios", "--base", name), load_base(name)
    titles = [f"{one.name}: {one.feature.title}" for one in scenarios()]
    why = [why_absent(one.feature, base) for one in scenarios()]
    for title, said in zip(titles, why, strict=True):
        assert title in text
        assert not said or f"{title}\n  not on {name}: {said}\n" in text
    assert text.count("  packages: ") == why.count("")


def test_a_boot_has_the_scenario_s_memory_the_clock_and_the_seed(
    tmp_path: Path,
) -> None:
    one = room(tmp_path, needs=f"{NEEDS}memory_mb = 1536")
    image = Start(tmp_path / "kernel", tmp_path / "initrd", tmp_path / "disk")
    start = asked.start_of(one, image, Clock.INSN, 7)
    assert (start.memory_mb, start.clock, start.seed) == (
        1536,
        Clock.INSN,
        asked.YEARS + 7,
    )
    assert (start.kernel, start.disk) == (image.kernel, image.disk)


def test_the_command_repeats_the_run(tmp_path: Path) -> None:
    words = asked.repeat_command(
        request_of(tmp_path, modes=("stock", "lull"), seeds=(3, 4))
    )
    assert " ".join(words) == (
        "lull guest measure walk --base 6.12 --clock wall --seed 3 --seeds 2"
        " --mode stock --mode lull"
    )
    # A Debian's own kernel is of no base, and --base is refused beside it.
    words = asked.repeat_command(request_of(tmp_path / "bare", bare=True))
    assert "--base" not in words
    assert words[-1] == "--debian"
