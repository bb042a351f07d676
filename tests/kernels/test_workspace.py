# SPDX-License-Identifier: GPL-2.0-only
"""Trees and keys: what goes in, and what must never be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lull.errors import LabError
from lull.kernels.cache import Cache
from lull.kernels.inputs import feature_dirs, gather
from lull.kernels.record import make_key
from lull.kernels.workspace import KCONFIG_FEATURES, Workspace, plan_changes, reader
from lull.model import Arm

HOOK = "--- a/kernel/freezer.c\n+++ b/kernel/freezer.c\n@@ -1 +1,2 @@\n one\n+two\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one feature."""
    root = tmp_path / "project"
    put(root / "kernel/config/base.config", "CONFIG_A=y\n")
    put(root / "kernel/config/lull.config", "CONFIG_LULL=y\n")
    put(root / "kernel/config/compare.config", "CONFIG_C=y\n")
    put(root / "kernel/config/debug.config", "CONFIG_D=y\n")
    put(root / "kernel/overlay/kernel/lull/Kconfig", "menu\n")
    put(root / "features/freeze/feature.toml", "")
    put(root / "features/freeze/kernel/kernel/lull/freeze/Kconfig", "config\n")
    put(root / "features/freeze/kernel/kernel/lull/freeze/a.c~", "editor's\n")
    put(root / "features/freeze/hooks/6.12/0001-x.patch", HOOK)
    return root


@pytest.fixture
def pristine(tmp_path: Path) -> Path:
    tree = tmp_path / "pristine"
    put(tree / "kernel/freezer.c", "one\n")
    put(tree / "kernel/fork.c", "fork\n")
    put(tree / "scripts/run.sh", "#!/bin/sh\n").chmod(0o755)
    return tree


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    cache = Cache(tmp_path / "cache")
    cache.prepare()
    return cache


def snapshot(tree: Path) -> dict[str, bytes]:
    files = (path for path in tree.rglob("*") if path.is_file())
    return {str(path.relative_to(tree)): path.read_bytes() for path in files}


def key(root: Path, arm: Arm) -> str:
    files = gather(root, "6.12", arm).files()
    data = {name: path.read_bytes() for name, path in files.items()}
    return make_key("1", data, "gcc", ["-O2"])


def test_stock_takes_fragments_only(root: Path) -> None:
    inputs = gather(root, "6.12", Arm.STOCK)
    assert [path.name for path in inputs.fragments] == ["base.config"]
    assert not inputs.overlay and not inputs.hooks


def test_order_of_hooks_and_fragments(root: Path) -> None:
    put(root / "kernel/hooks/6.12/0009-core.patch", HOOK)
    put(root / "features/attach/feature.toml", "")
    put(root / "features/attach/hooks/6.12/0001-y.patch", HOOK)
    put(root / "features/freeze/hooks/6.12/0000-first.patch", HOOK)
    put(root / "features/freeze/hooks/6.1/0001-other.patch", HOOK)
    put(root / "features/freeze/config", "CONFIG_F=y\n")
    put(root / "kernel/config/faults.config", "CONFIG_E=y\n")
    inputs = gather(root, "6.12", Arm.DEBUG)
    names = ["0009-core", "0001-y", "0000-first", "0001-x"]
    assert [path.stem for path in inputs.hooks] == names
    fragments = ["base.config", "lull.config", "config", "compare.config"]
    fragments += ["faults.config", "debug.config"]
    assert [path.name for path in inputs.fragments] == fragments
    lull = gather(root, "6.12", Arm.LULL).fragments
    assert [path.name for path in lull] == fragments[:4]


def test_a_feature_without_hooks_for_a_base_is_not_in_its_kernels(root: Path) -> None:
    put(root / "kernel/hooks/6.1/0001-core.patch", HOOK)
    put(root / "features/nap/feature.toml", "")
    put(root / "features/nap/kernel/kernel/lull/nap/Kconfig", "config LULL_NAP\n")
    put(root / "features/nap/kernel/include/linux/lull_nap.h", "nap\n")
    put(root / "features/nap/config", "CONFIG_N=y\n")
    put(root / "features/nap/hooks/6.1/0001-x.patch", HOOK)
    inputs = gather(root, "6.12", Arm.LULL)
    assert inputs.features == ("freeze",)
    assert not any("nap" in path for path in inputs.overlay)
    assert inputs.absent == {"CONFIG_LULL_NAP"}
    names = [path.name for path in inputs.fragments]
    assert names == ["base.config", "lull.config", "compare.config"]
    inputs = gather(root, "6.1", Arm.LULL)
    assert inputs.features == ("nap",)
    assert "include/linux/lull_nap.h" in inputs.overlay
    assert [path.stem for path in inputs.hooks] == ["0001-core", "0001-x"]
    assert "config" in [path.name for path in inputs.fragments]


