# SPDX-License-Identifier: GPL-2.0-only
"""What a test of the lab itself is remembered under is all that it depends on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.proof import key
from lull.proof.key import imports, lab_parts
from tests.checkout import changed, copied, edited, opened
from tests.graph import test_memory, traces

ROOT = repo_root()
OFTEN = "tests/graph/test_suspect_often.py"
MEMORY = test_memory.START


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that a test may change, and puts back."""
    return copied(tmp_path_factory.mktemp("checkout"), "lull", "tests")


def both(root: Path) -> tuple[dict[str, str], ...]:
    key.code.cache_clear()
    return lab_parts(root, OFTEN), lab_parts(root, *MEMORY)


#: File -> whether the one's parts change with it, and the other's.
FILES = {
    OFTEN: (True, False),
    "tests/graph/missing.py": (True, False),
    "tests/graph/traces.py": (True, True),
    "lull/graph/suspect.py": (True, True),
    "lull/graph/perfetto.py": (False, True),
    "lull/trees/schedule.py": (True, True),
    "lull/proof/stamps.py": (True, True),
    "lull/cli.py": (False, True),
    "lull/graph/classes.toml": (False, False),
    "tests/graph/test_path.py": (False, False),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_changes_the_parts_of_who_imports_it(name: str, checkout: Path) -> None:
    before = both(checkout)
    with edited(checkout / name):
        after = both(checkout)
    key.code.cache_clear()
    for old, new, expected in zip(before, after, FILES[name], strict=True):
        assert changed(old, new) == ({"modules"} if expected else set())


OTHERS: list[tuple[object, str, object]] = [
    (sys, "version", "3.99"),
    (key.platform, "machine", lambda: "vax"),
    (key.platform, "release", lambda: "9.9"),
    (key.os, "cpu_count", lambda: 99),
    (key.platform, "libc_ver", lambda: ("glibc", "9")),
    (key.zlib, "ZLIB_RUNTIME_VERSION", "9"),
    (key, "distributions", lambda: list(metadata.distributions())[1:]),
]


@pytest.mark.parametrize(("where", "name", "value"), OTHERS, ids=lambda v: str(v)[:20])
def test_python_and_what_is_installed_is_in_it(
    where: object, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key.python.__wrapped__()
    monkeypatch.setattr(where, name, value)
    assert key.python.__wrapped__() != before


@pytest.mark.parametrize("name", ["PYTHONMALLOC", "MALLOC_ARENA_MAX", "LD_PRELOAD"])
def test_so_is_what_it_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key.python.__wrapped__()
    monkeypatch.setenv(name, "1")
    assert key.python.__wrapped__() != before


FIND = """
from lull.graph.reduced import Symptom
from tests.graph.test_suspect_often import alike, ranks
ranks(Symptom.SLOW, 1, 3), alike(Symptom.HUNG, 1, 3)
"""
COMMAND = """
from lull.cli import main
sys.argv[0] = "lull"
try:
    main()
except SystemExit as exit:
    assert not exit.code, exit.code
"""


def made(folder: Path) -> list[list[str | Path]]:
    """What the tests of the memory start, of little recordings."""
    off, on = folder / "off", folder / "on"
    off.write_bytes(test_memory.large(9, 0, False))
    on.write_bytes(test_memory.large(9, 3, True))
    long = folder / "long"
    long.write_bytes(test_memory.packed(traces.text(traces.cycle()), 1 << 12))
    return [
        ["graph", long],
        ["graph", off, "--perfetto", folder / "out"],
        ["graph", off, on, on, "--suspect"],
    ]


#: Text that is run -> what it is told, by a folder, and whose files it may read.
RUNS: dict[str, tuple[str, Callable[[Path], list[list[str | Path]]], tuple[str, ...]]]
RUNS = {
    "often": (FIND, lambda folder: [[]], (OFTEN,)),
    "memory": (COMMAND, made, MEMORY),
}


@pytest.mark.seconds(10)
@pytest.mark.parametrize("which", RUNS)
def test_no_file_of_ours_is_read_that_is_not_in_it(which: str, tmp_path: Path) -> None:
    text, told, start = RUNS[which]
    known = {str(path.relative_to(ROOT)) for path in imports(ROOT, *start)}
    for words in told(tmp_path):
        ours = opened(text, *words)
        assert "lull/graph/ftrace.py" in ours
        assert ours <= known
