# SPDX-License-Identifier: GPL-2.0-only
"""What is wrong with a machine is named, and named first: in a Debian, for real."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lull.deb import build as builder
from lull.deb.flavour import Flavour
from lull.deb.tools import build_tools
from lull.doctor.bundle import read_bundle
from lull.doctor.collect import build_collector, unpack
from lull.doctor.findings import judge
from lull.doctor.model import Grade, Report
from lull.doctor.there import collect_there
from lull.errors import CannotRun
from lull.guest.boot import Start, boot
from lull.guest.image import Image, base_image
from lull.guest.installed import installed
from lull.host.files import repo_root
from lull.host.progress import open_progress
from lull.kernels.bases import DEFAULT_BASE
from lull.kernels.cache import Cache
from lull.vm.timeouts import host_factor

HERE = Path(__file__).parent

#: A disk whose cache cannot be written: every flush is an error.
BROKEN = (
    *("-device", "virtio-scsi-pci"),
    *("-blockdev", "driver=null-co,node-name=nothing,size=1048576,read-zeroes=on"),
    "-blockdev",
    "driver=blkdebug,node-name=broken,image=nothing,inject-error.0.event=none,"
    "inject-error.0.iotype=flush,inject-error.0.errno=5",
    *("-device", "scsi-hd,drive=broken,scsi-id=5"),
)

_SEEN = re.compile(r"^== (\S+)\n([A-Za-z0-9+/=\n]+)\n==$", re.MULTILINE)


def reports(said: str) -> dict[str, Report]:
    """Of each look, by its name."""
    return {
        name: judge(read_bundle(unpack(gzip.decompress(base64.b64decode(text)))))
        for name, text in _SEEN.findall(said)
    }


def planted(image: Image, folder: Path) -> tuple[dict[str, Report], dict[str, str]]:
    """The reports, and what the script says of names that only it knows."""
    start = dataclasses.replace(
        Start(image.kernel, image.initrd, image.disk), devices=BROKEN
    )
    files = {
        "lull-probe": build_collector(repo_root()),
        "fuse.pl": HERE / "fuse.pl",
    }
    job = (HERE / "plants.sh").read_text("utf-8")
    said = boot(start, job, folder, files, limit_s=1200)
    names = dict(re.findall(r"^(slow|broken|how|kills): (\S+)$", said, re.MULTILINE))
    return reports(said), names


def named_first(image: Image, folder: Path, release: str) -> None:
    """Each by its name, and first; of a machine without, none."""
    found, names = planted(image, folder)
    firsts = {
        "zombies": "hoarder",
        "slow": f"{names['slow']} (sd)",
        "fuse": "stopfs",
        "nfs": "127.0.0.1:/",
        "aborting": names["broken"],
        "aborted": names["broken"],
    }
    quiet = found["nothing"]
    assert release in quiet.facts.kernel
    assert not [f for f in quiet.findings if f.grade in (Grade.FAILS, Grade.WRONG)]
    for plant, name in firsts.items():
        first = found[plant].findings[0]
        assert name in first.title, (plant, first)
        assert not any(name in f.title for f in quiet.findings), plant
    slow = found["slow"].findings[0]
    assert slow.id == f"measured-{names['how']}" and slow.cost_ms is not None
    assert 2000 <= slow.cost_ms < 4000
    for report in found.values():
        assert report.root and report.facts.power.pm_test in ("", "none")
    levels = names["how"] == "devices"
    missing = [m.name for r in found.values() for m in r.facts.measured.missing]
    assert missing == ([] if levels else ["freezer"])
    measured = {f.id for f in found["suspended"].findings}
    assert {"measured-suspend", *(["measured-freezer"] if levels else [])} <= measured
    assert found["aborting"].findings[0].grade is Grade.FAILS
    assert names["kills"] == ("40" if levels else "0")


@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(900)
def test_what_is_planted_is_named_first_without_lull(tmp_path: Path) -> None:
    # Of Debian's two kernels this one has pm_test.
    with open_progress() as progress:
        image = base_image(Cache(), progress, Flavour.AMD64)
    named_first(image, tmp_path / "boot", "-amd64")


@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(4800)
def test_what_is_planted_is_named_first_with_lull(tmp_path: Path) -> None:
    with open_progress() as progress:
        try:
            packages = builder.build(DEFAULT_BASE, Flavour.CLOUD, progress)
        except CannotRun as error:
            pytest.skip(str(error))
        debs = [packages.directory / name for name in packages.files]
        debs.append(build_tools(tmp_path))
        image = installed(Cache(), debs, progress)
    named_first(image, tmp_path / "boot", "lull")


#: A real sshd, for root, for somebody who may be root, and for somebody who may not.
SSHD = """\
set -e
cat > /etc/systemd/network/all.network <<END
[Match]
Type=ether
[Network]
Address=10.0.2.15/24
END
systemctl start systemd-networkd
for who in able plain; do useradd -m -s /bin/sh $who; done
echo "able ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/able
for home in /root /home/able /home/plain; do
	mkdir -p -m 700 $home/.ssh
	cp key.pub $home/.ssh/authorized_keys
	chown -R --reference=$home $home/.ssh
	chmod 600 $home/.ssh/authorized_keys
