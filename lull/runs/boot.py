# SPDX-License-Identifier: GPL-2.0-only
"""One boot: a kernel, a job, and the records that come back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.ask.job import job_text
from lull.errors import GuestFailed, LabError
from lull.host.files import repo_root
from lull.kernels.bases import base_words
from lull.kernels.record import Kernel
from lull.model import Arm, Clock, Job
from lull.runs.samples import Stream, parse_stream
from lull.trees.guest import guest_files
from lull.vm import machine
from lull.vm.command import Accel, MachineSpec
from lull.vm.outcome import Outcome
from lull.vm.probe_build import build_probe
from lull.vm.standby import Standby
from lull.vm.timeouts import TimeoutPolicy

#: MiB: enough for the 60,000 zombies of the largest case.
MEMORY_MB = 2048

#: How much slower a kernel of the arm runs; the debug arm has KASAN.
SLOWNESS = {Arm.STOCK: 1.0, Arm.LULL: 1.0, Arm.DEBUG: 8.0, Arm.KCSAN: 6.0}

#: For the arms that look for faults: the probe need not wait for the clock to
#: measure by, which takes a second of every boot.
_FAULT_WORDS = ("lull_any_clock=1",)

#: For the arm without ACPI: where the timer is by which the kernel measures its
#: clock, as ACPI would say. The PIT is too short a measure on a busy host.
_NO_ACPI_WORDS = ("pmtmr=0x608",)

#: For kcsan, which has ACPI: no interrupt routing by it. The machine's _PRT is a
#: loop in AML, which is slow there, and the one device that is asked about has
#: MSI-X. Not where figures come from.
_KCSAN_WORDS = ("pci=noacpi",)

#: For the debug arm also: watchdogs, in seconds, that a slow host does not set off,
#: and an end at the first fault. A task that dies with a lock held would hang
#: the guest, whose complaints about that pass for signs of life. A console that
#: is not suspended, so that what is said in a suspend is heard. A watchdog for
#: workloads that can hang, which says so instead of a silent restart. And a block
#: device in memory that takes 30 ms for a request, by a timer.
_DEBUG_WORDS = (
    "no_console_suspend",
    "watchdog_thresh=60",
    "workqueue.watchdog_thresh=120",
    "oops=panic",
    "softdog.soft_panic=1",
    "kasan.fault=panic",
    "null_blk.gb=1",
    "null_blk.memory_backed=1",
    "null_blk.irqmode=2",
    "null_blk.completion_nsec=30000000",
)

#: What an arm's command line has more than others'.
_WORDS = {
    Arm.DEBUG: (*_FAULT_WORDS, *_NO_ACPI_WORDS, *_DEBUG_WORDS),
    Arm.KCSAN: (*_FAULT_WORDS, *_KCSAN_WORDS),
}

#: For the time limits; TCG with an instruction counter is slower than without.
_INSN_SLOWNESS = 2.0

#: The same for a plugin that counts every instruction.
_PLUGIN_SLOWNESS = 3.0


@dataclass(frozen=True)
class Boot:
    """What one boot left: QEMU's side of it, and the probe's."""

    outcome: Outcome
    stream: Stream


def machine_spec(
    image: Path,
    base: str,
    seed: int,
    clock: Clock,
    accel: Accel,
    append: tuple[str, ...] = (),
    plugin: str = "",
    parallel: bool = False,
    arm: Arm = Arm.LULL,
) -> MachineSpec:
    """The machine that every run uses, whatever it measures.

    As ``arm`` needs it, and a kernel of ``base`` on that clock.
    """
    return MachineSpec(
        kernel=image,
        clock=clock,
        accel=accel,
        seed=seed,
        memory_mb=MEMORY_MB,
        append=(*_WORDS.get(arm, ()), *base_words(base, clock), *append),
        plugin=plugin,
        parallel=parallel,
        packages=arm is Arm.DEBUG,
    )


async def boot(
    kernel: Kernel,
    job: Job,
    *,
    clock: Clock,
    accel: Accel,
    folder: Path,
    number: int = 0,
    on_line: Callable[[bytes], None] | None = None,
    append: tuple[str, ...] = (),
    plugin: str = "",
    parallel: bool = False,
    allow: Sequence[str] = (),
    seen: re.Pattern[str] | None = None,
    extra: Mapping[str, bytes] | None = None,
    rooms: Sequence[str] | None = None,
    standby: Standby | None = None,
) -> Boot:
    """Boot ``kernel`` with ``job`` and read what the probe wrote.

    ``number`` is the boot's number in the run and becomes part of each
    sample. ``on_line`` gets each result line as it comes; ``append``, ``plugin``
    and ``parallel`` are as in ``MachineSpec``, ``allow``, ``seen``, ``extra`` and
    ``standby`` as in ``machine.run``, ``rooms`` as in ``build_probe``.
    Raises what that raises, and LabError for a result stream that ends well and
    lacks samples.
    """
    slowness = SLOWNESS[kernel.arm]
    if clock is Clock.INSN:
        slowness *= _INSN_SLOWNESS
    if plugin:
        slowness *= _PLUGIN_SLOWNESS
    spec = machine_spec(
        kernel.bzimage,
        kernel.base,
        job.seed,
        clock,
        accel,
        append,
        plugin,
        parallel,
        arm=kernel.arm,
    )
    try:
        outcome = await machine.run(
            spec,
            probe=build_probe(repo_root(), rooms).read_bytes(),
            job=job_text(job),
            folder=folder,
            policy=TimeoutPolicy(scale=slowness),
            allow=allow,
            seen=seen,
            extra={**guest_files(job), **(extra or {})},
            listener=machine.Listener(result=on_line),
            standby=standby,
        )
    except GuestFailed:
        said = parse_stream((folder / machine.RESULTS).read_bytes())
        # For want of a CPU the probe may not be able to do its job; but what it has
        # found wrong before is not to be lost.
        if all(check.ok for check in said.checks):
            machine.require_cpus(_cpus(said), spec, folder)
        raise
    stream = parse_stream(outcome.results, boot=number, seed=job.seed, arm=kernel.arm)
    machine.require_cpus(_cpus(stream), spec, folder)
    if stream.missing:
        raise LabError(
            f"{stream.missing} of {stream.announced} samples that the probe wrote "
            f"did not arrive; {stream.bad}",
            where=str(folder),
        )
    return Boot(outcome, stream)


def _cpus(stream: Stream) -> int | None:
    return stream.hello.cpus if stream.hello else None
