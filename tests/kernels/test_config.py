# SPDX-License-Identifier: GPL-2.0-only
"""The configuration has to be what was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.errors import LabError
from lull.kernels.config import check_config, parse_config

RESULT = """\
CONFIG_SMP=y
CONFIG_NR_CPUS=8
# CONFIG_KASAN is not set
CONFIG_NAME="a b"
"""


def test_what_holds_passes() -> None:
    wishes = 'CONFIG_SMP=y\nCONFIG_NR_CPUS=8\nCONFIG_NAME="a b"\n'
    check_config([("a", wishes + "# CONFIG_KASAN is not set\n")], RESULT)
    check_config([("a", "# CONFIG_NOT_IN_THIS_BASE is not set\n")], RESULT)
    check_config([("a", "# words about CONFIG_SMP\n\nCONFIG_SMP=y")], RESULT)


def test_every_miss_is_named_with_its_fragment() -> None:
    with pytest.raises(LabError) as caught:
        check_config(
            [
                ("a.config", "CONFIG_KASAN=y\nCONFIG_NR_CPUS=64\n"),
                ("b.config", "CONFIG_NOVEL=y\n# CONFIG_SMP is not set\n"),
            ],
            RESULT,
        )
    text = str(caught.value)
    assert "4 configuration symbols" in text
    assert "CONFIG_KASAN=y (a.config): is n" in text
    assert "CONFIG_NR_CPUS=64 (a.config): is 8" in text
    assert "CONFIG_NOVEL=y (b.config): is not there" in text
    assert "CONFIG_SMP=n (b.config): is y" in text


def test_what_a_base_is_known_not_to_have_need_not_take() -> None:
    wishes = [("a", "CONFIG_SMP=y\nCONFIG_LULL_NAP=y\n")]
    check_config(wishes, RESULT, {"CONFIG_LULL_NAP"})
    with pytest.raises(LabError, match=r"CONFIG_LULL_NAP=y \(a\): is not there"):
        check_config(wishes, RESULT, {"CONFIG_LULL_REST"})


def test_the_later_fragment_counts() -> None:
    wishes = [("a", "CONFIG_NR_CPUS=64\n"), ("b", "CONFIG_NR_CPUS=8\n")]
    check_config(wishes, RESULT)
    with pytest.raises(LabError):
        check_config(reversed(wishes), RESULT)


def test_a_mistyped_line_is_not_a_comment() -> None:
    with pytest.raises(LabError, match="not a config line") as caught:
        check_config([("a.config", "CONFIG_SMP=y\nCONFIG_SMP y\n")], RESULT)
    assert caught.value.where == "a.config:2"


def test_the_projects_fragments_parse() -> None:
    directory = Path(__file__).resolve().parents[2] / "kernel" / "config"
    for name in ("base", "lull", "debug"):
        text = (directory / f"{name}.config").read_text("utf-8")
        assert parse_config(text, name)