def test_what_differs_on_a_base_is_said_last_of_every_arm(root: Path) -> None:
    for name in ("faults", "kcsan"):
        put(root / f"kernel/config/{name}.config", "CONFIG_X=y\n")
    put(root / "kernel/bases/6.12.config", "CONFIG_Y=y\n")
    for arm in Arm:
        *before, last = gather(root, "6.12", arm).fragments
        assert before
        assert last.name == "6.12.config"
        assert last not in gather(root, "6.1", arm).fragments


def test_kcsan_is_built_without_what_is_only_compared_with(root: Path) -> None:
    put(root / "kernel/config/kcsan.config", "CONFIG_K=y\n")
    names = [path.name for path in gather(root, "6.12", Arm.KCSAN).fragments]
    assert names == ["base.config", "lull.config", "kcsan.config"]


def test_what_python_and_git_leave_among_the_features_is_none(root: Path) -> None:
    put(root / "features/__pycache__/conftest.pyc", "")
    put(root / "features/gone/tests/__pycache__/test_gone.pyc", "")
    assert [room.name for room in feature_dirs(root)] == ["freeze"]


def test_two_overlays_with_one_file(root: Path) -> None:
    put(root / "features/freeze/kernel/kernel/lull/Kconfig", "again\n")
    with pytest.raises(LabError, match="kernel/lull/Kconfig is also in"):
        gather(root, "6.12", Arm.LULL)


def test_changes(root: Path, pristine: Path) -> None:
    inputs = gather(root, "6.12", Arm.LULL)
    changes = plan_changes(inputs, reader(pristine))
    assert changes["kernel/freezer.c"].data == b"one\ntwo\n"
    features = changes[KCONFIG_FEATURES].data
    assert features is not None
    assert features.endswith(b'\nsource "kernel/lull/freeze/Kconfig"\n')
    assert "kernel/lull/freeze/a.c~" not in changes


def test_overlay_must_not_replace(root: Path, pristine: Path) -> None:
    put(root / "kernel/overlay/kernel/fork.c", "mine\n")
    with pytest.raises(LabError, match=r"fork\.c is in the kernel"):
        plan_changes(gather(root, "6.12", Arm.LULL), reader(pristine))


def test_pristine_is_never_written(root: Path, pristine: Path, cache: Cache) -> None:
    before = snapshot(pristine)
    inputs = gather(root, "6.12", Arm.LULL)
    changes = plan_changes(inputs, reader(pristine))
    tree = Workspace(cache, cache.work / "t")
    assert tree.open(pristine, "1", changes)
    assert snapshot(pristine) == before
    assert (tree.source / "kernel/freezer.c").read_text() == "one\ntwo\n"
    # What did not change is the same file, not a copy of 1.7 GB.
    assert os.path.samefile(tree.source / "kernel/fork.c", pristine / "kernel/fork.c")


def test_a_kept_tree_goes_back(root: Path, pristine: Path, cache: Cache) -> None:
    before = snapshot(pristine)
    tree = Workspace(cache, cache.work / "t")
    changes = plan_changes(gather(root, "6.12", Arm.LULL), reader(pristine))
    tree.open(pristine, "1", changes)
    tree.close()
    obj = put(tree.source / "obj/a.o", "object")
    os.utime(pristine / "kernel/freezer.c", (1000, 1000))
    assert not tree.open(pristine, "1", {})
    obj_time = obj.stat().st_mtime
    assert snapshot(tree.source) == before | {"obj/a.o": b"object"}
    # make must see the file as newer than the object made from the old one.
    assert (tree.source / "kernel/freezer.c").stat().st_mtime >= obj_time
    assert not (tree.source / "kernel/lull").exists()


def test_untouched_files_keep_their_time(
    root: Path, pristine: Path, cache: Cache
) -> None:
    changes = plan_changes(gather(root, "6.12", Arm.LULL), reader(pristine))
    tree = Workspace(cache, cache.work / "t")
    tree.open(pristine, "1", changes)
    tree.close()
    file = tree.source / "kernel/freezer.c"
    os.utime(file, (1000, 1000))
    tree.open(pristine, "1", changes)
    assert file.stat().st_mtime == 1000


