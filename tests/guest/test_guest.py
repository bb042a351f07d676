# SPDX-License-Identifier: GPL-2.0-only
"""The Debian guest: what is read of it, and README's words followed in it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from lull.deb.flavour import Flavour, fetch_config
from lull.deb.plan import plan
from lull.deb.record import Packages, load, packages_dir
from lull.deb.tools import build_tools
from lull.errors import GuestFailed, LabError, UsageError
from lull.guest.boot import Start, boot, said, without
from lull.guest.image import Image, base_image, copy_disk, newest_kernel
from lull.guest.installed import find_packages, installed, names_of
from lull.guest.loader import with_loader
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


def test_firmware_finds_its_kernel_itself() -> None:
    words = ["qemu", "-kernel", "a", "-m", "1G", "-append", "root=x"]
    assert without(words, "-kernel", "-append") == ["qemu", "-m", "1G"]


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


def readme_says() -> list[str]:
    """The commands of README's "On your machine", from apt on."""
    text = (repo_root() / "README.md").read_text("utf-8")
    _, _, section = text.partition("\n## On your machine\n")
    lines = [line.strip() for line in section.split("\n## ")[0].splitlines()]
    first = next(i for i, line in enumerate(lines) if "apt install ./pack" in line)
    return [line for line in lines[first:] if line.startswith("sudo ")]


def test_readme_says_how_to_install_and_look() -> None:
    install, reboot, status = readme_says()
    assert "linux-image" in install and "lull-tools" in install
    assert (reboot, status.split("#")[0].strip()) == ("sudo reboot", "sudo lull status")


def all_holds(text: str, release: str) -> None:
    """What acceptance.sh has printed is what README promises."""
    assert release in text.splitlines()[0]
    before, after = text.split("rtcwake:", 1)
    assert "mode: stock (lull.service" in before
    assert "mode: lull (lull.service" in after
    assert "walks 0" not in after and "walks" in after
    assert "mode: stock (written since" in after


@pytest.fixture(scope="module")
def debs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Path]]:
    """The release, and what README has installed."""
    packages = built()
    if packages is None:
        pytest.skip(
            "no packages of this tree: lull kernel deb --flavour cloud-amd64 makes them"
        )
    image = [packages.directory / n for n in packages.files if "linux-image" in n]
    return packages.release, [*image, build_tools(tmp_path_factory.mktemp("tools"))]


@pytest.mark.proof
@pytest.mark.seconds(600)
def test_packages_boot_in_a_debian_by_what_their_hooks_made(
    debs: tuple[str, list[Path]], tmp_path: Path
) -> None:
    release, files = debs
    with open_progress() as progress:
        image = installed(Cache(), files, progress)
    job = Path(__file__).with_name("acceptance.sh").read_text()
    start = Start(image.kernel, image.initrd, image.disk)
    all_holds(boot(start, job, tmp_path / "boot"), release)
    assert "lull-tools" in image.packages.read_text()


@pytest.mark.proof
@pytest.mark.seconds(900)
def test_what_readme_says_is_followed_to_the_letter(
    debs: tuple[str, list[Path]], tmp_path: Path
) -> None:
    """Debian's own kernel starts from a disk with GRUB; after it ours, by its menu."""
    release, files = debs
    cache = Cache()
    with open_progress() as progress:
        start = with_loader(cache, base_image(cache, progress), progress)
    copy_disk(start.disk, tmp_path / "disk.img")
    start = dataclasses.replace(start, disk=tmp_path / "disk.img", keep=True)
    install, _reboot, status = readme_says()
    place = "mkdir /root/here && cd /root/here && ln -s /run/job packages"
    here = {path.name: path for path in files}
    first = boot(
        start, f"set -e\nuname -r\n{place}\n{install}\n", tmp_path / "1", here, 1200
    )
    assert "lull" not in first.splitlines()[0]
    job = Path(__file__).with_name("acceptance.sh").read_text()
    text = boot(start, f"{job}\n{status}\n", tmp_path / "2")
    all_holds(text, release)
    assert text.count("freeze: freezing processes") == 3
