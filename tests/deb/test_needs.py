# SPDX-License-Identifier: GPL-2.0-only
"""What is said of a build of packages before it starts."""

from __future__ import annotations

from pathlib import Path

from lull.deb.flavour import Flavour
from lull.deb.needs import boots_securely, hours, is_secure, needs_text
from lull.deb.record import Cost


def test_what_it_needs_is_told_with_figures_of_this_machine() -> None:
    cost = Cost(
        seconds=5400, cpu_seconds=9000, largest_mb=700, disk_mb=5400, lines=1, jobs=3
    )
    text = needs_text(Flavour.AMD64, 3, cost, ccache=True)
    assert "1:30 h the last time here (3 jobs, 2:30 h of CPU)" in text
    assert "700 MiB" in text and "25 GB" in text and "not signed" in text
    for lacking in ("lockdown", "FIPS", "SMC", "BTF"):
        assert lacking in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "took 5.4 GB" in text and "virtual machines" not in text
    cloud = needs_text(Flavour.CLOUD, 3, None, ccache=True)
    assert "cloud-amd64: for virtual machines only, no USB, graphics, WLAN" in cloud
    assert "(an estimate)" in needs_text(Flavour.AMD64, 3, None, ccache=True)
    assert "(an estimate)" not in text
    assert "install ccache" in needs_text(Flavour.AMD64, 3, None, ccache=False)
    assert hours(59 * 60) == "59 min"


def test_secure_boot_is_warned_of_where_it_is_on(tmp_path: Path) -> None:
    variable = tmp_path / "SecureBoot"
    assert not boots_securely(variable)
    for data, on in ((b"\x06\0\0\0\x01", True), (b"\x06\0\0\0\0", False), (b"", False)):
        variable.write_bytes(data)
        assert boots_securely(variable) is is_secure(data) is on
    text = needs_text(Flavour.AMD64, 3, None, ccache=True, secure_boot=True)
    assert "Secure Boot is on here: this kernel does not start" in text
    assert "Secure Boot" not in needs_text(Flavour.AMD64, 3, None, ccache=True)
