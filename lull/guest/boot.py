# SPDX-License-Identifier: GPL-2.0-only
"""One start of the guest: a job in, what it printed out."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lull.errors import GuestFailed
from lull.guest.image import DISK_MB, make_disk
from lull.guest.wake import attended
from lull.host.process import kill_apart, run_alone, start_apart
from lull.host.programs import tail
from lull.model import Clock
from lull.vm.accel import choose
from lull.vm.command import (
    OVERHEAD_MB,
    Accel,
    MachineSpec,
    Wiring,
    qemu_command,
)
from lull.vm.console import scan
from lull.vm.machine import (
    RESULTS,
    require_memory,
    require_qemu,
    scratch_room,
    wiring_in,
)
from lull.vm.outcome import Ending, failure, message
from lull.vm.timeouts import host_factor
from lull.vm.turns import require_turns

MEMORY_MB = 1024
LIMIT_S = 600.0  #: for all of a start, on the machine that README's times are of
_JOB_MB = 16  #: on the job's disk, beside what the files take
_NVDIMM_MB = 128  #: what the size of an NVDIMM is a multiple of


@dataclass(frozen=True)
class Start:
    """What is started: a kernel, its initramfs, and the disk with the root.

    With ``keep`` what the guest writes stays on the disk; else it is gone with it.
    ``onto`` is one more disk, which it may write to; ``devices`` are more words of
    QEMU's command line, for more devices. By ``firmware`` it is the
    disk's boot loader that finds a kernel, and ``kernel`` only says by what it runs.

    On the clock insn, root and job are in memory (lull.guest.image.More), and what is
    written there is gone; ``onto`` and ``firmware`` do not go with it. ``seed`` moves
    the guest's date, as anywhere in the lab.
    """

    kernel: Path
    initrd: Path
    disk: Path
    keep: bool = False
    onto: Path | None = None
    firmware: bool = False
    devices: tuple[str, ...] = ()
    clock: Clock = Clock.WALL
    seed: int = 0
    memory_mb: int = MEMORY_MB


def boot(
    start: Start,
    job: str,
    folder: Path,
    files: Mapping[str, Path] | None = None,
    limit_s: float = LIMIT_S,
) -> str:
    """Run ``job``, a shell script, in the guest, and return what it printed.

    ``files`` lie beside it, by their names there. ``console.log``, ``results.raw``
    and ``qemu.log`` are left in ``folder``, which is made.

    Raises CannotRun, GuestPanic, TimedOut and LostVM as a boot of the lab does, and
    GuestFailed where the script's status is not 0.
    """
    require_qemu()
    require_memory(start.memory_mb + OVERHEAD_MB)
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_room() as scratch:
        job_disk = _job_disk(scratch, job, files or {})
        wiring = wiring_in(folder, scratch, start.clock)
        wiring = replace(wiring, initramfs=start.initrd)
        command = guest_command(start, wiring, job_disk)
        return said(live(command, wiring, folder, limit_s), folder)


def live(command: list[str], wiring: Wiring, folder: Path, limit_s: float) -> bytes:
    """QEMU's life, from its command to its end: what came by the port.

    ``qemu.log`` is left in ``folder``. Raises as ``boot`` does, but for what the guest
    itself has said.
    """
    ending = run_alone(_live(command, wiring, folder, limit_s))
    error = failure(ending, scan(ending.console), folder)
    if error is not None:
        raise error
    require_turns(wiring.turns, folder)
    return ending.results


def _job_disk(scratch: Path, job: str, files: Mapping[str, Path]) -> Path:
    inside = scratch / "job"
    inside.mkdir()
    (inside / "job").write_text(job, "utf-8")
    for name, path in files.items():
        shutil.copy(path, inside / name)  # a program stays one
    size = sum(path.stat().st_size for path in inside.iterdir()) >> 20
    disk = scratch / "job.ext4"
    size += size // 8 + _JOB_MB
    make_disk(inside, disk, -(-size // _NVDIMM_MB) * _NVDIMM_MB)
    return disk


def guest_command(
    start: Start, wiring: Wiring, job_disk: Path, accel: Accel | None = None
) -> list[str]:
    """QEMU's command line; ``accel`` is tried out where it is not given."""
    insn = start.clock is Clock.INSN
    spec = MachineSpec(
        kernel=start.kernel,
        clock=start.clock,
        accel="tcg" if insn else accel or choose(start.kernel).accel,
        memory_mb=start.memory_mb,
        seed=start.seed,
        append=("root=/dev/pmem0" if insn else "root=/dev/vda", "rw"),
    )
    words = qemu_command(spec, wiring)
    if start.firmware:
        words = without(words, "-kernel", "-initrd", "-append")
    if insn:
        return [*_in_memory(words, (start.disk, job_disk), spec), *start.devices]
    disks = [
        (start.disk, "snapshot=off" if start.keep else "snapshot=on"),
        (job_disk, "readonly=on"),
    ]
    if start.onto is not None:
        disks.append((start.onto, "snapshot=off"))
    for disk, how in disks:
        words += ["-drive", f"file={_escape(disk)},if=virtio,format=raw,{how}"]
    return [*words, *start.devices]


