# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests as stressors: which there are, and what became of them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from lull.errors import LabError
from lull.host.progress import open_progress
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.source import Source, fetch
from lull.kernels.update import silent
from lull.real import selftests
from lull.real.selftests import (
    ROOM,
    Area,
    Built,
    Test,
    all_of,
    build_tests,
    left_out,
    named,
    shown,
    table_of,
    worse_tests,
)
from lull.real.stress import load
from lull.real.tried import Mode, Try
from lull.vm.compile import Recipe

WAIT, TIMED = Test("futex", "wait"), Test("futex", "wait -t 5")
FUTEX = Area(
    room="futex/functional",
    commands=("wait", "wait -t 5", "waits"),
    sources=("futex/old.c", "futex/new.c"),
    files=("lib.sh", "run.sh"),
    left_out={"huge": "needs huge pages"},
)
AREAS = {"futex": FUTEX}
GOOD, BAD = "ok 1 a\nok 2 b # SKIP no c\n", "not ok 1 a\nok 2 b # SKIP no c\n"


def ran(one: Test, text: str = GOOD, status: int = 0, suspends: int = 1) -> Try:
    return Try(one.name, status, suspends, text)


def test_a_name_means_a_test_a_program_an_area_or_all() -> None:
    tests = all_of(AREAS)
    assert [one.command for one in tests] == list(FUTEX.commands)
    assert (TIMED.name, TIMED.program) == (
        "selftests/futex/wait -t 5",
        "selftests/futex/wait",
    )
    assert named("selftests", tests) == named("futex", tests) == tests
    assert named("selftests/futex", tests) == tests
    assert named("futex/wait", tests) == (WAIT, TIMED)
    assert named("selftests/futex/wait -t 5", tests) == (TIMED,)
    for name in ("fut", "wait", "futex/wai", "selftests/", ""):
        assert named(name, tests) == ()
    assert left_out(AREAS, tests) == {"selftests/futex/huge": "needs huge pages"}
    assert left_out(AREAS, tests[1:]) == {}


def test_those_of_the_project_are_told_apart() -> None:
    found = load().selftests
    assert {"breakpoints", "cgroup", "futex", "mm", "net", "zram"} <= set(found)
    names = [one.name for one in all_of(found)]
    assert len(set(names)) == len(names)
    for area in found.values():
        assert not {c.split()[0] for c in area.commands} & set(area.left_out)


@pytest.mark.vm
def test_each_program_of_a_room_is_tried_or_is_said_why_not() -> None:
    tree = fetch(load_base("6.12"), Cache(), silent).tree
    for area in load().selftests.values():
        here = (tree / ROOM / area.room).iterdir()
        starts = re.compile(r"^(int )?main\(|TEST_HARNESS_MAIN", re.MULTILINE)
        programs = {
            path.stem if path.suffix == ".c" else path.name
            for path in here
            if path.suffix in {".sh", ".py"}
            or (path.suffix == ".c" and starts.search(path.read_text("utf-8")))
        }
        tried = {command.split()[0] for command in area.commands} | set(area.files)
        left = programs - tried
        for known in area.left_out:
            assert fnmatch.filter(left, known), known
        left -= {name for k in area.left_out for name in fnmatch.filter(left, k)}
        assert not left, area.room


def source(tree: Path) -> Source:
    return Source(base="6.12", package_version="6.12.9-1", version="6.12.9", tree=tree)


