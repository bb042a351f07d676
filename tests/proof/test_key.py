# SPDX-License-Identifier: GPL-2.0-only
"""A verdict is forgotten when anything changes that it depends on."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from math import inf
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.kernels.inputs import feature_dirs, gather, is_on
from lull.model import Arm
from lull.proof import key as key_module
from lull.proof.key import JUDGE, imports, kernel_files, kernel_of, key_of, parts_of
from lull.proof.trial import Size, Trial, trials
from lull.runs import boot as boot_module
from lull.vm import accel as accel_module
from lull.vm.probe_build import probe_recipe
from tests.checkout import changed, copied, edited, opened
from tests.runs.test_figures import asked

ROOT = repo_root()
ROOMS = ("features", "scenarios", "kernel", "probe", "lull")


def trial(id: str) -> Trial:
    (found,) = (t for t in trials() if t.id == id)
    return found


FREEZE = trial("freeze: FZ1")
THAW = trial("thaw: timeouts")
DEVICES = trial("devices: PM1")


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that a test may change, and puts back."""
    return copied(tmp_path_factory.mktemp("checkout"), *ROOMS)


@pytest.fixture(autouse=True)
def a_source(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(key_module, "_source", lambda base: f"{base}.1-1")
    yield
    # What a test has made of the tools is not what a later trial is remembered under.
    _forget()


def _forget() -> None:
    key_module.tools.cache_clear()
    key_module.judging.cache_clear()


def parts(which: Trial, root: Path = ROOT, size: Size = Size.TEST) -> dict[str, str]:
    _forget()
    return parts_of(which, size, "6.12", root)


#: File -> what of FREEZE's key, and of THAW's, it changes.
FILES = {
    "features/freeze/kernel/kernel/lull/freeze/walk.c": ("kernel", "kernel"),
    "features/freeze/hooks/6.12/0003-see-tasks-die.patch": ("kernel", "kernel"),
    # Of others what is there in mode stock: hooks, what these include, what watches.
    "features/thaw/hooks/6.12/0006-rest-in-pipes.patch": ("kernel", "kernel"),
    "features/zfree/hooks/6.12/0002-free-by-class.patch": ("kernel", "kernel"),
    "features/attach/kernel/include/linux/lull_attach.h": ("kernel", "kernel"),
    "features/attach/kernel/kernel/cgroup/lull_attach.h": ("kernel", "kernel"),
    "features/zfree/kernel/mm/lull_zsobj.h": ("kernel", "kernel"),
    "features/zfree/kernel/drivers/block/zram/lull_zram.h": ("kernel", "kernel"),
    "features/devices/kernel/drivers/base/power/lull_wait.h": ("kernel", "kernel"),
    "features/devices/kernel/kernel/lull/devices/internal.h": ("kernel", "kernel"),
    "features/attach/kernel/kernel/lull/attach/debug.c": ("kernel", "kernel"),
    "features/attach/kernel/kernel/lull/attach/Kconfig": ("kernel", "kernel"),
    "features/attach/kernel/kernel/lull/attach/lock.c": ("", ""),
    "features/thaw/kernel/kernel/lull/thaw/thaw.c": ("", "kernel"),
    "features/devices/kernel/kernel/lull/devices/tree.c": ("", ""),
    "kernel/overlay/kernel/lull/frame.c": ("kernel", "kernel"),
    "kernel/config/base.config": ("kernel", "kernel"),
    "kernel/config/lull.config": ("kernel", "kernel"),
    "kernel/config/debug.config": ("kernel", "kernel"),
    "kernel/config/kcsan.config": ("", ""),
    "probe/util.c": ("probe", "probe"),
    "probe/util.h": ("probe", "probe"),
    "features/freeze/race.c": ("probe", ""),
    "features/thaw/storm.h": ("", "probe"),
    "features/attach/groups.c": ("", ""),
    "lull/vm/console.py": ("judge", "judge"),
    "lull/proof/faults.py": ("judge", "judge"),
    "lull/kernels/make.py": ("judge", "judge"),
    "lull/vm/standby.c": ("standby", "standby"),
    "lull/runs/standby.py": ("judge", "judge"),
    "lull/report/table.py": ("", ""),
    "lull/cli.py": ("", ""),
    "features/freeze/README.md": ("", ""),
    "features/freeze/feature.toml": ("", ""),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_changes_the_keys_that_depend_on_it(checkout: Path, name: str) -> None:
    before = parts(FREEZE, checkout), parts(THAW, checkout)
    with edited(checkout / name):
        after = parts(FREEZE, checkout), parts(THAW, checkout)
    for old, new, kinds in zip(before, after, FILES[name], strict=True):
        assert changed(old, new) == set(kinds.split())


def kernels(root: Path) -> dict[str, str]:
    """The kernel's part of each feature's trials."""
    return {
        one.feature: kernel_of(root, "6.12", one.arm, (one.feature, *one.needs))
        for one in (FREEZE, THAW, DEVICES)
    }


#: Of a feature's own C -> whose keys a function changes: its own feature's, of course,
#: and those of all others where it runs in the mode stock.
FUNCTIONS = {
    "thaw/thaw.c lull_thaw_wake": "freeze thaw devices",
    "thaw/thaw.c lull_thaw_walk": "freeze thaw devices",
    "thaw/thaw.c __lull_thaw_may_thaw": "thaw",
    "thaw/thaw.c thaw_switch_mode": "thaw",
    "freeze/freeze.c lull_freeze_wait": "freeze thaw devices",
    "freeze/freeze.c end_session": "freeze thaw devices",
    "freeze/walk.c freeze_release": "freeze thaw devices",
    "freeze/walk.c freeze_user_pass": "freeze thaw",
    "freeze/freeze.c __lull_freeze_dead": "freeze thaw",
    "freeze/arrive.c freeze_wait_for_arrivals": "freeze thaw",
    "attach/attach.c lull_attach_global": "freeze thaw devices",
    "attach/attach.c attach_switch_mode": "",
    "attach/lock.c lull_attach_holders_hold": "",
    "attach/lock.c __lull_attach_child_hold": "",
    "zfree/zfree.c zfree_make_wq": "freeze thaw devices",
    "zfree/zfree.c lull_zfree_pause": "freeze thaw devices",
    "zfree/zfree.c zfree_switch_mode": "",
    "devices/devices.c devices_switch_mode": "devices",
    "devices/tree.c tree_files": "devices",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_changes_the_keys_of_those_in_whose_kernel_it_runs(
    checkout: Path, name: str
) -> None:
    file, function = name.split()
    path = checkout / f"features/{file.partition('/')[0]}/kernel/kernel/lull/{file}"
    before = kernels(checkout)
    text = path.read_text()
    body = re.compile(rf"^[a-z][^;(\n]*\b{function}\([^;{{]*\{{\n", re.MULTILINE)
    path.write_text(body.sub(r"\g<0>\tbarrier();\n", text))
    try:
        assert path.read_text() != text
        assert changed(before, kernels(checkout)) == set(FUNCTIONS[name].split())
    finally:
        path.write_text(text)


def test_a_switch_that_is_on_from_the_start_changes_all_keys(checkout: Path) -> None:
    before = kernels(checkout)
    path = checkout / "features/attach/kernel/kernel/lull/attach/attach.c"
    text = path.read_text()
    path.write_text(
        text.replace("KEY_FALSE(lull_attach_sem", "KEY_TRUE(lull_attach_sem")
    )
    try:
        assert changed(before, kernels(checkout)) == {"freeze", "thaw", "devices"}
    finally:
        path.write_text(text)


def test_a_new_file_of_the_feature_changes_its_key(checkout: Path) -> None:
    before = parts(FREEZE, checkout)
    new = checkout / "features/freeze/kernel/kernel/lull/freeze/more.h"
    new.write_text("")
    try:
        assert changed(before, parts(FREEZE, checkout)) == {"kernel"}
    finally:
        new.unlink()


@pytest.mark.parametrize(
    ("update", "kinds"),
    [
        ({"checks": {"FZ1": 4}}, {"wanted"}),
        ({"fails": {"FZ1": 1}}, {"wanted"}),
        ({"known": ("x",)}, {"wanted"}),
        ({"arm": Arm.KCSAN, "about": "x"}, {"kernel", "machine", "wanted"}),
        ({"cases": FREEZE.cases[:1]}, {"job"}),
        ({"text": "in other words", "seconds": 99}, set()),
    ],
)
def test_what_a_trial_says_is_in_its_key(
    update: dict[str, object], kinds: set[str]
) -> None:
    other = FREEZE.model_copy(update=update)
    assert changed(parts(FREEZE), parts(other)) == kinds


def test_the_size_is_in_the_job() -> None:
    storm = trial("freeze: FZ5")
    assert changed(parts(storm), parts(storm, size=Size.PROOF)) == {"job"}
    assert not changed(parts(FREEZE), parts(FREEZE, size=Size.PROOF))


def test_who_boots_is_another_than_who_is_resumed() -> None:
    booted = parts_of(FREEZE, Size.TEST, "6.12", ROOT, boot_each=True)
    assert changed(parts(FREEZE), booted) == {"machine", "standby"}


def test_a_description_of_devices_is_in_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = parts(FREEZE)
    monkeypatch.setattr(key_module, "guest_files", lambda job: {"trees/x": b"tree"})
    assert changed(before, parts(FREEZE)) == {"job"}


@pytest.mark.parametrize(
    ("where", "name", "value", "kind"),
    [
        (key_module.toolchain, "compiler", lambda: "gcc 99", "compiler"),
        (key_module, "build_identity", lambda: ["-O3"], "compiler"),
        (accel_module, "qemu_version", lambda: "QEMU 99", "qemu"),
        (key_module, "_source", lambda base: "6.12.99-1", "source"),
        (boot_module, "_WORDS", {Arm.DEBUG: ("more",)}, "machine"),
        (boot_module, "MEMORY_MB", 4096, "machine"),
        (key_module, "device_obstacle", lambda path: "is away", "machine"),
    ],
)
def test_the_tools_and_the_machine_are_in_it(
    where: object,
    name: str,
    value: object,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = parts(FREEZE)
    monkeypatch.setattr(where, name, value)
    assert changed(before, parts(FREEZE)) == {kind}


def test_another_word_anywhere_is_another_key() -> None:
    before = parts(FREEZE)
    keys = {key_of(before)} | {key_of({**before, kind: "x"}) for kind in before}
    assert len(keys) == len(before) + 1


def test_the_compiler_reads_no_file_of_ours_that_is_not_in_the_recipe() -> None:
    for feature in ("freeze", "thaw", "attach", "zfree", "devices"):
        recipe = probe_recipe(ROOT, (feature,))
        words = ["gcc", "-MM", "-D_GNU_SOURCE", "-Iprobe", "-I."]
        done = subprocess.run(
            [*words, *recipe.sources], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        read = {
            str((ROOT / word).resolve().relative_to(ROOT))
            for line in done.stdout.replace("\\\n", " ").splitlines()
            for word in line.partition(":")[2].split()
        }
        assert read <= {*recipe.sources, *recipe.headers}


TRACED = """
import sys
from pathlib import Path
from lull.kernels.build import build
from lull.proof.attempt import attempt
from lull.proof.trial import Size, trials
from lull.host.process import run_alone
(trial,) = (t for t in trials() if t.id == sys.argv[1])
kernel = build(sys.argv[3], trial.arm)
done = run_alone(attempt(trial, Size.TEST, 1, kernel, Path(sys.argv[2])))
assert done.result == "pass", done.how
"""

#: Files that are read and are not in the key.
BESIDE: dict[str, Callable[[str], bool]] = {
    "other features' own C: what runs in the mode stock is in the key": lambda name: (
        re.fullmatch(r"features/\w+/kernel/kernel/lull/\w+/\w+\.c", name) is not None
    ),
    "which package the sources are of: its version is in the key": lambda name: (
        name.startswith("kernel/bases/")
    ),
    "what is in the key as the trial's own words": lambda name: name.endswith(
        "/safety.toml"
    ),
}


@pytest.mark.vm
@pytest.mark.seconds(25)
def test_a_boot_reads_no_file_of_ours_that_is_not_in_its_key(
    base: str, tmp_path: Path
) -> None:
    """All that the lab opens while it makes a verdict, from its start on."""
    ours = opened(TRACED, "freeze: names", tmp_path, base)
    assert "lull/proof/attempt.py" in ours
    # Read for the names of options, which are in no configuration of this base.
    ours -= {
        str(path.relative_to(ROOT))
        for room in feature_dirs(ROOT)
        if not is_on(room, base)
        for path in (room / "kernel").rglob("Kconfig")
    }
    one = trial("freeze: names")
    recipe = probe_recipe(ROOT, (one.feature,))
    known = {*recipe.sources, *recipe.headers, "lull/vm/tsc.c"}
    for path in (
        *kernel_files(ROOT, gather(ROOT, base, one.arm), (one.feature,)),
        *imports(ROOT, *JUDGE),
    ):
        known.add(str(path.relative_to(ROOT)))
    left = {n for n in ours - known if not any(ok(n) for ok in BESIDE.values())}
    assert not left


def test_what_is_promised_on_a_base_is_asked_for_there_alone() -> None:
    of_7_3 = ROOT / "features/attach/bases/7.3.toml"
    assert of_7_3 in asked(["attach"], "7.3")
    assert of_7_3 not in asked(["attach"], "6.12") + asked(["freeze"], "7.3")
    assert ROOT / "features/attach/feature.toml" in asked(["attach"], "6.12")


def test_what_was_written_since_it_began_is_of_what_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_module, "began", lambda: 0)
    found = key_module.rewritten(ROOT, *JUDGE)
    assert {"lull/proof/faults.py", "lull/vm/console.py"} <= set(found)
    assert not {"lull/cli.py", "tests/proof/test_plugin.py"} & set(found)
    monkeypatch.setattr(key_module, "began", lambda: inf)
    assert key_module.rewritten(ROOT, *JUDGE) == []