def _in_memory(
    words: Sequence[str], disks: Sequence[Path], spec: MachineSpec
) -> list[str]:
    """The command with the disks as NVDIMMs: a device would answer when the host has
    read what it was asked for, memory is there. What is written is a copy."""
    sizes = [-(-_size_mb(disk) // _NVDIMM_MB) * _NVDIMM_MB for disk in disks]
    most = spec.memory_mb + sum(sizes)
    memory = f"{spec.memory_mb}M,slots={len(disks)},maxmem={most}M"
    words = [*without(words, "-machine", "-m"), "-machine", "pc,nvdimm=on"]
    words += ["-m", memory]
    for i, (disk, size) in enumerate(zip(disks, sizes, strict=True)):
        backend = f"memory-backend-file,id=disk{i},share=off,size={size}M"
        words += ["-object", f"{backend},mem-path={_escape(disk)}"]
        words += ["-device", f"nvdimm,id=nvdimm{i},memdev=disk{i}"]
    return words


def _size_mb(disk: Path) -> int:
    return disk.stat().st_size >> 20 if disk.exists() else DISK_MB


def _escape(path: Path) -> str:
    """A path as a value of a QEMU option, where commas separate."""
    return str(path).replace(",", ",,")


def without(words: Sequence[str], *options: str) -> list[str]:
    """A command without these options and the value of each."""
    left = iter(words)
    kept = []
    for word in left:
        if word in options:
            next(left)
        else:
            kept.append(word)
    return kept


async def _live(
    command: list[str], wiring: Wiring, folder: Path, limit_s: float
) -> Ending:
    """QEMU's life; nothing of it is left on any way out."""
    for path in (wiring.console, wiring.results):
        path.unlink(missing_ok=True)
    limit = limit_s * host_factor()
    gave_up = None
    log = folder / "qemu.log"
    async with attended(wiring.qmp):
        with log.open("wb") as stderr:
            process = await start_apart(command, stderr)
        try:
            await asyncio.wait_for(process.wait(), limit)
        except TimeoutError:
            gave_up = f"not done in {limit:.0f} s"
        finally:
            killed = await kill_apart(process)
    return Ending(
        results=bytes_of(wiring.results),
        console=bytes_of(wiring.console),
        stderr=log.read_bytes(),
        returncode=process.returncode or 0,
        gave_up=gave_up,
        killed=killed,
        reason="",
        events=(),
    )


def bytes_of(path: Path) -> bytes:
    """What a boot has left in a file; nothing where there is none."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def said(results: bytes, folder: Path) -> str:
    """What the script printed, from all that came by the port until it was done.

    Raises GuestFailed where its exit status is not 0.
    """
    printed: list[str] = []
    status: object = None
    for line in results.split(b"\n"):
        kind, members = message(line)
        if kind == "done":
            status = members.get("status")
            break
        printed.append(line.decode("utf-8", "replace").rstrip("\r"))
    text = "\n".join(printed)
    if status is None:
        raise GuestFailed(
            f"the guest ended before the script did, which may have powered it off\n"
            f"{tail(text)}",
            where=str(folder),
            hint=f"all that it printed is in {folder / RESULTS}",
        )
    if status != 0:
        raise GuestFailed(
            f"the script in the guest ended with status {status}\n{tail(text)}",
            where=str(folder),
            hint=f"all that it printed is in {folder / RESULTS}",
        )
    return text
