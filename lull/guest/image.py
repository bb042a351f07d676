# SPDX-License-Identifier: GPL-2.0-only
"""Disks of a Debian: as its archive has it, and with packages installed in it.

Each is built once, and is whole in the cache or not there at all.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid5

from lull.deb.flavour import Flavour
from lull.errors import CannotRun, LabError
from lull.host.files import digest
from lull.host.programs import run, tail
from lull.host.progress import Progress
from lull.host.trust import is_ours
from lull.kernels.cache import Cache, remove_tree, replace_tree

SUITE = "bookworm"
#: What is installed beside what Debian calls essential, and a kernel of Debian's, which
#: starts the guest into which others are installed, and brings initramfs-tools.
INCLUDE = (
    "apt",
    "dbus",
    "e2fsprogs",
    "fdisk",
    "grub-pc",
    "kmod",
    "nfs-kernel-server",
    "openssh-server",
    "sudo",
    "systemd-sysv",
    "udev",
    "zstd",
)
#: Not started by themselves: each start of the guest would take longer.
_ASLEEP = ("nfs-server", "nfs-client.target", "rpcbind.socket", "rpcbind", "ssh")
DISK_MB = 2048  #: of the disk; what nothing was written to takes no room
_NAMES = UUID("6c756c6c-0000-4000-8000-000000000000")  #: of disks' file systems
_NEED = 3 << 30  #: bytes, of the cache, while one is built

_FILES = Path(__file__).with_name("files")
#: The file of files/ -> its place in the guest and its mode.
_PLACES = {
    "lull-guest": ("usr/local/sbin", 0o755),
    "lull-guest.service": ("etc/systemd/system", 0o644),
}
#: The cache in which root makes disks for all users of a machine. Root uses none of a
#: user's, in which the user could change what root is about to run, follow or remove.
SHARED = Path("/var/cache/lull")
_HINT = "apt-get install mmdebstrap e2fsprogs"


@dataclass(frozen=True)
class More:
    """What a disk has beside the base's: packages of Debian's, of whose services
    ``asleep`` are not started by themselves. It also starts from memory: with a root
    and a job on NVDIMMs, where no device answers when it likes (clock insn)."""

    packages: tuple[str, ...] = ()
    asleep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Image:
    """A disk, what boots it, and the key of all that it was made from."""

    directory: Path
    key: str

    @property
    def disk(self) -> Path:
        """An ext4 file system, for good: who writes takes a copy, or a snapshot."""
        return self.directory / "disk.ext4"

    @property
    def kernel(self) -> Path:
        """The one that its newest package has."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """What the hooks of that package have made for it."""
        return self.directory / "initrd.img"

    @property
    def packages(self) -> Path:
        """Name and version of each package, a line each."""
        return self.directory / "packages.txt"

    @property
    def whole(self) -> bool:
        """``packages.txt`` is written last, and the folder is renamed then."""
        return self.packages.is_file()


#: For a root in memory: what drives an NVDIMM, and the names that disks have.
_MODULES = "nfit\nnd_pmem\n"
_RULES = """\
KERNEL=="pmem0", SYMLINK+="vda"
KERNEL=="pmem1", SYMLINK+="vdb"
"""


def base_key(flavour: Flavour, more: More | None = None) -> str:
    """The key of the disk as Debian has it, or with more."""
    files = [(_FILES / name).read_bytes() for name in _PLACES]
    key = digest(SUITE, *_packages(flavour), "", *_ASLEEP, str(DISK_MB), *files)
    if more is None:
        return key
    return digest(key, *more.packages, "", *more.asleep, _MODULES, _RULES)


def _packages(flavour: Flavour) -> tuple[str, ...]:
    return (*INCLUDE, f"linux-image-{flavour}")


def base_image(
    cache: Cache,
    progress: Progress,
    flavour: Flavour = Flavour.CLOUD,
    more: More | None = None,
) -> Image:
    """Debian, with what runs a job at its start: from the cache, or that in which root
    makes them for all, else built.

    With ``more`` it is a disk of its own.

    Raises CannotRun where the machine or the archive lacks something.
    """
    image = place_of(cache, base_key(flavour, more))
    with cache.lock("guest", lambda text: progress.update(text, 0, 0)):
        if not image.whole and not take(cache, image.directory, progress):
            need_tools()
            cache.need(_NEED, "building the guest's disk")
            progress.step(f"Debian {SUITE} for the guest, some minutes")
            with cache.temp("guest") as temp:
                _build(temp / "root", temp / "new", flavour, more)
                publish(temp / "new", image)
    return image


def place_of(cache: Cache, key: str) -> Image:
    """Where the disk of that key is, or would be."""
    return Image(cache.root / "guest" / key, key)


def publish(new: Path, image: Image) -> None:
    """Put a folder in which all is there into its place."""
    image.directory.parent.mkdir(parents=True, exist_ok=True)
    replace_tree(new, image.directory)


def take(cache: Cache, place: Path, progress: Progress) -> bool:
    """Copy what root has made for all users to its place in the cache; whether there
    is such. Whole in its place, as all that is there, and nobody else's than root's."""
    made = SHARED / "guest" / place.name
    if not os.access(made, os.R_OK) or not is_ours(made):
        return False
    cache.need(_NEED, "copying the guest's disk")
    progress.step(f"the guest, as root has made it in {SHARED}")
    with cache.temp("guest") as temp:
        copy_disk(made, temp / "new")
        replace_tree(temp / "new", place)
    return True


def need_tools() -> None:
    """Raise CannotRun where a disk cannot be built."""
    for tool in ("mmdebstrap", "mke2fs", "debugfs"):
        if shutil.which(tool) is None:
            raise CannotRun(f"{tool} is not in PATH", hint=_HINT)
    if os.geteuid() != 0:
        raise CannotRun(
            "a Debian is unpacked and set up as root only",
            where="lull guest",
            hint=as_root(sys.argv),
        )


def as_root(words: Sequence[str]) -> str:
    """What a user does to have a disk: root makes it where root makes them for all, and
    the user gives the same command again. So nothing of the user's is root's, neither
    what else the command makes, nor the cache, of which root would use nothing."""
    ours = Path(words[0]).name == "lull"
    build = [words[0] if ours else ".venv/bin/lull", "guest", "build"]
    # Who is neither of these may want any of the disks.
    plain = tuple(words[1:3]) in (("guest", "build"), ("guest", "run"))
    if not plain or "--scenarios" in words:
        build.append("--scenarios")
    # Whatever umask the user has: what root makes is to be read.
    place = shlex.quote(str(SHARED.parent))
    make = f"umask 022 && XDG_CACHE_HOME={place} exec {shlex.join(build)}"
    steps = [["sudo", "sh", "-c", make]]
    if ours and [*words] != build:
        steps.append([*words])
    return " && ".join(map(shlex.join, steps))


def make_disk(folder: Path, disk: Path, megabytes: int) -> None:
    """An ext4 file system with what is in a folder. Raises LabError.

    Its name and the order of its directories are the same each time: on the clock
    insn they would count.
    """
    with disk.open("wb") as file:
        file.truncate(megabytes << 20)
    name = str(uuid5(_NAMES, disk.name))
    words = ["mke2fs", "-q", "-F", "-t", "ext4", "-U", name]
    _must([*words, "-E", f"hash_seed={name}", "-d", folder, disk], str(disk))


def copy_disk(disk: Path, new: Path) -> None:
    """A copy to write to, which takes the room of what is in it; also of a folder."""
    _must(["cp", "-R", "--sparse=always", "--reflink=auto", disk, new], str(new))


def _build(root: Path, new: Path, flavour: Flavour, more: More | None) -> None:
    packages, asleep = [*_packages(flavour)], [*_ASLEEP]
    commands = []
    if more is not None:
        packages += more.packages
        asleep += more.asleep
        commands = _in_memory()
    commands.append(f'chroot "$1" systemctl disable {" ".join(asleep)}')
    hooks = [f"--customize-hook={command}" for command in commands]
    words = ["--variant=minbase", f"--include={','.join(packages)}", *hooks]
    _must(["mmdebstrap", "--quiet", *words, SUITE, str(root)], SUITE)
    for name, (place, mode) in _PLACES.items():
        there = root / place / name
        there.write_bytes((_FILES / name).read_bytes())
        there.chmod(mode)
    wanted = root / "etc/systemd/system/multi-user.target.wants"
    wanted.mkdir(parents=True, exist_ok=True)
    (wanted / "lull-guest.service").symlink_to("../lull-guest.service")
    (root / "etc/hostname").write_text("lull\n")
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
    new.mkdir()
    names = sorted(path.name for path in (root / "boot").iterdir())
    kernel = newest_kernel(names)
    shutil.copyfile(root / "boot" / f"vmlinuz-{kernel}", new / "vmlinuz")
    shutil.copyfile(root / "boot" / f"initrd.img-{kernel}", new / "initrd.img")
    make_disk(root, new / "disk.ext4", DISK_MB)
    listed = _must(
        ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W"], "dpkg-query"
    )
    (new / "packages.txt").write_text(listed)
    remove_tree(root)


def _in_memory() -> list[str]:
    """Commands that prepare a root, $1, for a start from memory."""
    places = {
        "initramfs-tools/modules": _MODULES,
        "udev/rules.d/60-lull-memory.rules": _RULES,
    }
    write = [
        f'printf %s {shlex.quote(text)} >> "$1/etc/{place}"'
        for place, text in places.items()
    ]
    return [*write, 'chroot "$1" update-initramfs -u']


def newest_kernel(names: Sequence[str]) -> str:
    """Of the files in /boot: the release whose kernel and initramfs are there.

    One of Lull before others. Raises LabError where there is none.
    """
    initrds = {name.removeprefix("initrd.img-") for name in names}
    found = [
        release
        for name in names
        if name.startswith("vmlinuz-")
        and (release := name.removeprefix("vmlinuz-")) in initrds
    ]
    if not found:
        raise LabError(
            f"no kernel with its initramfs among: {', '.join(names) or 'nothing'}",
            where="the guest's /boot",
        )
    return max(found, key=lambda release: ("-lull-" in release, by_version(release)))


def by_version(release: str) -> list[int | str]:
    """A key that sorts 6.1.0-9 before 6.1.0-40: texts and numbers in turns."""
    parts = re.split(r"(\d+)", release)
    return [int(part) if part.isdigit() else part for part in parts]


def _must(command: Sequence[str | Path], where: str) -> str:
    done = run(command)
    if done.returncode:
        raise LabError(
            f"{command[0]} ended with status {done.returncode}\n{tail(done.stdout)}",
            where=where,
        )
    return done.stdout
