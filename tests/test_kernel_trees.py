# SPDX-License-Identifier: GPL-2.0-only
"""What compiles in the kernels' trees for tests, and when it does so again."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from lull.host.files import repo_root
from lull.kernels.bases import Base
from lull.model import Arm
from lull.proof.key import code
from tests import kernel_trees
from tests.checkout import changed, copied, edited
from tests.waiting import ended, state_of, until

STEP = """
import signal
from pathlib import Path
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.kernel_trees import run
run(["sh", "-c", "sleep 1000 & echo $! > pid; mv pid pids; wait"], Path({folder!r}))
"""


def test_who_interrupts_a_step_ends_all_that_it_started(tmp_path: Path) -> None:
    words = [sys.executable, "-c", STEP.format(folder=str(tmp_path))]
    with subprocess.Popen(words, cwd=repo_root(), stderr=subprocess.DEVNULL) as who:
        try:
            pids = tmp_path / "pids"
            until("the step has started something", pids.exists)
            until("it is waited for", lambda: state_of(who.pid) == "S")
            who.send_signal(signal.SIGINT)
            who.wait(60)
        finally:
            who.kill()
    ended(int(pids.read_text()))


ME = "tests/test_kernel_trees.py"
MADE = "lull/deb/config.py"


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that a test may change, and puts back."""
    place = tmp_path_factory.mktemp("checkout")
    return copied(place, "features", "kernel", "lull", *kernel_trees.WHATEVER, ME)


@pytest.fixture
def versions(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """Of the bases' sources, as the test wants them; the root is the copy's."""
    found = {"6.12": "6.12.1-1", "7.3": "7.3.1-1", "6.1": "6.1.1-1"}

    def fetch(base: Base, cache: object) -> SimpleNamespace:
        return SimpleNamespace(package_version=found[base.name])

    monkeypatch.setattr(kernel_trees, "fetch", fetch)
    monkeypatch.setattr(kernel_trees, "repo_root", lambda: checkout)
    yield found
    # What a test has made of the lab is not what a later stamp is remembered under.
    code.cache_clear()


def stamped(base: str = "6.12") -> dict[str, str]:
    code.cache_clear()
    return kernel_trees.kernel_parts(Arm.LULL, ME, base=base, makers=(MADE,))


#: File -> what of a stamp it changes.
FILES = {
    "features/zfree/kernel/mm/lull_zsobj.h": "files",
    "features/zfree/hooks/6.12/0002-free-by-class.patch": "files",
    "features/zfree/hooks/7.3/0007-ask-zswap-once.patch": "",
    "kernel/overlay/kernel/lull/frame.c": "files",
    "kernel/config/lull.config": "files",
    "kernel/config/debug.config": "",
    "tests/kernel_trees.py": "files",
    ME: "files",
    "lull/kernels/build.py": "maker",
    "lull/kernels/config.py": "maker",
    "lull/kernels/inputs.py": "maker",
    "lull/kernels/make.py": "maker",
    "lull/kernels/patches.py": "maker",
    "lull/kernels/workspace.py": "maker",
    "lull/host/process.py": "maker",
    MADE: "maker",
    "lull/report/table.py": "",
    "lull/cli.py": "",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_changes_the_stamps_that_depend_on_it(
    name: str, checkout: Path, versions: dict[str, str]
) -> None:
    before = stamped()
    with edited(checkout / name):
        assert changed(before, stamped()) == set(FILES[name].split())


def test_the_sources_are_the_base_s_and_those_that_checkpatch_is_of(
    versions: dict[str, str],
) -> None:
    ours, theirs = stamped(), stamped("7.3")
    versions["6.12"] = "6.12.2-1"
    assert changed(ours, stamped()) == {"source", "checkpatch"}
    assert changed(theirs, stamped("7.3")) == {"checkpatch"}
    versions["7.3"] = "7.3.2-1"
    assert changed(theirs, stamped("7.3")) == {"source", "checkpatch"}


def test_so_are_the_options_that_are_not_on_a_base(
    versions: dict[str, str], checkout: Path
) -> None:
    """They are asked for all the same, and it is no fault that they do not come."""
    before = stamped("6.1"), stamped("7.3")
    path = checkout / "features/thaw/kernel/kernel/lull/thaw/Kconfig"
    text = path.read_text()
    path.write_text(text.replace("config LULL_THAW\n", "config LULL_THAWED\n"))
    try:
        after = stamped("6.1"), stamped("7.3")
    finally:
        path.write_text(text)
    assert [changed(*of) for of in zip(before, after, strict=True)] == [{"files"}] * 2


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("_perl", lambda: "perl 9", "checkpatch"),
        ("toolchain", SimpleNamespace(compiler=lambda: "gcc 99"), "compiler"),
        ("build_identity", lambda: ["-O3"], "compiler"),
    ],
)
def test_the_programs_and_their_flags_are_in_it(
    name: str,
    value: object,
    kind: str,
    versions: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = stamped()
    monkeypatch.setattr(kernel_trees, name, value)
    assert changed(before, stamped()) == {kind}


def test_another_arm_is_another_stamp(versions: dict[str, str]) -> None:
    other = kernel_trees.kernel_parts(Arm.DEBUG, ME, makers=(MADE,))
    assert changed(stamped(), other) == {"files"}
