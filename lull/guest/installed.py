# SPDX-License-Identifier: GPL-2.0-only
"""The guest with packages that apt installed in it, as README says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lull.errors import LabError, UsageError
from lull.guest.boot import Start, boot
from lull.guest.image import (
    Image,
    More,
    base_image,
    copy_disk,
    newest_kernel,
    place_of,
    publish,
)
from lull.host.files import digest
from lull.host.programs import run, tail
from lull.host.progress import Progress
from lull.kernels.cache import Cache
from lull.kernels.record import sha256

#: Of what `lull kernel deb` leaves, that which README has installed.
PATTERNS = ("linux-image-*-lull*.deb", "linux-headers-*-lull*.deb", "lull-tools*.deb")

#: The initramfs is made in the guest, by one thread of an emulator.
INSTALL_S = 1200.0

# The list is the image's, and says what a run's figures are of.
_JOB = """\
export DEBIAN_FRONTEND=noninteractive
apt-get install -y ./linux-*-lull*.deb ./lull-tools*.deb || exit
echo installed:
dpkg-query -W
"""


def find_packages(folder: Path) -> list[Path]:
    """The packages in a folder: one for each pattern. Raises UsageError."""
    found: list[Path] = []
    for pattern in PATTERNS:
        here = sorted(folder.glob(pattern))
        if len(here) != 1:
            names = ", ".join(path.name for path in here) or "none"
            hint = "name the folder of lull kernel deb -o FOLDER: --packages FOLDER"
            if here:
                hint = "remove the others: lull kernel deb leaves there what was there"
            raise UsageError(
                f"one {pattern} is wanted, and there is: {names}",
                where=str(folder),
                hint=hint,
            )
        found += here
    return found


def installed(
    cache: Cache,
    packages: Sequence[Path],
    progress: Progress,
    more: More | None = None,
) -> Image:
    """The guest with these packages: from the cache, else installed by apt in it.

    ``more`` is what base_image() takes. Raises what that and boot() raise.
    """
    base = base_image(cache, progress, more=more)
    key = digest(base.key, _JOB, *sorted(sha256(path) for path in packages))
    image = place_of(cache, key)
    with cache.lock("guest", lambda text: progress.update(text, 0, 0)):
        if not image.whole:
            progress.step("apt installs the packages in the guest, some minutes")
            with cache.temp("guest") as temp:
                _install(base, packages, temp / "new", cache.logs / "guest-install")
                publish(temp / "new", image)
    return image


def _install(base: Image, packages: Sequence[Path], new: Path, log: Path) -> None:
    new.mkdir()
    made = Image(new, "")
    copy_disk(base.disk, made.disk)
    start = Start(base.kernel, base.initrd, made.disk, keep=True)
    files = {path.name: path for path in packages}
    said = boot(start, _JOB, log, files, INSTALL_S)
    kernel = newest_kernel(names_of(_debugfs(made.disk, "ls -p /boot")))
    for name, place in (("vmlinuz", made.kernel), ("initrd.img", made.initrd)):
        _debugfs(made.disk, f"dump /boot/{name}-{kernel} {place}")
        if not place.is_file() or not place.stat().st_size:
            raise LabError(f"/boot/{name}-{kernel} cannot be read", where="debugfs")
    _, _, listed = said.partition("installed:\n")
    made.packages.write_text(f"{listed}\n")


def names_of(listing: str) -> list[str]:
    """The names in what ``ls -p`` of debugfs prints: fields between slashes."""
    rows: Iterable[list[str]] = (line.split("/") for line in listing.splitlines())
    return [row[5] for row in rows if len(row) > 6 and row[5] not in (".", "..", "")]


def _debugfs(disk: Path, request: str) -> str:
    done = run(["debugfs", "-R", request, disk])
    if done.returncode:
        raise LabError(f"{request}\n{tail(done.stdout)}", where="debugfs")
    return done.stdout
