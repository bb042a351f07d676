# SPDX-License-Identifier: GPL-2.0-only
"""What a build of packages needs of disk, memory and time, said before it starts."""

from __future__ import annotations

from pathlib import Path

from lull.deb.flavour import Flavour
from lull.deb.record import Cost
from lull.host.resources import GB

#: Of disk, in bytes, beside the sources: the objects, the packages as they are
#: put together and packed, and what ccache keeps. Estimates with room to spare.
DISK = {Flavour.CLOUD: 8 * GB, Flavour.AMD64: 25 * GB}


#: Of who has never built it here: estimated from the first 500 of some 6,500
#: objects of cloud-amd64, at half a second of CPU each.
_FIRST = {
    Flavour.CLOUD: (
        "memory: 2 GB (an estimate)",
        "time: about an hour of CPU, by that many jobs (an estimate)",
    ),
    Flavour.AMD64: (
        "memory: 2 GB (an estimate)",
        "time: about four times cloud-amd64's hour of CPU, as it has four times the "
        "modules (an estimate)",
    ),
}


#: Whose kernel it is, by what Debian has left out of it.
_FOR = {
    Flavour.CLOUD: "for virtual machines only, no USB, graphics, WLAN",
    Flavour.AMD64: "for all machines",
}


#: Of UEFI, where the machine was started by it: the variable with its vendor's number.
SECURE_BOOT = Path(
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
)


def is_secure(variable: bytes) -> bool:
    """Whether Secure Boot is on, from all bytes of its variable: four of attributes,
    then 1."""
    return variable[4:] == b"\x01"


def boots_securely(variable: Path = SECURE_BOOT) -> bool:
    """Whether Secure Boot is on here; not where it cannot be told."""
    try:
        return is_secure(variable.read_bytes())
    except OSError:
        return False


def needs_text(
    flavour: Flavour,
    jobs: int,
    cost: Cost | None,
    ccache: bool,
    secure_boot: bool = False,
) -> str:
    """What it takes, in a few lines; ``cost`` is the last build's on this machine."""
    lines = [
        f"linux-image of Debian's {flavour} with Lull, {jobs} jobs:",
        f"  {flavour}: {_FOR[flavour]}",
        "  it is not signed, and so without lockdown and FIPS mode; and without SMC",
        "  sockets, debugging information and BTF",
    ]
    if secure_boot:
        lines.append(
            "  Secure Boot is on here: this kernel does not start until it is off "
            "(in the firmware's settings)"
        )
    lines.append(f"  disk: {DISK[flavour] // GB} GB below the cache")
    if cost is not None:
        lines[-1] += f"; the tree alone took {cost.disk_mb / 1000:.1f} GB the last time"
        lines += [
            f"  memory: its largest process had {cost.largest_mb} MiB the last time",
            f"  time: {hours(cost.seconds)} the last time here ({cost.jobs} jobs, "
            f"{hours(cost.cpu_seconds)} of CPU)",
        ]
    else:
        lines += [f"  {text}" for text in _FIRST[flavour]]
    if not ccache:
        lines.append(
            "  without ccache a build that is killed starts from nothing: "
            "sudo apt-get install ccache"
        )
    lines.append("  to stop it: Ctrl-C, or kill; the same command goes on where it was")
    return "\n".join(lines)


def hours(seconds: float) -> str:
    """1:05 h, or 12 min below an hour."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02} h" if minutes >= 60 else f"{minutes} min"
