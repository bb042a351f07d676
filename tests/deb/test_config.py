# SPDX-License-Identifier: GPL-2.0-only
"""Which configuration the packages' kernels get, from text alone."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from lull.deb.config import (
    Difference,
    differences,
    differences_text,
    fragments,
    identity,
    local_version,
)
from lull.deb.flavour import Flavour, config_commands, member, unpacked
from lull.errors import CannotRun, LabError
from lull.host.files import repo_root
from lull.host.suite import Suite
from lull.kernels.bases import load_base
from lull.kernels.config import check_config, parse_config

ROOT = repo_root()
BASE = load_base("6.12")

#: Of Debian's own, what ours is about.
DEBIAN = """\
CONFIG_CC_VERSION_TEXT="x86_64-linux-gnu-gcc-12 (Debian 12.2.0-14) 12.2.0"
CONFIG_LOCALVERSION=""
CONFIG_MODULE_SIG=y
CONFIG_MODULE_SIG_HASH="sha256"
CONFIG_ZRAM=m
CONFIG_SMC=m
# CONFIG_LULL_UNKNOWN is not set
"""


def asked() -> dict[str, str]:
    """What our fragments come to, the later ones over the earlier."""
    values: dict[str, str] = {}
    for path in fragments(ROOT):
        values |= parse_config(path.read_text("utf-8"), path.name)
    return values


def granted(over: dict[str, str]) -> str:
    """A configuration that grants all wishes but for ``over``."""
    values = parse_config(DEBIAN) | asked() | over
    return "".join(
        f"# {name} is not set\n" if value == "n" else f"{name}={value}\n"
        for name, value in values.items()
    )


def test_packages_have_each_feature_and_nothing_of_the_tests() -> None:
    values = asked()
    places = sorted(ROOT.glob("features/*/kernel/kernel/lull/*/Kconfig"))
    assert len(places) == 5
    for place in places:
        assert values[f"CONFIG_LULL_{place.parent.name.upper()}"] == "y"
    for name in ("COMPARE", "DEBUG", "DEVICES_TREE"):
        assert values[f"CONFIG_LULL_{name}"] == "n"
    assert values["CONFIG_ZRAM"] == "m"
    assert values["CONFIG_MODULE_SIG"] == values["CONFIG_SMC"] == "n"


@pytest.mark.parametrize(
    "symbol", ["CONFIG_LULL_THAW", "CONFIG_LULL_ZFREE", "CONFIG_ZRAM"]
)
def test_what_was_asked_and_did_not_come_is_an_error(symbol: str) -> None:
    texts = [(path.name, path.read_text("utf-8")) for path in fragments(ROOT)]
    check_config(texts, granted({}))
    with pytest.raises(LabError, match=rf"{symbol}=. \((lull|deb).config\): is n"):
        check_config(texts, granted({symbol: "n"}))


def test_a_mode_of_tests_that_comes_after_all_is_an_error() -> None:
    texts = [(path.name, path.read_text("utf-8")) for path in fragments(ROOT)]
    with pytest.raises(LabError, match="CONFIG_LULL_COMPARE=n"):
        check_config(texts, granted({"CONFIG_LULL_COMPARE": "y"}))


def test_the_name_says_flavour_and_lull() -> None:
    assert local_version(Flavour.CLOUD) == "-lull-cloud-amd64"
    assert parse_config(identity(Flavour.AMD64)) == {
        "CONFIG_LOCALVERSION": '"-lull-amd64"'
    }


def test_differences_are_those_asked_for_and_what_follows() -> None:
    ours = DEBIAN.replace("_SIG=y", "_SIG=n").replace("Debian 12.2", "Debian 12.3")
    ours = ours.replace('CONFIG_MODULE_SIG_HASH="sha256"\n', "") + "CONFIG_LULL=y\n"
    text = "# CONFIG_MODULE_SIG is not set\nCONFIG_LULL=y\n"
    assert differences(DEBIAN, ours, [text]) == (
        Difference("CONFIG_LULL", "n", "y", asked=True),
        Difference("CONFIG_MODULE_SIG", "y", "n", asked=True),
        Difference("CONFIG_MODULE_SIG_HASH", '"sha256"', "n", asked=False),
    )


def test_what_the_build_machine_has_is_no_difference() -> None:
    """7.3 asks for more of it than 6.12 does."""
    debian = "CONFIG_RUST_IS_AVAILABLE=y\nCONFIG_OPENSSL_SUPPORTS_ML_DSA=y\n"
    assert differences(debian, "", []) == ()
    rust = Difference("CONFIG_RUST", "y", "n", asked=False)
    assert differences(f"{debian}CONFIG_RUST=y\n", "", []) == (rust,)


def test_differences_say_which_of_them_nobody_asked_for() -> None:
    found = [Difference("A", "n", "y", True), Difference("B", "y", "n", False)]
    text = differences_text(found, Flavour.AMD64)
    assert text.index("A=y (Debian: n)") < text.index("What follows")
    assert text.index("What follows") < text.index("B=n (Debian: y)")
    assert "Debian's amd64" in text


def test_the_configuration_is_that_of_the_very_sources() -> None:
    download, _ = config_commands(BASE, "6.12.9-1")
    assert download[-1] == "linux-config-6.12=6.12.9-1"
    assert "-c" not in download


def test_the_configuration_is_of_the_suite_that_the_sources_are_of() -> None:
    suite = Suite("sid", Path("/apt"))
    download, _ = config_commands(BASE, "6.12.9-1", suite)
    exact = ("-o", "APT::Cmd::Pattern-Only=true")
    assert download == suite.apt(*exact, "download", "linux-config-6.12=6.12.9-1")


def test_a_flavour_is_read_from_debians_package(tmp_path: Path) -> None:
    file = tmp_path / member(BASE, Flavour.CLOUD)
    file.parent.mkdir(parents=True)
    file.write_bytes(lzma.compress(b"CONFIG_X=y\n"))
    assert unpacked(tmp_path, BASE, Flavour.CLOUD) == b"CONFIG_X=y\n"
    with pytest.raises(CannotRun, match=r"amd64; it has: config.amd64_none_cloud"):
        unpacked(tmp_path, BASE, Flavour.AMD64)
