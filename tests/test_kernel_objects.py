# SPDX-License-Identifier: GPL-2.0-only
"""What our hooks are in, compiled as other kernels have it, without a warning."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lull.kernels import toolchain
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.kernels.config import parse_config
from lull.kernels.make import OBJ, environment, make_flags
from lull.model import Arm
from tests.kernel_trees import HOOKED, OURS, opened

pytestmark = pytest.mark.vm


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where configurations that differ in little leave their objects.

    make compiles again what sees the difference.
    """
    return tmp_path_factory.mktemp("objects")


def compile_with(extra: str, targets: tuple[str, ...], obj: Path) -> dict[str, str]:
    """Compile ``targets`` of the lull tree into ``obj`` with ``extra`` in the
    configuration, which is returned; any warning is an error."""
    # The untouched one first: the other starts from its objects.
    build("6.12", Arm.STOCK)
    cache = Cache()
    has_ccache = toolchain.ccache() is not None
    env = environment(cache.ccache if has_ccache else None, cache.work)
    with opened(Arm.LULL) as tree:
        config = (tree / OBJ / ".config").read_text("utf-8")
        # Of two lines for a symbol the last one counts.
        (obj / ".config").write_text(f"{config}CONFIG_WERROR=y\n{extra}\n", "utf-8")
        flags = [f"O={obj}", *make_flags(tree, has_ccache)[1:], "-j2"]
        for wanted in (("olddefconfig",), targets):
            done = subprocess.run(
                ["make", *flags, *wanted],
                cwd=tree,
                env=env,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr[-3000:]
    return parse_config((obj / ".config").read_text())


def test_zs10_a_kernel_of_32_bit_compiles(tmp_path: Path) -> None:
    """There is no room for a class in a location: the old way stays."""
    targets = (OURS, *HOOKED)
    config = compile_with("# CONFIG_64BIT is not set", targets, tmp_path)
    assert config.get("CONFIG_64BIT") != "y"
    assert config["CONFIG_LULL_ZFREE"] == "y"
    symbols = subprocess.run(
        ["nm", str(tmp_path / "mm/zsmalloc.o")], capture_output=True, text=True
    ).stdout
    assert "zs_free_bulk" in symbols
    assert "_raw_read_lock" in symbols


def test_a_kernel_without_lull_compiles(objects: Path) -> None:
    config = compile_with("# CONFIG_LULL is not set", HOOKED, objects)
    assert config.get("CONFIG_LULL") != "y"
    symbols = subprocess.run(
        ["nm", str(objects / "mm/zsmalloc.o")], capture_output=True, text=True
    ).stdout
    assert "zs_free_bulk" not in symbols


@pytest.mark.parametrize(
    "feature", ["LULL_ATTACH", "LULL_DEVICES", "LULL_THAW", "LULL_ZFREE"]
)
def test_a_kernel_without_one_feature_compiles(objects: Path, feature: str) -> None:
    extra = f"# CONFIG_{feature} is not set"
    config = compile_with(extra, (OURS, *HOOKED), objects)
    assert config["CONFIG_LULL_FREEZE"] == "y"
    assert config.get(f"CONFIG_{feature}") != "y"
