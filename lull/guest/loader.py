# SPDX-License-Identifier: GPL-2.0-only
"""A disk that starts by itself: partitioned, with GRUB and what a guest's disk has."""

from __future__ import annotations

from pathlib import Path

from lull.guest.boot import Start, boot
from lull.guest.image import DISK_MB, Image, publish
from lull.host.files import digest
from lull.host.progress import Progress
from lull.kernels.cache import Cache

_DISK = "disk.img"
_MARGIN_MB = 64  #: before and after the partition, and for what it needs itself

# /dev/vdc is the empty one. The root's name is its UUID: it becomes /dev/vda1. What
# GRUB prints goes to the console, too, where a look at a boot that hangs is had.
_JOB = """\
set -e
echo '2048,,L,*' | sfdisk --quiet --label dos /dev/vdc
mkfs.ext4 -q /dev/vdc1
mount /dev/vdc1 /mnt
cp -ax /. /mnt/
for place in dev proc sys; do mount --rbind /$place /mnt/$place; done
echo "UUID=$(blkid -s UUID -o value /dev/vdc1) / ext4 defaults 0 1" > /mnt/etc/fstab
cat >> /mnt/etc/default/grub <<END
GRUB_TIMEOUT=0
GRUB_TERMINAL=serial
GRUB_CMDLINE_LINUX="$(sed 's@root=/dev/vda rw@@' /proc/cmdline)"
END
chroot /mnt grub-install --target=i386-pc /dev/vdc
chroot /mnt update-grub
sync
"""


def with_loader(cache: Cache, image: Image, progress: Progress) -> Start:
    """What starts ``image``'s system by GRUB: the disk is in the cache, else made.

    GRUB starts the newest kernel there is, as on any machine. Raises what boot()
    raises.
    """
    place = Image(cache.root / "guest" / digest(image.key, _JOB), "")
    disk = place.directory / _DISK
    with cache.lock("guest", lambda text: progress.update(text, 0, 0)):
        if not disk.is_file():
            progress.step("a disk with a boot loader for the guest, some minutes")
            with cache.temp("guest") as temp:
                _make(image, temp / "new", cache.logs / "guest-loader")
                publish(temp / "new", place)
    return Start(image.kernel, image.initrd, disk, firmware=True)


def _make(image: Image, new: Path, log: Path) -> None:
    new.mkdir()
    with (new / _DISK).open("wb") as file:
        file.truncate((DISK_MB + _MARGIN_MB) << 20)
    start = Start(image.kernel, image.initrd, image.disk, onto=new / _DISK)
    boot(start, _JOB, log)
