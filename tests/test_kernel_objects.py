# SPDX-License-Identifier: GPL-2.0-only
"""What our hooks are in, compiled as other kernels have it, without a warning."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lull.host.files import repo_root
from lull.kernels.bases import base_names
from lull.kernels.config import check_config, parse_config
from lull.kernels.inputs import gather
from lull.model import Arm
from lull.proof.stamps import Stamps
from tests.kernel_trees import (
    BASE,
    OURS,
    configure,
    features_of,
    had,
    hooked,
    kernel_parts,
    make,
    members,
    opened,
)

pytestmark = [pytest.mark.vm, pytest.mark.seconds(120)]

ME = "tests/test_kernel_objects.py"

#: Everything that a test kernel compiles of Lull, without what makes it slow.
DEBUG = "CONFIG_LULL_DEBUG=y"


@contextmanager
def compiled(
    extra: str, *targets: str, base: str = BASE
) -> Iterator[tuple[Path, dict[str, str]]]:
    """``targets`` of a lull tree, compiled with ``extra`` in the configuration: the
    folder of objects, which is ours until the end, and what the configuration says.
    Any warning is an error."""
    with opened(Arm.LULL, base) as tree:
        obj = configure(tree, Arm.LULL, f"CONFIG_WERROR=y\n{extra}", base)
        make(obj, "-j2", *targets)
        yield obj, parse_config((obj / ".config").read_text())


@pytest.mark.parametrize("base", [name for name in base_names() if name != BASE])
def test_hooks_of_other_bases_apply_and_compile(base: str, stamp: Stamps) -> None:
    """As users have them, and as test kernels do; what is not on the base is not
    asked for."""
    had(base)
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        inputs = gather(repo_root(), base, Arm.LULL)
        targets = (OURS, *hooked(base))
        with compiled("", *targets, base=base) as (obj, _):
            asked = [(path.name, path.read_text()) for path in inputs.fragments]
            check_config(asked, (obj / ".config").read_text(), inputs.absent)
        with compiled(DEBUG, *targets, base=base) as (obj, config):
            assert config["CONFIG_LULL_DEBUG"] == "y"
            ours = obj / OURS
            there = {path.parent.name for path in members(ours)} - {ours.name}
            assert there == set(inputs.features)
            if "freeze" in there:
                assert "lull_freeze_pass" in symbols(ours / "freeze/freeze.o")


def on_base(base: str, feature: str) -> None:
    """Skip where a feature is not on the base."""
    if feature not in features_of(base):
        pytest.skip(f"{feature} is not on {base}")


def symbols(program: Path) -> str:
    return subprocess.run(["nm", program], capture_output=True, text=True).stdout


def exports(symbols: str) -> set[str]:
    """What objects export, by what nm says of them. Up to 6.4 the table itself is in
    each object; from then on it is made when all are linked, and a mark is there."""
    return set(re.findall(r" __(?:export_symbol|ksymtab)_(\w+)\n", symbols))


def test_what_is_exported_is_told_of_any_kernel_s_objects() -> None:
    """6.1 has no such marks, and so nothing was exported there."""
    older = "0000 r __ksymtab_zs_free\n0000 r __kstrtab_zs_free\n"
    newer = "0000 r __export_symbol_zs_free\n2600 T zs_free\n"
    assert exports(older) == exports(newer) == {"zs_free"}
    assert exports("                 U zs_free_bulk\n") == set()


def test_hooked_files_are_those_of_the_hooks(base: str) -> None:
    """The list was kept by hand once, and lacked kernel/sched/core.o."""
    found = hooked(base)
    assert "kernel/sched/core.o" in found
    assert "mm/zsmalloc.o" in found
    text = "".join(p.read_text() for p in repo_root().glob(f"*/*/hooks/{base}/*"))
    for name in found:
        assert f"+++ b/{name.removesuffix('.o')}.c" in text


def test_thaw_and_smc_exclude_each_other(base: str, stamp: Stamps) -> None:
    """As a module, too: it would be frozen in place with its socket locked."""
    on_base(base, "thaw")
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        # 7.3's SMC depends on DIBS, which 6.12 does not have.
        extra = "CONFIG_MODULES=y\nCONFIG_INFINIBAND=m\nCONFIG_DIBS=m\nCONFIG_SMC=m\n"
        with opened(Arm.LULL, base) as tree:
            obj = configure(tree, Arm.LULL, extra, base)
            config = parse_config((obj / ".config").read_text())
        assert config["CONFIG_SMC"] == "m"
        assert config.get("CONFIG_LULL_THAW") != "y"


#: Debian's flavours: without zswap zsmalloc is a module, too.
AS_MODULES = {
    "cloud-amd64": ("# CONFIG_ZSWAP is not set", "m"),
    "amd64": ("CONFIG_ZSWAP=y", "y"),
}


@pytest.mark.parametrize("flavour", AS_MODULES)
def test_zfree_is_there_where_zram_is_a_module(
    base: str, flavour: str, stamp: Stamps
) -> None:
    """Whatever of Lull a module takes from outside is exported to it."""
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        zswap, zsmalloc = AS_MODULES[flavour]
        extra = f"CONFIG_MODULES=y\nCONFIG_ZRAM=m\n{zswap}\n"
        extra += "# CONFIG_ZSMALLOC is not set\n# CONFIG_LULL_COMPARE is not set\n"
        places = ("kernel/lull/zfree/", "mm/zsmalloc.o", "drivers/block/zram/")
        with compiled(extra, *places, base=base) as (obj, config):
            assert config["CONFIG_LULL_ZFREE"] == "y"
            assert config["CONFIG_ZRAM"] == "m"
            assert config["CONFIG_ZSMALLOC"] == zsmalloc
            allocator = symbols(obj / "mm/zsmalloc.o")
            zram = symbols(obj / "drivers/block/zram/zram_drv.o")
            found = allocator + symbols(obj / OURS / "zfree/zfree.o")
        exported = exports(found)
        modules = zram + allocator if zsmalloc == "m" else zram
        wanted = set(re.findall(r" U (\w+)", modules))
        of_ours = {name for name in wanted if re.match("lull_|zs_", name)}
        assert "zs_free_bulk" in of_ours
        assert of_ours <= exported


def test_zs10_a_kernel_of_32_bit_compiles(base: str, stamp: Stamps) -> None:
    """There is no room for a class in a location: the old way stays."""
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        extra = "# CONFIG_64BIT is not set"
        with compiled(extra, OURS, *hooked(base), base=base) as (obj, config):
            assert config.get("CONFIG_64BIT") != "y"
            assert config["CONFIG_LULL_ZFREE"] == "y"
            assert "zs_free_bulk" in symbols(obj / "mm/zsmalloc.o")
            assert "_raw_read_lock" in symbols(obj / "mm/zsmalloc.o")


def test_what_is_only_compared_with_can_be_left_out(base: str, stamp: Stamps) -> None:
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        extra = "# CONFIG_LULL_COMPARE is not set"
        places = ("kernel/freezer.o", "kernel/power/process.o")
        with compiled(extra, OURS, *places, base=base) as (obj, config):
            ours = obj / OURS
            assert config.get("CONFIG_LULL_COMPARE") != "y"
            assert "lull_freeze_pass" in symbols(ours / "freeze/freeze.o")
            if "thaw" in features_of(base):
                assert "lull_thaw_walk" in symbols(ours / "thaw/thaw.o")
            for path in (*members(ours), *(obj / name for name in places)):
                assert not re.search(
                    rb"exit_state_pass|wake_all|thaw_all\b|step_choice",
                    path.read_bytes(),
                )
                assert b"exit_state\0" not in path.read_bytes()


def test_each_feature_and_all_can_be_left_out(base: str, stamp: Stamps) -> None:
    with stamp(kernel_parts(Arm.LULL, ME, base=base)) as new:
        if not new:
            return
        features = features_of(base)
        for feature in features:
            name = f"CONFIG_LULL_{feature.upper()}"
            extra = f"# {name} is not set"
            with compiled(extra, OURS, *hooked(base), base=base) as (obj, config):
                assert config["CONFIG_LULL"] == "y"
                left = {word for word in config if word.startswith("CONFIG_LULL_")}
                assert config.get(name) != "y"
                assert len(left) >= len(features) - 1
                there = {path.parent.name for path in members(obj / OURS)}
                assert feature not in there and len(there) >= len(features) - 1
        extra = "# CONFIG_LULL is not set"
        with compiled(extra, *hooked(base), base=base) as (obj, config):
            assert config.get("CONFIG_LULL") != "y"
            assert "zs_free_bulk" not in symbols(obj / "mm/zsmalloc.o")
