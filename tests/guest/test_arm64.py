# SPDX-License-Identifier: GPL-2.0-only
"""The collector on arm64: Debian's kernel, under emulation, and what it sees there."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.doctor.bundle import read_bundle
from lull.doctor.collect import build_collector, unpack
from lull.doctor.findings import judge
from lull.errors import CannotRun
from lull.guest.image import SUITE
from lull.host.files import repo_root
from lull.vm.cpio import initramfs
from lull.vm.timeouts import host_factor

QEMU = "qemu-system-aarch64"
PACKAGES = "linux-image-cloud-arm64,busybox-static"

INIT = """\
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /var/lib
sleep 1000 &
lull-probe collect --measure attach --times 3 --yes - > /tmp/seen.tar
echo "=="
gzip < /tmp/seen.tar | base64
echo "== $?"
poweroff -f
"""


@pytest.mark.default_base
@pytest.mark.proof
@pytest.mark.seconds(120)
def test_a_boot_on_arm64(tmp_path: Path) -> None:
    for tool in (QEMU, "mmdebstrap"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not in PATH")
    root = tmp_path / "debian"
    words = ["--architectures=arm64", "--variant=extract", f"--include={PACKAGES}"]
    subprocess.run(["mmdebstrap", "--quiet", *words, SUITE, root], check=True)
    (kernel,) = root.glob("boot/vmlinuz-*-cloud-arm64")
    try:
        program = build_collector(repo_root(), "aarch64").read_bytes()
    except CannotRun as error:
        pytest.skip(f"{error}: {error.hint}")
    shell = (root / "bin" / "busybox").read_bytes()
    files = {"bin/busybox": shell, "bin/lull-probe": program}
    (tmp_path / "initramfs").write_bytes(initramfs(INIT.encode(), "", files))
    done = subprocess.run(
        [
            *(QEMU, "-machine", "virt", "-cpu", "cortex-a57", "-smp", "2", "-m", "512"),
            *("-nographic", "-no-reboot", "-nic", "none", "-kernel", kernel),
            *("-initrd", tmp_path / "initramfs"),
            *("-append", "console=ttyAMA0 panic=-1 quiet"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300 * host_factor(),
        check=True,
    )
    said = done.stdout.decode("utf-8", "replace").replace("\r", "")
    found = re.search(r"^==\n([A-Za-z0-9+/=\n]+)\n== 0$", said, re.MULTILINE)
    assert found is not None, said[-2000:]
    report = judge(
        read_bundle(unpack(gzip.decompress(base64.b64decode(found.group(1)))))
    )
    assert report.root and report.facts.machine == "aarch64"
    assert "cloud-arm64" in report.facts.kernel
    attach = report.facts.measured.attach
    assert attach is not None and attach.n == 3 and not report.facts.measured.missing
    assert any(wait.name == "nanosleep" for wait in report.facts.waits), report.facts