done
systemctl start ssh
tries=6000
while [ ! -e /tmp/enough ] && [ $tries -gt 0 ]; do sleep 0.5; tries=$((tries - 1)); done
ls /tmp/tmp.* 2> /dev/null || echo nothing is left
"""


def readme_says() -> list[str]:
    """The five lines of README's "What is slow on your machine?", without comments."""
    text = (repo_root() / "README.md").read_text("utf-8")
    _, _, section = text.partition("\n## What is slow on your machine?\n")
    lines = [line for line in section.splitlines() if line.startswith("    ")]
    return [line.partition("#")[0].strip() for line in lines[:5]]


class Visitor(threading.Thread):
    """Who comes by ssh while the guest runs: its folders, or why there are none."""

    def __init__(self, port: int, folder: Path) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.folder = folder
        self.found: dict[str, Mapping[str, bytes]] = {}
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._until_it_answers()
            for who in ("root", "able", "plain"):
                where = f"ssh://{who}@127.0.0.1:{self.port}"
                self.found[who] = collect_there(repo_root(), where)
            self._as_readme_says()
        except Exception as error:  # told where the test can fail
            self.error = error
        self._there("touch /tmp/enough")

    def _as_readme_says(self) -> None:
        """Its last three lines: a file is copied, run, and its folder brought back."""
        here, there, back = [line.split() for line in readme_says()[2:]]
        self._lull(*here[1:])
        program = (self.folder / "lull-probe").read_bytes()
        self._there("cat > lull-probe && chmod 755 lull-probe", program)
        tar = self._there(f"{' '.join(there)} && tar c {there[-1]}")
        subprocess.run(["tar", "x"], input=tar, cwd=self.folder, check=True)
        self._lull(*back[1:], "--json", "report.json")

    def _lull(self, *words: str) -> None:
        lull = repo_root() / ".venv" / "bin" / "lull"
        subprocess.run(
            [lull, *words],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(repo_root())},
            stdout=subprocess.DEVNULL,
            timeout=100 * host_factor(),
            check=True,
        )

    def _there(self, command: str, given: bytes = b"") -> bytes:
        words = ["ssh", "-p", str(self.port), "root@127.0.0.1", command]
        return subprocess.run(
            words,
            input=given,
            stdout=subprocess.PIPE,
            check=True,
            timeout=100 * host_factor(),
        ).stdout

    def _until_it_answers(self) -> None:
        for _ in range(600):
            try:
                with socket.create_connection(("127.0.0.1", self.port), 5) as line:
                    line.settimeout(5)
                    if line.recv(4) == b"SSH-":
                        return
            except OSError:
                pass
            time.sleep(0.5)
        raise TimeoutError("no sshd answered")


def free_port() -> int:
    with socket.socket() as any_:
        any_.bind(("127.0.0.1", 0))
        port: int = any_.getsockname()[1]
        return port


@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(300)
def test_by_a_real_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_progress() as progress:
        image = base_image(Cache(), progress)
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True
    )
    config = tmp_path / "config"
    config.write_text(
        f"IdentityFile {key}\nStrictHostKeyChecking no\nBatchMode yes\n"
        "UserKnownHostsFile /dev/null\nLogLevel ERROR\n"
    )
    # The system's ssh, which nobody's own settings change, nor the other way round.
    (tmp_path / "bin").mkdir()
    ssh = tmp_path / "bin" / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    visitor = Visitor(free_port(), tmp_path)
    net = f"user,model=virtio-net-pci,hostfwd=tcp:127.0.0.1:{visitor.port}-:22"
    start = Start(image.kernel, image.initrd, image.disk, devices=("-nic", net))
    visitor.start()
    said = boot(start, SSHD, tmp_path / "boot", {"key.pub": Path(f"{key}.pub")})
    visitor.join(100 * host_factor())
    assert visitor.error is None
    reports = {who: judge(read_bundle(files)) for who, files in visitor.found.items()}
    assert {who: r.root for who, r in reports.items()} == {
        "root": True,
        "able": True,
        "plain": False,
    }
    assert all("cloud-amd64" in r.facts.kernel for r in reports.values())
    assert "nothing is left" in said
    brought = Report.model_validate_json((tmp_path / "report.json").read_bytes())
    assert brought.root and "cloud-amd64" in brought.facts.kernel
