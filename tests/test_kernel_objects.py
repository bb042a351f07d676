# SPDX-License-Identifier: GPL-2.0-only
"""What our hooks are in, compiled as other kernels have it, without a warning."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lull.kernels.bases import base_names
from lull.kernels.config import check_config, parse_config
from lull.kernels.inputs import feature_dirs, gather
from lull.model import Arm
from lull.proof.stamps import Stamps
from tests.kernel_trees import (
    BASE,
    OURS,
    configure,
    had,
    hooked,
    kernel_parts,
    make,
    opened,
    repo_root,
)

pytestmark = [pytest.mark.vm, pytest.mark.seconds(120)]

ME = "tests/test_kernel_objects.py"

#: Everything that a test kernel compiles of Lull, without what makes it slow.
DEBUG = "CONFIG_WERROR=y\nCONFIG_LULL_DEBUG=y"


def compile_with(extra: str, targets: tuple[str, ...], obj: Path) -> dict[str, str]:
    """Compile ``targets`` of the lull tree into ``obj`` with ``extra`` in the
    configuration, which is returned; any warning is an error."""
    with opened(Arm.LULL) as tree:
        configure(tree, Arm.LULL, obj, f"CONFIG_WERROR=y\n{extra}")
        make(tree, obj, "-j2", *targets)
    return parse_config((obj / ".config").read_text())


@pytest.mark.parametrize("base", [name for name in base_names() if name != BASE])
def test_hooks_of_other_bases_apply_and_compile(
    base: str, tmp_path: Path, stamp: Stamps
) -> None:
    """As users have them, and as test kernels do; what is not on the base is not
    asked for."""
    had(base)
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        with opened(Arm.LULL, base) as tree:
            inputs = gather(repo_root(), base, Arm.LULL)
            configure(tree, Arm.LULL, tmp_path, "CONFIG_WERROR=y", base)
            config = tmp_path / ".config"
            asked = [(path.name, path.read_text()) for path in inputs.fragments]
            check_config(asked, config.read_text(), inputs.absent)
            make(tree, tmp_path, "-j2", OURS, *hooked(base))
            configure(tree, Arm.LULL, tmp_path, DEBUG, base)
            assert parse_config(config.read_text())["CONFIG_LULL_DEBUG"] == "y"
            make(tree, tmp_path, "-j2", OURS, *hooked(base))
        ours = tmp_path / OURS
        there = {path.parent.name for path in ours.glob("*/*.o")}
        assert there == set(inputs.features)
        if "freeze" in there:
            assert "lull_freeze_pass" in symbols(ours / "freeze/freeze.o")


def symbols(program: Path) -> str:
    return subprocess.run(["nm", program], capture_output=True, text=True).stdout


def test_hooked_files_are_those_of_the_hooks() -> None:
    """The list was kept by hand once, and lacked kernel/sched/core.o."""
    found = hooked()
    assert "kernel/sched/core.o" in found
    assert "mm/zsmalloc.o" in found
    text = "".join(p.read_text() for p in repo_root().glob(f"*/*/hooks/{BASE}/*"))
    for name in found:
        assert f"+++ b/{name.removesuffix('.o')}.c" in text


def test_thaw_and_smc_exclude_each_other(tmp_path: Path, stamp: Stamps) -> None:
    """As a module, too: it would be frozen in place with its socket locked."""
    with stamp(kernel_parts(Arm.LULL, ME)) as new:
        if not new:
            return
        extra = "CONFIG_MODULES=y\nCONFIG_INFINIBAND=m\nCONFIG_SMC=m\n"
        with opened(Arm.LULL) as tree:
            configure(tree, Arm.LULL, tmp_path, extra)
        config = parse_config((tmp_path / ".config").read_text())
        assert config["CONFIG_SMC"] == "m"
        assert config.get("CONFIG_LULL_THAW") != "y"


#: Debian's flavours: without zswap zsmalloc is a module, too.
AS_MODULES = {
    "cloud-amd64": ("# CONFIG_ZSWAP is not set", "m"),
    "amd64": ("CONFIG_ZSWAP=y", "y"),
}


@pytest.mark.parametrize("flavour", AS_MODULES)
def test_zfree_is_there_where_zram_is_a_module(
    flavour: str, tmp_path: Path, stamp: Stamps
) -> None:
    """Whatever of Lull a module takes from outside is exported to it."""
    with stamp(kernel_parts(Arm.LULL, ME)) as new:
        if not new:
            return
        zswap, zsmalloc = AS_MODULES[flavour]
        extra = f"CONFIG_MODULES=y\nCONFIG_ZRAM=m\n{zswap}\n"
        extra += "# CONFIG_ZSMALLOC is not set\n# CONFIG_LULL_COMPARE is not set\n"
        places = ("kernel/lull/zfree/", "mm/zsmalloc.o", "drivers/block/zram/")
        config = compile_with(extra, places, tmp_path)
        assert config["CONFIG_LULL_ZFREE"] == "y"
        assert config["CONFIG_ZRAM"] == "m"
        assert config["CONFIG_ZSMALLOC"] == zsmalloc
        zram = next(tmp_path.glob("drivers/block/zram/zram_drv.o"))
        allocator, ours = tmp_path / "mm/zsmalloc.o", tmp_path / OURS / "zfree/zfree.o"
        found = "".join(map(symbols, (allocator, ours)))
        exported = set(re.findall(r"__export_symbol_(\w+)", found))
        wanted = set(re.findall(r" U (\w+)", symbols(zram)))
        if zsmalloc == "m":
            wanted |= set(re.findall(r" U (\w+)", symbols(allocator)))
        of_ours = {name for name in wanted if re.match("lull_|zs_", name)}
        assert "zs_free_bulk" in of_ours
        assert of_ours <= exported


def test_zs10_a_kernel_of_32_bit_compiles(tmp_path: Path, stamp: Stamps) -> None:
    """There is no room for a class in a location: the old way stays."""
    with stamp(kernel_parts(Arm.LULL, ME)) as new:
        if not new:
            return
        extra = "# CONFIG_64BIT is not set"
        config = compile_with(extra, (OURS, *hooked()), tmp_path)
        assert config.get("CONFIG_64BIT") != "y"
        assert config["CONFIG_LULL_ZFREE"] == "y"
        assert "zs_free_bulk" in symbols(tmp_path / "mm/zsmalloc.o")
        assert "_raw_read_lock" in symbols(tmp_path / "mm/zsmalloc.o")


def test_what_is_only_compared_with_can_be_left_out(
    tmp_path: Path, stamp: Stamps
) -> None:
    with stamp(kernel_parts(Arm.LULL, ME)) as new:
        if not new:
            return
        extra, ours = "# CONFIG_LULL_COMPARE is not set", tmp_path / OURS
        targets = (OURS, "kernel/freezer.o", "kernel/power/process.o")
        config = compile_with(extra, targets, tmp_path)
        assert config.get("CONFIG_LULL_COMPARE") != "y"
        assert "lull_freeze_pass" in symbols(ours / "freeze/freeze.o")
        assert "lull_thaw_walk" in symbols(ours / "thaw/thaw.o")
        for path in (*ours.rglob("*.o"), *(tmp_path / name for name in targets[1:])):
            assert not re.search(
                rb"exit_state_pass|wake_all|thaw_all\b|step_choice", path.read_bytes()
            )
            assert b"exit_state\0" not in path.read_bytes()


def test_each_feature_and_all_can_be_left_out(tmp_path: Path, stamp: Stamps) -> None:
    """In one folder of objects: make compiles again what sees the difference."""
    with stamp(kernel_parts(Arm.LULL, ME)) as new:
        if not new:
            return
        for feature in feature_dirs(repo_root()):
            name = f"CONFIG_LULL_{feature.name.upper()}"
            extra = f"# {name} is not set"
            config = compile_with(extra, (OURS, *hooked()), tmp_path)
            assert config["CONFIG_LULL"] == "y"
            left = {symbol for symbol in config if symbol.startswith("CONFIG_LULL_")}
            assert config.get(name) != "y"
            assert len(left) >= 4
        config = compile_with("# CONFIG_LULL is not set", hooked(), tmp_path)
        assert config.get("CONFIG_LULL") != "y"
        assert "zs_free_bulk" not in symbols(tmp_path / "mm/zsmalloc.o")
