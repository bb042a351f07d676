# SPDX-License-Identifier: GPL-2.0-only
"""Decides whether the wall clock can have KVM.

That /dev/kvm exists says little: in nested and sandboxed hosts it may open,
make a virtual machine, and then run no guest. So the kernel that is about to
be measured is booted once under KVM without a root file system: it runs all
the way to its well-known panic, or KVM is of no use here. The answer is kept
until the host boots again or QEMU changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from lull.errors import UsageError
from lull.host.files import cache_root, digest, write_file
from lull.host.process import die_with_parent, sigterm_unwinds
from lull.vm.command import QEMU, Accel
from lull.vm.machine import require_qemu
from lull.vm.timeouts import host_factor

ACCEL_VARIABLE = "LULL_ACCEL"

#: Seconds before scaling. A guest that KVM really runs prints its first byte
#: within a fraction of a second and is at its panic after about one.
FIRST_BYTE_S = 3.0
PANIC_S = 10.0

#: They have the table of CPUs, and the timers' places.
_BIOS = ("/usr/share/seabios/bios-256k.bin", "/usr/share/qemu/linuxboot_dma.bin")

_POLL_S = 0.05
_NO_ROOT = re.compile(rb"Kernel panic - not syncing: (?:VFS: |No working init)")


@dataclass(frozen=True)
class Decision:
    """``accel``, and in ``reason`` why, in words to show."""

    accel: Accel
    reason: str


@dataclass(frozen=True)
class Attempt:
    """What a boot under KVM came to after ``seconds``."""

    console: bytes
    stderr: bytes
    ended: bool
    seconds: float


def choose(kernel: Path) -> Decision:
    """KVM where the bzImage ``kernel`` boots under it, else TCG.

    Takes seconds at most, and nothing when it is known from an earlier run.
    ``LULL_ACCEL=kvm`` or ``tcg`` decides without a look; another value is a
    UsageError. Raises CannotRun where QEMU is missing.
    """
    wanted = os.environ.get(ACCEL_VARIABLE)
    if wanted:
        return forced(wanted)
    require_qemu()
    obstacle = device_obstacle(Path("/dev/kvm"))
    if obstacle is not None:
        # Cheap to see and easy to mend: not worth remembering.
        return Decision("tcg", obstacle)
    cached = cache_file(_boot_id(), qemu_version())
    known = recall(cached)
    if known is not None:
        return known
    decision = judge(_attempt(kernel))
    # A cache that cannot be written costs the next run some seconds.
    with suppress(OSError):
        write_file(cached, json.dumps(asdict(decision)).encode())
    return decision


def forced(wanted: str) -> Decision:
    """The decision that the user made; a UsageError for a name unknown."""
    reason = f"{ACCEL_VARIABLE}={wanted}"
    accel: Literal["kvm", "tcg"]
    for accel in ("kvm", "tcg"):
        if wanted == accel:
            return Decision(accel, reason)
    raise UsageError(
        f"{ACCEL_VARIABLE} is {wanted!r}; the accelerators are kvm and tcg"
    )


def device_obstacle(device: Path) -> str | None:
    """Why KVM's device cannot be used; None where it opens."""
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except FileNotFoundError:
        return f"{device} does not exist"
    except PermissionError:
        return f"no permission to open {device} (its group is usually kvm)"
    except OSError as error:
        return f"{device} does not open: {error.strerror}"
    return None


def judge(attempt: Attempt) -> Decision:
    """Pure: what follows from a boot under KVM."""
    took = f"after {attempt.seconds:.1f} s"
    if _NO_ROOT.search(attempt.console):
        return Decision("kvm", f"a guest ran under KVM {took}")
    complaint = attempt.stderr.decode("utf-8", "backslashreplace").strip()
    said = f": {complaint.splitlines()[0]}" if complaint else ""
    if attempt.ended:
        how = f"QEMU ended {took}{said}"
    elif attempt.console:
        how = f"its guest started and got no further {took}{said}"
    else:
        how = f"its guest had printed nothing {took}{said}"
    return Decision("tcg", f"/dev/kvm is there and does not run a guest: {how}")


def cache_file(boot_id: str, version: str) -> Path:
    """Where the answer for this boot of the host and this QEMU is kept."""
    key = hashlib.sha256(f"{boot_id}\n{version}".encode()).hexdigest()[:16]
    return cache_root() / "accel" / f"{key}.json"


def recall(path: Path) -> Decision | None:
    """The answer kept in ``path``; None where there is none that makes sense."""
    try:
        kept = json.loads(path.read_bytes())
        return Decision(forced(str(kept["accel"])).accel, str(kept["reason"]))
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        return None


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # Without one every run looks for itself.
        return str(time.time_ns())


def qemu_version() -> str:
    """What ``qemu-system-x86_64 --version`` prints."""
    done = subprocess.run([QEMU, "--version"], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "backslashreplace")


def emulator() -> str:
    """What names this QEMU, with what its machines boot by."""
    return digest(qemu_version(), *map(_there, _BIOS))


def _there(name: str) -> bytes:
    path = Path(name)
    return path.read_bytes() if path.is_file() else b""


def kvm_command(kernel: Path, console: Path) -> list[str]:
    """QEMU with nothing but a kernel that talks as early as it can."""
    return [
        QEMU,
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none", "-machine", "pc", "-accel", "kvm", "-cpu", "host"),
        *("-smp", "2", "-m", "256M", "-nic", "none"),
        *("-kernel", str(kernel)),
        *("-append", "console=ttyS0 earlyprintk=ttyS0,115200 panic=-1"),
        *("-chardev", f"file,id=console,path={str(console).replace(',', ',,')}"),
        *("-serial", "chardev:console"),
    ]


def _attempt(kernel: Path) -> Attempt:
    factor = host_factor()
    with (
        sigterm_unwinds(),
        tempfile.TemporaryDirectory(prefix="lull-kvm-") as scratch,
        tempfile.TemporaryFile() as stderr,
    ):
        console = Path(scratch) / "console"
        started = time.monotonic()
        # Nothing that takes a lock runs in the child: see die_with_parent().
        process = subprocess.Popen(
            kvm_command(kernel, console),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            process_group=0,
            preexec_fn=die_with_parent(),
        )
        try:
            ended, text = False, b""
            while not ended and not _NO_ROOT.search(text):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
                ended = process.returncode is not None
                with suppress(FileNotFoundError):
                    text = console.read_bytes()
                limit = (PANIC_S if text else FIRST_BYTE_S) * factor
                if time.monotonic() - started > limit:
                    break
            seconds = time.monotonic() - started
        finally:
            process.kill()
            process.wait()
        stderr.seek(0)
        return Attempt(text, stderr.read(), ended, seconds)