def built(
    monkeypatch: pytest.MonkeyPatch, tree: Path, words: Mapping[str, str]
) -> Built:
    """With a compiler that says these words of what it does not take."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tree / "cache"))

    def compiler(root: Path, recipe: Recipe) -> Path:
        assert recipe.sources == (
            f"{ROOM}/futex/functional/{recipe.name}.c",
            f"{ROOM}/futex/new.c",
        )
        assert recipe.room == "selftests/6.12.9-1"
        if recipe.name in words:
            raise LabError(words[recipe.name])
        return root / recipe.sources[0]

    monkeypatch.setattr(selftests, "compiled", compiler)
    room = tree / ROOM / "futex/functional"
    room.mkdir(parents=True)
    (room / "wait.c").write_text("wait")
    (room / "../new.c").write_text("new")
    (room / "lib.sh").write_text("lib")
    tests = (*all_of(AREAS), Test("futex", "run.sh"))
    with open_progress() as progress:
        return build_tests(AREAS, tests, source(tree), progress.update)


def test_what_is_not_made_is_named_and_the_rest_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"waits": "it does not compile:\nin a.c\na.c:1: error: no b\nc"}
    made = built(monkeypatch, tmp_path, words)
    assert made.files == {
        "selftests/futex/lib.sh": b"lib",
        "selftests/futex/wait": b"wait",
    }
    assert made.failed == {
        "selftests/futex/run.sh": "this kernel's sources lack it",
        "selftests/futex/waits": "does not compile: a.c:1: error: no b",
    }
    paths = [entry.path for entry in made.entries()]
    assert paths == ["selftests", "selftests/futex", *made.files]
    assert Built({}, {}).entries() == []


def test_sources_that_another_kernel_lacks_are_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compiler(root: Path, recipe: Recipe) -> Path:
        return Path((root / recipe.sources[0]).read_text())

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(selftests, "compiled", compiler)
    with open_progress() as progress:
        made = build_tests(AREAS, [WAIT], source(tmp_path), progress.update)
    assert made == Built({}, {"selftests/futex/wait": "this kernel's sources lack it"})


def test_what_passes_on_stock_has_to_pass() -> None:
    stock = Mode("stock", (ran(WAIT),))
    for runs in ([ran(WAIT)], [ran(WAIT, BAD, 1), ran(WAIT)]):
        assert worse_tests([stock, Mode("lull", tuple(runs))], [WAIT]) == []
    assert worse_tests([stock, Mode("lull", (ran(WAIT, BAD, 1),))], [WAIT]) == [
        "lull: selftests/futex/wait: a: failed, but passed in stock",
        "lull: selftests/futex/wait: (exit status): failed, but passed in stock",
    ]
    killed = Mode("lull", (ran(WAIT, "ok 1 a\n", 137),))
    assert worse_tests([stock, killed], [WAIT]) == [
        "lull: selftests/futex/wait: b: missing, but skipped in stock",
        "lull: selftests/futex/wait: (exit status): failed, but passed in stock",
    ]
    failed = Mode("stock", (ran(WAIT, BAD, 1),))
    assert worse_tests([failed, Mode("lull", (ran(WAIT, BAD, 1),))], [WAIT]) == []


def test_a_mode_that_has_not_come_so_far_is_told_by_its_error() -> None:
    stock = Mode("stock", (ran(WAIT), ran(TIMED)))
    died = Mode("lull", (ran(WAIT),), LabError("a bug"))
    assert worse_tests([stock, died], [WAIT, TIMED]) == []
    assert len(worse_tests([stock, Mode("lull", (ran(WAIT),))], [WAIT, TIMED])) == 3


def test_a_machine_that_never_slept_shows_nothing() -> None:
    awake = Mode("lull", (ran(WAIT, suspends=0),))
    assert worse_tests([Mode("stock", (ran(WAIT),)), awake], [WAIT]) == [
        "lull: selftests: the machine never suspended"
    ]


def test_the_table_counts_what_shows_something_and_names_the_rest_once() -> None:
    script, none = Test("zram", "zram02.sh"), Test("net", "tls")
    tests = [WAIT, TIMED, script, none]
    stock = Mode(
        "stock",
        (
            ran(WAIT),
            ran(TIMED, "1..0 # SKIP no futex\n", 4),
            ran(script, "zram02 : [PASS]\n"),
        ),
    )
    other = "not ok 1 a: 110\nok 2 b # SKIP no c\n"
    lull = Mode("lull", (ran(WAIT, other, 1), ran(WAIT, suspends=3), ran(TIMED)))
    assert shown([stock, lull], tests) == (WAIT, script)
    told = table_of([stock, lull], tests, {"selftests/mm/huge": "needs huge pages"})
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert lines == [
        "passed/failed/skipped stock lull",
        "selftests/futex/wait 1/0/1 1/0/1, 1 of 2 bad",
        "selftests/zram/zram02.sh 1/0/0 -",
        "suspends meanwhile 3 5",
        "shows nothing: selftests/futex/wait -t 5: skipped in stock: "
        "1..0 # SKIP no futex",
        "shows nothing: selftests/net/tls: not run in stock",
        "not run: selftests/mm/huge: needs huge pages",
    ]
