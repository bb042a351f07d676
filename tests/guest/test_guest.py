# SPDX-License-Identifier: GPL-2.0-only
"""The Debian guest: what is read of it, and README's words followed in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.deb.flavour import Flavour, fetch_config
from lull.deb.plan import plan
from lull.deb.record import Packages, load, packages_dir
from lull.deb.tools import build_tools
from lull.errors import GuestFailed, LabError, UsageError
from lull.guest.boot import Start, boot, said
from lull.guest.image import Image, newest_kernel
from lull.guest.installed import find_packages, installed, names_of
from lull.host.files import repo_root
from lull.host.progress import open_progress
from lull.kernels import source
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.cache import Cache

LULL = "6.12.117-lull-cloud-amd64"


def test_the_kernel_with_lull_is_the_one_that_is_booted() -> None:
    names = [
        "config-6.1.0-40-cloud-amd64",
        "initrd.img-6.1.0-40-cloud-amd64",
        f"initrd.img-{LULL}",
        "vmlinuz-6.1.0-40-cloud-amd64",
        f"vmlinuz-{LULL}",
        "vmlinuz-9.9-without-an-initramfs",
    ]
    assert newest_kernel(names) == LULL
    assert newest_kernel([n for n in names if LULL not in n]) == "6.1.0-40-cloud-amd64"
    with pytest.raises(LabError, match="no kernel with its initramfs"):
        newest_kernel(["vmlinuz-6.1"])


def test_names_are_read_from_debugfs() -> None:
    listing = (
        "debugfs 1.47.0 (5-Feb-2023)\n"
        "/12/040755/0/0/./4096/\n"
        "/2/040755/0/0/../4096/\n"
        f"/14/100644/0/0/vmlinuz-{LULL}/10420736/\n"
        "/0/000000/0/0//3812/\n"
    )
    assert names_of(listing) == [f"vmlinuz-{LULL}"]


def test_packages_that_are_not_there_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="linux-image") as caught:
        find_packages(tmp_path)
    assert "lull kernel deb" in caught.value.hint
    image = tmp_path / f"linux-image-{LULL}_1_amd64.deb"
    image.touch()
    with pytest.raises(UsageError, match="lull-tools"):
        find_packages(tmp_path)
    tools = tmp_path / "lull-tools_0.1.0_amd64.deb"
    tools.touch()
    assert find_packages(tmp_path) == [image, tools]
    (tmp_path / f"linux-image-{LULL}_2_amd64.deb").touch()
    with pytest.raises(UsageError, match=r"_1_amd64.*_2_amd64"):
        find_packages(tmp_path)


def test_a_script_that_fails_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    assert said(b'one\r\ntwo\r\n{"t":"done","status":0}\n', tmp_path) == "one\ntwo"
    with pytest.raises(GuestFailed, match=r"(?s)status 3.*two") as caught:
        said(b'one\ntwo\n{"t":"done","status":3}\n', tmp_path)
    assert "results.raw" in caught.value.hint


def test_a_disk_without_its_list_is_not_whole(tmp_path: Path) -> None:
    image = Image(tmp_path, "key")
    for path in (image.disk, image.kernel, image.initrd):
        path.touch()
    assert not image.whole
    image.packages.touch()
    assert image.whole


def built() -> Packages | None:
    """The packages of this tree's kernel, if they were built."""
    cache, record = Cache(), load_base(DEFAULT_BASE)
    cache.prepare()
    src = source.fetch(record, cache)
    config = fetch_config(record, src, Flavour.CLOUD, cache)
    wanted = plan(record, Flavour.CLOUD, src, config, repo_root())
    return load(packages_dir(cache, wanted.name, wanted.key))


@pytest.mark.proof
@pytest.mark.seconds(600)
def test_what_readme_says_is_followed_in_a_debian(tmp_path: Path) -> None:
    packages = built()
    if packages is None:
        pytest.skip(
            "no packages of this tree: lull kernel deb --flavour cloud-amd64 makes them"
        )
    debs = [packages.directory / n for n in packages.files if "linux-image" in n]
    cache = Cache()
    with open_progress() as progress:
        image = installed(cache, [*debs, build_tools(tmp_path)], progress)
    job = Path(__file__).with_name("acceptance.sh").read_text()
    start = Start(image.kernel, image.initrd, image.disk)
    text = boot(start, job, tmp_path / "boot")
    assert packages.release in text.splitlines()[0]
    before, after = text.split("rtcwake:", 1)
    assert "mode: stock (lull.service" in before
    assert "mode: lull (lull.service" in after
    assert "walks 0" not in after and "walks" in after
    assert "mode: stock (written since" in after
    assert "lull-tools" in image.packages.read_text()
