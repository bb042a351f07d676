# SPDX-License-Identifier: GPL-2.0-only
"""The Debian guest: what is read of it, and README's words followed in it."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.deb import build as builder
from lull.deb.flavour import Flavour
from lull.deb.plan import output_names
from lull.deb.tools import build_tools
from lull.errors import CannotRun, GuestFailed, LabError, UsageError
from lull.guest import cli
from lull.guest.boot import Start, boot, guest_command, said, without
from lull.guest.image import (
    Image,
    More,
    base_image,
    base_key,
    copy_disk,
    make_disk,
    newest_kernel,
)
from lull.guest.installed import PATTERNS, find_packages, installed, names_of
from lull.guest.loader import with_loader
from lull.host.files import repo_root
from lull.host.progress import Progress, open_progress
from lull.kernels.bases import DEFAULT_BASE
from lull.kernels.cache import Cache
from lull.model import Clock
from lull.real.catalog import more
from lull.real.stress import load as load_stress
from lull.vm.command import Wiring

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
    older = [name.replace("6.1.0-40", "6.1.0-9") for name in names]
    both = [name for name in (*names, *older) if LULL not in name]
    assert newest_kernel(both) == "6.1.0-40-cloud-amd64"
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
    with pytest.raises(UsageError, match="linux-headers"):
        find_packages(tmp_path)
    headers = tmp_path / f"linux-headers-{LULL}_1_amd64.deb"
    headers.touch()
    with pytest.raises(UsageError, match="lull-tools"):
        find_packages(tmp_path)
    tools = tmp_path / "lull-tools_0.1.0_amd64.deb"
    tools.touch()
    assert find_packages(tmp_path) == [image, headers, tools]
    (tmp_path / f"linux-image-{LULL}_2_amd64.deb").touch()
    with pytest.raises(UsageError, match=r"_1_amd64.*_2_amd64") as caught:
        find_packages(tmp_path)
    assert "remove the others" in caught.value.hint


def test_a_script_that_fails_is_an_error_with_what_it_said(tmp_path: Path) -> None:
    assert said(b'one\r\ntwo\r\n{"t":"done","status":0}\n', tmp_path) == "one\ntwo"
    with pytest.raises(GuestFailed, match=r"(?s)status 3.*two") as caught:
        said(b'one\ntwo\n{"t":"done","status":3}\n', tmp_path)
    assert "results.raw" in caught.value.hint


def test_a_script_that_powers_off_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(GuestFailed, match=r"(?s)ended before the script did.*one"):
        said(b"one\n", tmp_path)


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


def test_the_scenarios_disks_are_built_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def image(cache: Cache, progress: Progress, more: More | None = None) -> Image:
        asked.append(more)
        return Image(tmp_path, "key")

    def root(packages: Sequence[str], cache: Cache, progress: Progress) -> bytes:
        asked.append(packages)
        return b""

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cli, "base_image", image)
    monkeypatch.setattr(cli, "root_of", root)
    result = CliRunner().invoke(cli.app, ["build", "--scenarios"])
    assert result.exit_code == 0, result.output
    assert asked == [more(), load_stress().packages, None]
    asked.clear()
    assert CliRunner().invoke(cli.app, ["build"]).exit_code == 0
    assert asked == [None]


def test_more_in_an_image_is_another_image() -> None:
    base = base_key(Flavour.CLOUD)
    keys = [base_key(Flavour.CLOUD, More(packages=p)) for p in ((), ("dog",))]
    assert len({base, *keys}) == 3
    assert base_key(Flavour.CLOUD) == base


def test_the_same_files_make_the_same_disk_but_for_its_name(tmp_path: Path) -> None:
    if shutil.which("mke2fs") is None:
        pytest.skip("mke2fs is not in PATH")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "job").write_text("one\n")
    for name in ("a/job.ext4", "b/job.ext4", "a/disk.ext4"):
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        make_disk(inside, place, 16)
    # Of the superblock: the name of the file system, and what hashes are made with.
    names = [
        (tmp_path / name).read_bytes()[1024 + 0x68 : 1024 + 0x78].hex()
        for name in ("a/job.ext4", "b/job.ext4", "a/disk.ext4")
    ]
    assert names[0] == names[1] != names[2]


def test_on_insn_nothing_is_on_a_disk(tmp_path: Path) -> None:
    wiring = Wiring(*(tmp_path / name for name in ("initrd", "c", "r", "q")))
    start = Start(tmp_path / "kernel", tmp_path / "initrd", tmp_path / "a,b.ext4")
    job = tmp_path / "job.ext4"
    job.write_bytes(bytes(128 << 20))
    disks = guest_command(start, wiring, job, "tcg")
    assert "-drive" in disks and "root=/dev/vda" in disks[disks.index("-append") + 1]
    memory = dataclasses.replace(start, clock=Clock.INSN, seed=7)
    words = guest_command(memory, wiring, job)
    assert "-drive" not in words and "shift=0,sleep=off" in words
    assert "root=/dev/pmem0" in words[words.index("-append") + 1]
    assert words.count("-m") == 1 and words.count("-machine") == 1
    assert words[words.index("-m") + 1] == "1024M,slots=2,maxmem=3200M"
    assert any("share=off,size=2048M,mem-path=" in w and "a,,b" in w for w in words)
    assert any("share=off,size=128M" in word for word in words)
    assert "base=2026-01-01T00:00:07,clock=vm" in words


def readme_says() -> list[str]:
    """The commands of README's "On your machine", from apt on."""
    text = (repo_root() / "README.md").read_text("utf-8")
    _, _, section = text.partition("\n## On your machine\n")
    lines = [line.strip() for line in section.split("\n## ")[0].splitlines()]
    first = next(i for i, line in enumerate(lines) if "apt install ./pack" in line)
    return [line for line in lines[first:] if line.startswith("sudo ")]


