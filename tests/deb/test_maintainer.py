# SPDX-License-Identifier: GPL-2.0-only
"""What lull-tools does to a machine's services when it comes and goes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROGRAMS = (
    "deb-systemd-helper",
    "deb-systemd-invoke",
    "systemctl",
    "systemd-detect-virt",
    "systemd-tmpfiles",
)

#: Notes how it was called; what asks is answered by a file.
STUB = """\
#!/bin/sh
cd "{folder}"
name=${{0##*/}}
echo "$name $*" >>calls
case "$name $*" in
*is-active*) test -e active ;;
systemd-detect-virt*) test -e container ;;
esac
"""

START = "deb-systemd-invoke start lull.service"
STOP = "deb-systemd-invoke stop lull.service"
ENABLE = "deb-systemd-helper enable lull.service"


class Services:
    """A machine with systemd, of which all that is called is noted."""

    def __init__(self, folder: Path, unpacked: Path) -> None:
        self.folder = folder
        self._unpacked = unpacked
        (folder / "systemd").mkdir()
        for name in PROGRAMS:
            stub = folder / name
            stub.write_text(STUB.format(folder=folder))
            stub.chmod(0o755)

    def run(self, script: str, *words: str) -> list[str]:
        """What a maintainer script of the package calls."""
        text = (self._unpacked / "DEBIAN" / script).read_text()
        here = text.replace("/run/systemd/system", f"{self.folder}/systemd")
        (self.folder / "calls").write_text("")
        subprocess.run(
            ["sh", "-c", here, script, *words],
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
            check=True,
        )
        return (self.folder / "calls").read_text().splitlines()


@pytest.fixture
def services(tmp_path: Path, unpacked: Path) -> Services:
    return Services(tmp_path, unpacked)


def test_a_new_package_has_its_unit_enabled_and_started(services: Services) -> None:
    calls = services.run("postinst", "configure", "")
    assert ENABLE in calls and calls[-1] == START


def test_an_upgrade_does_not_run_the_unit_again(services: Services) -> None:
    """What was written to sysfs since the boot stays in force."""
    (services.folder / "active").touch()
    assert START not in services.run("postinst", "configure", "0.1.0")
    assert services.run("prerm", "upgrade", "0.2.0") == []


def test_who_removes_it_and_takes_it_again_has_it_started(services: Services) -> None:
    """dpkg knows an older version of it then, whose settings are still there."""
    assert services.run("prerm", "remove") == [STOP]
    assert services.run("postinst", "configure", "0.1.0")[-1] == START


def test_a_removal_that_is_called_off_has_it_started_again(services: Services) -> None:
    assert services.run("prerm", "remove") == [STOP]
    calls = services.run("postinst", "abort-remove")
    assert calls[-1] == START and ENABLE not in calls
    assert services.run("postinst", "abort-upgrade", "0.2.0") == []


def test_in_a_container_it_is_enabled_and_no_more(services: Services) -> None:
    (services.folder / "container").touch()
    calls = services.run("postinst", "configure", "")
    assert calls == [ENABLE, "systemd-detect-virt --quiet --container"]


def test_without_systemd_nothing_is_started(services: Services) -> None:
    """In a chroot, where an image of a machine is made."""
    (services.folder / "systemd").rmdir()
    assert services.run("postinst", "configure", "") == [ENABLE]
    assert services.run("prerm", "remove") == []
