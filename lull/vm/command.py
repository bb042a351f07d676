# SPDX-License-Identifier: GPL-2.0-only
"""The command line of QEMU for one machine. Pure: nothing is started here.

What makes the ``insn`` clock deterministic is all in this file:

- ``-icount shift=0,sleep=off``: the guest's clock counts instructions, and an
  idle guest's clock jumps to its next timer;
- ``-rtc base=...,clock=vm``: the date comes from the seed, not from the host;
- a CPU model without RDRAND, and ``-seed``: no randomness of the host;
- ``turns.c``, loaded into QEMU: what sets an idle guest's clock forward does so
  when all instructions up to there are counted;
- files, not sockets, behind the console and the results, and no ioeventfd:
  the guest spins until the host took its output, and only a write done in
  the vCPU's own thread takes the same number of spins each time;
- no timer of the host's time in QEMU (an ``id`` of a port, which makes it report
  changes, or a resumed guest would have some): the CPUs' slices end at these, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from lull.model import Clock

QEMU = "qemu-system-x86_64"
RESULTS_PORT = "lull.results"  #: /sys/class/virtio-ports/*/name in the guest
HANDOVER_PORT = "lull.handover"  #: the same, of a machine that stands by

Accel = Literal["kvm", "tcg"]

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_LATEST_SEED = 10 * 365 * 24 * 3600  #: keeps the RTC's date in this century

# QEMU's code cache defaults to a share of the host's memory, up to 1 GiB; a
# fixed one makes the memory that a run needs a number we can check for.
_TB_SIZE_MB = 256

#: MiB that QEMU takes beside the guest's own memory.
OVERHEAD_MB = _TB_SIZE_MB + 128

# ``quiet`` must not be here: it hides lockdep's reports from the console.
# Preemption differs between kernel versions unless it is pinned. The TSC is
# the cheap clock; tsc=reliable turns off the watchdog that may give it up for
# a slow one when the host is busy and the virtual CPUs lag.
_WORDS = (
    "console=ttyS0",
    "nokaslr",
    "panic=-1",
    "preempt=none",
    "tsc=reliable",
)

# The kernel counts ticks while it spins to see whether the timer works, and panics
# where none came: on a host that is busy just then QEMU's come too late.
_WALL_WORDS = ("no_timer_check",)


@dataclass(frozen=True)
class MachineSpec:
    """The machine that a guest gets.

    ``seed`` (seconds, from 0) moves the date of the guest's RTC and nothing
    else; ``memory_mb`` is in MiB; ``append`` are more words of the kernel's
    command line, and ``plugin`` is what ``-plugin`` takes, under TCG alone.
    ``parallel`` lets TCG run the CPUs at once on the wall clock, for a guest
    that does not patch its own code meanwhile; KVM always does. ``packages``
    gives each CPU a package of its own: the BIOS's MP table, by which a kernel
    without ACPI finds its CPUs, has one of each package.
    """

    kernel: Path
    clock: Clock
    accel: Accel = "tcg"
    cpus: int = 2
    memory_mb: int = 1024
    seed: int = 0
    append: tuple[str, ...] = ()
    plugin: str = ""
    parallel: bool = False
    packages: bool = False

    def __post_init__(self) -> None:
        """Refuse with ValueError what QEMU would misread."""
        if self.clock is Clock.INSN and self.accel != "tcg":
            raise ValueError("the insn clock needs TCG: KVM counts no instructions")
        if not 0 <= self.seed <= _LATEST_SEED:
            raise ValueError(f"a seed is 0 to {_LATEST_SEED}, not {self.seed}")
        if self.plugin and self.accel != "tcg":
            raise ValueError("plugins need TCG")
        if self.cpus < 1 or self.memory_mb < 64:
            raise ValueError("a machine needs a CPU and 64 MiB")
        for word in self.append:
            if not word or any(c.isspace() for c in word):
                raise ValueError(f"not one word of a kernel command line: {word!r}")


@dataclass(frozen=True)
class Wiring:
    """The files on the host that one boot of a machine reads and writes."""

    initramfs: Path
    console: Path  #: what ttyS0 prints
    results: Path  #: what is written to the port lull.results
    qmp: Path  #: a unix socket on which the lab listens and QEMU connects
    standby: StandbyWiring | None = None
    turns: Path | None = None  #: ``turns.c`` as it is loaded, on the clock insn


@dataclass(frozen=True)
class StandbyWiring:
    """What a machine has more that stands by, or was resumed from there."""

    memory: Path  #: a file of the size of the guest's memory, which is that memory
    handover: Path  #: of ``handover.in``, from which the guest reads, and ``.out``
    resumed: bool  #: what the guest writes to its memory does not go to the file


#: What stands for the files of a boot that is only described.
PLACEHOLDERS = Wiring(
    initramfs=Path("INITRAMFS"),
    console=Path("CONSOLE"),
    results=Path("RESULTS"),
    qmp=Path("QMP"),
    turns=Path("TURNS"),
)


def kernel_words(spec: MachineSpec) -> str:
    """The kernel's command line."""
    wall = _WALL_WORDS if spec.clock is Clock.WALL else ()
    return " ".join((*_WORDS, *wall, *spec.append))


