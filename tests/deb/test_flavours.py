# SPDX-License-Identifier: GPL-2.0-only
"""Debian's own configurations with ours over them, as Kconfig has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lull.deb.config import differences, fragments, identity
from lull.deb.flavour import Flavour, fetch_config
from lull.host.files import digest, repo_root
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.config import check_config, merge_command, parse_config
from lull.kernels.inputs import gather
from lull.kernels.source import fetch
from lull.model import Arm
from lull.proof.stamps import Stamps
from tests.kernel_trees import kernel_parts, make, opened, run, tried

pytestmark = [pytest.mark.vm, pytest.mark.seconds(40)]

ME = "tests/deb/test_flavours.py"
MAKERS = ("lull/deb/config.py", "lull/deb/flavour.py")

#: What users lose without anybody asking for it: README.Debian of lull-tools says
#: so in words.
FOLLOWS = (
    r"(MODULE_SIG|DEBUG_INFO|LOCK_DOWN|SECURITY_LOCKDOWN|CRYPTO_FIPS|SMC_"
    r"|CRYPTO_JITTERENTROPY|MODULE_ALLOW_BTF_MISMATCH$|PROBE_EVENTS_BTF_ARGS$)"
)
#: The same of one base.
FOLLOWS_ON = {
    # Is built in: zswap compresses by it, if it is not told otherwise.
    "6.1": r"CRYPTO_LZO$",
    # Of BTF: sched_ext, and what else is to be written in BPF. Of Rust, which zfree
    # excludes, and which is on only where its compiler is.
    "7.3": r"(SCHED_CLASS_EXT|EXT_GROUP_SCHED|EXT_SUB_SCHED|NET_SCH_BPF"
    r"|IO_URING_BPF_OPS|FUNCTION_TRACE_ARGS"
    r"|RUST(_\w+)?|AX88796B_RUST_PHY|AMCC_QT2025_PHY|DRM_PANIC_SCREEN_QR_CODE)$",
}


def follows(symbol: str, base: str) -> bool:
    """Whether it is known what becomes of the symbol on the base."""
    known = (FOLLOWS, FOLLOWS_ON.get(base, FOLLOWS))
    return any(re.match(f"CONFIG_{pattern}", symbol) for pattern in known)


@pytest.mark.parametrize("flavour", Flavour)
def test_all_that_was_asked_for_came_and_nothing_else_went(
    base: str, flavour: Flavour, tmp_path: Path, stamp: Stamps
) -> None:
    ours = fragments(repo_root())
    texts = [(path.name, path.read_text("utf-8")) for path in ours]
    parts = kernel_parts(Arm.LULL, ME, base=base, makers=MAKERS)
    parts |= {"asked": digest(*(t for _, t in texts))}
    with stamp(parts) as new:
        if not new:
            return
        which, cache = load_base(base), Cache()
        config = fetch_config(which, fetch(which, cache), flavour, cache)
        name = tmp_path / "identity.config"
        name.write_text(identity(flavour))
        debian = config.read_text()
        with opened(Arm.LULL, base) as tree:
            obj = tried(tree)
            (obj / ".config").write_text(debian)
            run(merge_command(tree, obj, (*ours, name)), tree)
            make(obj, "ARCH=x86_64", "olddefconfig")
            result = (obj / ".config").read_text()
        absent = gather(repo_root(), base, Arm.LULL).absent
        check_config([*texts, (name.name, name.read_text())], result, absent)
        assert parse_config(result)["CONFIG_LULL_ZFREE"] == "y"
        assert "CONFIG_LULL_COMPARE=y" not in result
        found = differences(debian, result, [text for _, text in texts])
        lost = [one for one in found if not one.asked and one.debian in ("y", "m")]
        assert lost
        assert [one.symbol for one in lost if not follows(one.symbol, base)] == []
