# SPDX-License-Identifier: GPL-2.0-only
"""Machines that stand by, one for each kernel, kept in the cache."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from lull.errors import GuestPanic, LostVM, TimedOut
from lull.host.files import digest, repo_root, untrusted
from lull.host.process import run_alone
from lull.host.resources import GB
from lull.kernels.cache import Cache, link_tree, replace_tree
from lull.kernels.record import Kernel
from lull.model import Arm, Clock, Record
from lull.runs.again import boot_again
from lull.runs.boot import SLOWNESS, machine_spec
from lull.vm.accel import choose, emulator
from lull.vm.command import PLACEHOLDERS, MachineSpec, StandbyWiring, qemu_command
from lull.vm.compile import compiled
from lull.vm.cpio import initramfs
from lull.vm.rest import stand_by
from lull.vm.standby import Standby, recipe
from lull.vm.timeouts import TimeoutPolicy
from lull.vm.tsc import host_khz

#: What one takes on the disk: what a kernel has written of its memory.
_NEED = GB // 2

#: So many stay in the cache, those that were used last.
_KEPT = 6

#: After so long another boots, so that what is tried often is not of one boot alone.
_AGE_S = 86400.0

#: A guest's clock may be wrong by this much: the host's is told to 10 in a million.
_RATE = 1e-3

#: What is said of one beside it.
_ABOUT = "about.json"

#: What makes one, beside the program and QEMU.
_MAKERS = ("lull/vm/rest.py", "lull/vm/qmp.py")


class About(Record):
    """What has to be as it was for one to be used."""

    schema_version: Literal[1] = 1
    made: float  #: seconds since 1970
    khz: int  #: of the host's clock
    boot_s: float
    sizes: tuple[int, ...]  #: of the files, in bytes


#: Those that this process has tried to boot in vain.
_given_up: set[str] = set()

#: Where its files are makes no other machine of it.
NOWHERE = replace(
    PLACEHOLDERS,
    standby=StandbyWiring(Path("MEMORY"), Path("HANDOVER"), resumed=True),
)


@contextmanager
def standing_by(
    kernel: Kernel, say: Callable[[str], None] = lambda text: None
) -> Iterator[Standby | None]:
    """The machine of ``kernel`` that stands by, booted where it is not in the cache.

    It stays until the block ends, whatever becomes of the cache. None under KVM,
    where a boot takes a second, and where none comes up: whoever boots by itself
    finds out why, and is judged by it. Not for who has an event loop.
    """
    accel = choose(kernel.bzimage).accel
    if accel != "tcg":
        yield None
        return
    root = repo_root()
    spec = machine_spec(
        kernel.bzimage, kernel.base, 0, Clock.WALL, accel, arm=kernel.arm
    )
    program = compiled(root, recipe()).read_bytes()
    key = digest(
        kernel.bzimage.read_bytes(),
        *qemu_command(spec, NOWHERE),
        emulator(),
        initramfs(program, ""),
        *((root / name).read_bytes() for name in _MAKERS),
    )
    cache = Cache()
    place = cache.root / "standby" / key
    khz = host_khz(root)
    with cache.temp("resumed") as own:
        with cache.lock(f"standby-{key}", say):
            # Used last: nobody who prunes takes it away meanwhile.
            with suppress(FileNotFoundError):
                os.utime(place)
            why = _distrust(place, khz)
            if why is not None and place.exists():
                say(f"a machine that stands by is forgotten: {why}")
            if why is not None and key not in _given_up:
                say(f"{kernel.arm}: booting a machine that stands by")
                cache.need(_NEED, "a machine that stands by")
                try:
                    _make(cache, place, spec, program, khz, kernel.arm, say)
                    why = None
                except (GuestPanic, LostVM, TimedOut) as error:
                    _given_up.add(key)
                    say(f"no machine stands by: {error.what.splitlines()[0]}")
            if why is None:
                link_tree(place, own / "standby")
        found = own / "standby"
        yield Standby(found, _about(found).boot_s) if why is None else None


def _make(
    cache: Cache,
    place: Path,
    spec: MachineSpec,
    program: bytes,
    khz: int,
    arm: Arm,
    say: Callable[[str], None],
) -> None:
    with cache.temp("standby") as scratch:
        new = scratch / "new"
        policy = TimeoutPolicy(scale=SLOWNESS[arm])

        async def boot() -> Standby:
            return await stand_by(spec, program=program, folder=new, policy=policy)

        standby = run_alone(boot_again(boot, say))
        about = About(
            made=time.time(), khz=khz, boot_s=standby.boot_s, sizes=_sizes(standby)
        )
        (new / _ABOUT).write_text(about.model_dump_json())
        new.chmod(0o700)
        replace_tree(new, place)
    _prune(cache)


def _sizes(standby: Standby) -> tuple[int, ...]:
    return tuple(path.stat().st_size for path in standby.files)


def _about(place: Path) -> About:
    return About.model_validate_json((place / _ABOUT).read_bytes())


def _distrust(place: Path, khz: int) -> str | None:
    """Why the one in ``place`` is not used; ``khz`` is the rate of this host's clock,
    which its kernel was told."""
    try:
        if (why := untrusted(place.stat())) is not None:
            return why
        about = _about(place)
        if about.sizes != _sizes(Standby(place)):
            return "cut off"
    except (OSError, ValidationError):
        return "of another version, or cut off"
    if abs(about.khz - khz) > _RATE * khz:
        return f"its clock has {about.khz} kHz, this host's {khz}"
    if not 0 <= time.time() - about.made < _AGE_S:
        return "not of the last day"
    return None


def _prune(cache: Cache) -> None:
    """Who has resumed one has links of its own to the files."""
    used: list[tuple[float, Path]] = []
    for path in (cache.root / "standby").iterdir():
        with suppress(OSError):
            used.append((path.stat().st_mtime, path))
    for _, path in sorted(used, reverse=True)[_KEPT:]:
        with suppress(OSError):
            cache.discard(path)