def test_readme_says_how_to_install_and_look() -> None:
    install, *then, update, purge = (line.split("#")[0] for line in readme_says())
    assert [line.strip() for line in then] == [
        "sudo reboot",
        "sudo lull status",
        "sudo lull set freeze lull",
    ]
    assert "--refresh" in update and "lull-tools" in purge
    # All that lull kernel deb has made, and nothing is named twice.
    names = (*output_names(LULL, "1"), "lull-tools_1_amd64.deb")
    globs = [word for word in install.split() if word.startswith("./packages/")]
    for name in names:
        assert [fnmatch(f"./packages/{name}", glob) for glob in globs].count(True) == 1
    for pattern in PATTERNS:
        assert [fnmatch(name, pattern) for name in names].count(True) == 1
    # What is installed is what goes; Debian's own kernel stays.
    gone = re.findall(r"'([^']+)'", purge)
    for name in output_names(LULL, "1"):
        assert any(fnmatch(name.partition("_")[0], glob) for glob in gone)
    assert not any(fnmatch("linux-image-6.1.0-40-cloud-amd64", glob) for glob in gone)


def all_holds(text: str, release: str) -> None:
    """What acceptance.sh has printed is what README promises."""
    assert release in text.splitlines()[0]
    before, after = text.split("rtcwake:", 1)
    assert "mode: stock (lull.service" in before
    assert "mode: lull (lull.service" in after
    assert "walks 0" not in after and "walks" in after
    assert "mode: stock (written since" in after


# One test, since a second one would keep a worker waiting for the packages.
@pytest.mark.default_base
@pytest.mark.packages
@pytest.mark.seconds(7200)
def test_packages_are_built_and_what_readme_says_of_them_holds(tmp_path: Path) -> None:
    with open_progress() as progress:
        try:
            packages = builder.build(DEFAULT_BASE, Flavour.CLOUD, progress)
        except CannotRun as error:
            pytest.skip(str(error))
    debs = [packages.directory / name for name in packages.files]
    debs.append(build_tools(tmp_path))
    boot_by_what_their_hooks_made(packages.release, debs, tmp_path)
    follow_to_the_letter(packages.release, debs, tmp_path)


def boot_by_what_their_hooks_made(release: str, debs: list[Path], folder: Path) -> None:
    """Direct boot, with the initramfs that was made when apt installed them."""
    with open_progress() as progress:
        image = installed(Cache(), debs, progress)
    job = Path(__file__).with_name("acceptance.sh").read_text()
    start = Start(image.kernel, image.initrd, image.disk)
    all_holds(boot(start, job, folder / "boot"), release)
    assert "lull-tools" in image.packages.read_text()


def follow_to_the_letter(release: str, debs: list[Path], folder: Path) -> None:
    """Debian's own kernel starts from a disk with GRUB; after it ours, by its menu."""
    cache = Cache()
    with open_progress() as progress:
        start = with_loader(cache, base_image(cache, progress), progress)
    copy_disk(start.disk, folder / "disk.img")
    start = dataclasses.replace(start, disk=folder / "disk.img", keep=True)
    install, _reboot, status, switch = readme_says()[:4]
    place = "mkdir /root/here && cd /root/here && ln -s /run/job packages"
    here = {path.name: path for path in debs}
    first = boot(
        start, f"set -e\nuname -r\n{place}\n{install}\n", folder / "1", here, 1200
    )
    assert "lull" not in first.splitlines()[0]
    job = Path(__file__).with_name("acceptance.sh").read_text()
    text = boot(start, f"{job}\n{status}\n{switch}\n", folder / "2")
    all_holds(text, release)
    assert "freeze: lull (it was stock)" in text
    assert text.count("freeze: freezing processes") == 3