def test_a_killed_run_leaves_nothing_to_trust(
    root: Path, pristine: Path, cache: Cache
) -> None:
    changes = plan_changes(gather(root, "6.12", Arm.LULL), reader(pristine))
    tree = Workspace(cache, cache.work / "t")
    tree.open(pristine, "1", changes)
    tree.close()
    tree.open(pristine, "1", changes)  # and never closed
    put(tree.source / "obj/half.o", "half")
    again = Workspace(cache, cache.work / "t")
    assert again.open(pristine, "1", changes)
    assert not (again.source / "obj").exists()


def test_another_version_starts_anew(pristine: Path, cache: Cache) -> None:
    tree = Workspace(cache, cache.work / "t")
    tree.open(pristine, "1", {})
    tree.close()
    assert not tree.open(pristine, "1", {})
    tree.close()
    assert tree.open(pristine, "2", {})


@pytest.mark.parametrize(
    "path",
    [
        "features/freeze/hooks/6.12/0001-x.patch",
        "features/freeze/kernel/kernel/lull/freeze/Kconfig",
        "kernel/overlay/kernel/lull/Kconfig",
        "kernel/config/lull.config",
        "kernel/config/compare.config",
        "kernel/config/base.config",
    ],
)
def test_the_key_follows_every_input(root: Path, path: str) -> None:
    before = key(root, Arm.LULL)
    stock = key(root, Arm.STOCK)
    assert key(root, Arm.LULL) == before
    file = root / path
    file.write_text(file.read_text() + "\n")
    assert key(root, Arm.LULL) != before
    assert (key(root, Arm.STOCK) != stock) == path.endswith("base.config")


def test_the_key_does_not_follow_the_place(root: Path) -> None:
    before = key(root, Arm.LULL)
    assert key(root.rename(root.with_name("elsewhere")), Arm.LULL) == before


def test_the_key_follows_version_compiler_and_flags() -> None:
    keys = {
        make_key("1", {}, "gcc 12", ["-O2"]),
        make_key("2", {}, "gcc 12", ["-O2"]),
        make_key("1", {}, "gcc 13", ["-O2"]),
        make_key("1", {}, "gcc 12", ["-O3"]),
    }
    assert len(keys) == 4


def test_objects_of_an_untouched_tree_are_adopted(
    root: Path, pristine: Path, cache: Cache
) -> None:
    stock = Workspace(cache, cache.work / "stock")
    stock.open(pristine, "1", {})
    compiled = put(stock.source / "obj/fork.o", "object\n")
    put(stock.source / "obj/.fork.o.cmd", f"gcc -map={stock.source}=..\n")
    os.utime(compiled, (1000, 1000))
    lull = Workspace(cache, cache.work / "lull")
    changes = plan_changes(gather(root, "6.12", Arm.LULL), reader(pristine))
    lull.open(pristine, "1", changes)
    assert not lull.adopt(stock, "obj")  # somebody works on it
    stock.close()
    assert lull.adopt(stock, "obj")
    assert (lull.source / "obj/fork.o").stat().st_mtime == 1000
    command = (lull.source / "obj/.fork.o.cmd").read_text()
    assert command == f"gcc -map={lull.source}=..\n"
    assert not lull.adopt(stock, "obj")  # has its own by now


def test_objects_of_a_patched_tree_are_not_adopted(
    root: Path, pristine: Path, cache: Cache
) -> None:
    changes = plan_changes(gather(root, "6.12", Arm.LULL), reader(pristine))
    lull = Workspace(cache, cache.work / "lull")
    lull.open(pristine, "1", changes)
    put(lull.source / "obj/freezer.o", "object\n")
    lull.close()
    other = Workspace(cache, cache.work / "other")
    other.open(pristine, "1", {})
    assert not other.adopt(lull, "obj")


def test_objects_of_another_version_are_not_adopted(
    pristine: Path, cache: Cache
) -> None:
    old = Workspace(cache, cache.work / "old")
    old.open(pristine, "1", {})
    put(old.source / "obj/fork.o", "object\n")
    old.close()
    new = Workspace(cache, cache.work / "new")
    new.open(pristine, "2", {})
    assert not new.adopt(old, "obj")