def rtc_base(seed: int) -> str:
    """The date that a seed stands for, as ``-rtc base=`` takes it (UTC)."""
    return (_EPOCH + timedelta(seconds=seed)).strftime("%Y-%m-%dT%H:%M:%S")


def _clock_options(spec: MachineSpec) -> list[str]:
    base = f"base={rtc_base(spec.seed)}"
    if spec.clock is Clock.INSN:
        return [
            *("-accel", f"tcg,tb-size={_TB_SIZE_MB}"),
            *("-icount", "shift=0,sleep=off"),
            *("-rtc", f"{base},clock=vm"),
            *("-cpu", "qemu64"),
            *("-seed", "1"),
            # By its name the thread of the CPUs is found.
            *("-name", "debug-threads=on"),
        ]
    if spec.accel == "kvm":
        return ["-accel", "kvm", "-rtc", base, "-cpu", "host"]
    threads = "multi" if spec.parallel else "single"
    return [
        # One thread for all virtual CPUs, unless a mode stays: QEMU 7.2 with a
        # thread for each was seen to run a breakpoint that the kernel had taken
        # away again after it patched a static key (Oops: int3). A stale jump
        # would be worse, for nobody would notice.
        *("-accel", f"tcg,thread={threads},tb-size={_TB_SIZE_MB}"),
        *("-rtc", base),
        *("-cpu", "qemu64"),
    ]


def qemu_command(spec: MachineSpec, wiring: Wiring) -> list[str]:
    """The words that start QEMU; no shell has to see them."""
    return [
        *_loaded(spec, wiring),
        QEMU,
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none"),
        # Not microvm: the guest has to suspend and resume.
        *("-machine", "pc,memory-backend=ram" if wiring.standby else "pc"),
        *_clock_options(spec),
        *(("-plugin", spec.plugin) if spec.plugin else ()),
        *(
            "-smp",
            f"{spec.cpus},sockets={spec.cpus}" if spec.packages else f"{spec.cpus}",
        ),
        *("-m", f"{spec.memory_mb}M"),
        *("-nic", "none"),
        *("-kernel", str(spec.kernel)),
        *("-initrd", str(wiring.initramfs)),
        *("-append", kernel_words(spec)),
        *("-chardev", _console(wiring)),
        *("-serial", "chardev:console"),
        *("-chardev", f"file,id=results,path={_escape(wiring.results)}"),
        *("-device", "virtio-serial-pci,ioeventfd=off"),
        *("-device", f"virtserialport,chardev=results,name={RESULTS_PORT}"),
        *(_standby_options(spec, wiring.standby) if wiring.standby else ()),
        *("-qmp", f"unix:{_escape(wiring.qmp)},server=off"),
    ]


def _loaded(spec: MachineSpec, wiring: Wiring) -> list[str]:
    if spec.clock is not Clock.INSN or wiring.turns is None:
        return []
    return ["env", f"LD_PRELOAD={wiring.turns}"]


def _standby_options(spec: MachineSpec, wiring: StandbyWiring) -> list[str]:
    memory = (
        f"memory-backend-file,id=ram,size={spec.memory_mb}M,"
        f"mem-path={_escape(wiring.memory)},share={'off' if wiring.resumed else 'on'}"
    )
    return [
        *("-object", memory),
        *("-chardev", f"pipe,id=handover,path={_escape(wiring.handover)}"),
        *("-device", f"virtserialport,chardev=handover,name={HANDOVER_PORT}"),
        *(("-incoming", "defer") if wiring.resumed else ()),
    ]


def _console(wiring: Wiring) -> str:
    # What was said until it was saved comes first.
    resumed = wiring.standby is not None and wiring.standby.resumed
    more = ",append=on" if resumed else ""
    return f"file,id=console,path={_escape(wiring.console)}{more}"


def _escape(path: Path) -> str:
    """A path as a value of a QEMU option, where commas separate."""
    return str(path).replace(",", ",,")
