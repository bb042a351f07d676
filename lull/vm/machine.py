# SPDX-License-Identifier: GPL-2.0-only
"""Runs one virtual machine: starts QEMU, follows its output, ends it.

Console and results go to files in the run's folder and are followed there. A
file loses nothing when QEMU or the lab dies, never makes the guest wait, and
so also keeps the insn clock deterministic; a socket does neither.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from qemu.qmp import EventListener, ExecuteError, Message, QMPClient, QMPError

from lull.errors import CannotRun, LabError, Late, NoMemory
from lull.host.process import kill_apart, start_apart
from lull.host.resources import available_mb, total_mb
from lull.model import Clock
from lull.vm.command import (
    OVERHEAD_MB,
    QEMU,
    MachineSpec,
    StandbyWiring,
    Wiring,
    qemu_command,
)
from lull.vm.console import scan
from lull.vm.cpio import initramfs
from lull.vm.outcome import Ending, Outcome, failure, first_report, message
from lull.vm.qmp import accept, gone, hang_up, quit_qemu, resume
from lull.vm.served import ServedClock, threads_of
from lull.vm.standby import Standby, hand_over
from lull.vm.timeouts import TimeoutPolicy, Watchdog, watchdog_here
from lull.vm.tsc import told_rate
from lull.vm.turns import put_turns, require_turns

RESULTS = "results.raw"  #: what the probe has written, in a boot's folder

_POLL_S = 0.1  #: how often the files are looked at
_SOCKET_PATH_MAX = 107

DEFAULT_POLICY = TimeoutPolicy()


@dataclass(frozen=True)
class Listener:
    """What to call while the machine runs; each may be None.

    ``started`` gets QEMU's process id, ``result`` each whole result line,
    ``console`` each piece of console output, as it comes.
    """

    started: Callable[[int], None] | None = None
    result: Callable[[bytes], None] | None = None
    console: Callable[[bytes], None] | None = None


async def run(
    spec: MachineSpec,
    *,
    probe: bytes,
    job: str,
    folder: Path,
    policy: TimeoutPolicy = DEFAULT_POLICY,
    listener: Listener | None = None,
    allow: Sequence[str] = (),
    seen: re.Pattern[str] | None = None,
    extra: Mapping[str, bytes] | None = None,
    standby: Standby | None = None,
) -> Outcome:
    """Boot ``spec`` with ``probe`` as init and wait until it is done.

    ``console.log``, ``results.raw`` and ``qemu.log`` are left in ``folder``,
    which is made. ``allow`` are regular expressions for kernel reports that
    the job provokes on purpose. A first report, as ``KIND: TEXT``, that ``seen``
    matches is all that the guest was booted for. ``extra`` are more files for it.
    ``standby`` is one of ``spec``, to be resumed in place of a boot: what it has said
    comes first on the console, and its date is as it was there, whatever the seed.

    Raises CannotRun (no QEMU, too little memory), GuestPanic, TimedOut,
    GuestFailed and LostVM, each with the end of the console. Nothing of the
    machine is left behind on any way out, Ctrl-C and cancellation included.
    """
    require_qemu()
    require_memory(spec.memory_mb + OVERHEAD_MB)
    folder.mkdir(parents=True, exist_ok=True)
    watchdog = watchdog_here(policy, boot_s=standby.boot_s if standby else None)
    with scratch_room() as scratch:
        wiring = wiring_in(folder, scratch, spec.clock)
        files = initramfs(probe, job, extra)
        beside = None
        if standby is None:
            wiring.initramfs.write_bytes(files)
        else:
            pipe = scratch / "handover"
            hand_over(pipe, files)
            wiring = replace(
                wiring,
                initramfs=standby.initramfs,
                standby=StandbyWiring(standby.memory, pipe, resumed=True),
            )
            beside = partial(resume, state=standby.state)
        command = command_here(spec, wiring)
        started = time.monotonic()
        wanted = listener or Listener()
        boot = Life(command, wiring, folder, watchdog, wanted, allow, seen, beside)
        if standby is not None:
            boot.before = standby.console.read_bytes()
        ending = await boot.run()
        seconds = time.monotonic() - started
        error = failure(ending, scan(ending.console, allow), folder)
        if error is not None:
            raise error
        require_turns(wiring.turns, folder)
    return Outcome(
        results=ending.results,
        console=ending.console,
        seconds=seconds,
        boot_s=watchdog.first_line or seconds,
        reason=ending.reason,
        command=tuple(command),
        accel=spec.accel,
    )


def wiring_in(folder: Path, scratch: Path, clock: Clock) -> Wiring:
    """What stays of a boot is in ``folder``, and what goes with it in ``scratch``.

    Raises as ``put_turns`` on the clock insn.
    """
    return Wiring(
        initramfs=scratch / "initramfs",
        console=folder / "console.log",
        results=folder / RESULTS,
        qmp=scratch / "qmp",
        turns=put_turns(scratch) if clock is Clock.INSN else None,
    )


def command_here(spec: MachineSpec, wiring: Wiring) -> list[str]:
    """The words that start QEMU on this host, the rate of whose clock is told."""
    told = replace(spec, append=(*told_rate(spec), *spec.append))
    return qemu_command(told, wiring)


def require_cpus(found: object, spec: MachineSpec, folder: Path) -> None:
    """Raise Late where a guest says that it has fewer CPUs than it was given."""
    if isinstance(found, int) and found < spec.cpus:
        raise Late(
            f"the guest came up with {found} of its {spec.cpus} CPUs",
            where=str(folder),
            hint="on a busy host they were late: run it again with less beside",
        )


def require_qemu() -> None:
    """Raise CannotRun where QEMU is not installed."""
    if shutil.which(QEMU) is None:
        raise CannotRun(
            f"{QEMU} is not in PATH", hint="apt-get install qemu-system-x86"
        )


def require_memory(need_mb: int) -> None:
    """Raise NoMemory where fewer than ``need_mb`` MiB are free, and CannotRun where
    the machine has no more."""
    free, total = available_mb(), total_mb()
    if free is not None and free < need_mb:
        raise (NoMemory if total is not None and need_mb <= total else CannotRun)(
            f"the machine needs {need_mb} MiB of memory and {free} MiB are available",
            hint="end something that uses memory, or give the guest less",
        )


@contextmanager
def scratch_room() -> Iterator[Path]:
    """A temporary directory whose path is short enough for a unix socket, and one
    word of LD_PRELOAD, which spaces and colons separate."""
    room = os.fsencode(Path(tempfile.gettempdir()) / "lull-vm-xxxxxxxx" / "qmp")
    unfit = len(room) > _SOCKET_PATH_MAX or re.search(rb"[\s:]", room)
    near = "/tmp" if unfit else None
    with tempfile.TemporaryDirectory(prefix="lull-vm-", dir=near) as name:
        yield Path(name)


@dataclass
class _Tail:
    """Follows a file that another process writes."""

    path: Path
    data: bytearray = field(default_factory=bytearray)

    def read(self) -> bytes:
        """What came since the last call."""
        try:
            with self.path.open("rb") as file:
                file.seek(len(self.data))
                new = file.read()
        except FileNotFoundError:
            return b""
        self.data += new
        return new


class Life:
    """One life of a QEMU process."""

    def __init__(
        self,
        command: Sequence[str],
        wiring: Wiring,
        folder: Path,
        watchdog: Watchdog,
        listener: Listener,
        allow: Sequence[str],
        seen: re.Pattern[str] | None,
        beside: Callable[[QMPClient], Awaitable[None]] | None = None,
    ) -> None:
        self._command = command
        self._wiring = wiring
        self._folder = folder
        self._watchdog = watchdog
        self._wanted = listener
        self._allow = allow
        self._seen = seen
        self._beside = beside
        self._suspect = False
        self._console = _Tail(wiring.console)
        self._results = _Tail(wiring.results)
        self._partial = b""
        self._half = b""
        self._qmp_events = EventListener()
        self._gave_up: str | None = None
        self._connected = False
        self.before = b""  #: what the console begins with

    async def run(self) -> Ending:
        # A folder may be used again: what an earlier boot left is not ours.
        self._wiring.console.unlink(missing_ok=True)
        if self.before:
            self._wiring.console.write_bytes(self.before)
        self._wiring.results.unlink(missing_ok=True)
        log = self._folder / "qemu.log"
        qmp = QMPClient()
        qmp.register_listener(self._qmp_events)
        await qmp.start_server(str(self._wiring.qmp))
        try:
            with log.open("wb") as stderr:
                process = await start_apart(self._command, stderr)
            try:
                await self._follow(process, qmp)
            finally:
                killed = await kill_apart(process)
        finally:
            await hang_up(qmp)
        self._look()
        return Ending(
            results=bytes(self._results.data),
            console=bytes(self._console.data),
            stderr=log.read_bytes(),
            returncode=process.returncode or 0,
            gave_up=self._gave_up,
            killed=killed,
            reason=self._reason(),
            events=tuple(str(event.get("event", "")) for event in self._events()),
        )

    async def _follow(
        self, process: asyncio.subprocess.Process, qmp: QMPClient
    ) -> None:
        """Until QEMU ends by itself, or has to be ended."""
        if self._wanted.started is not None:
            self._wanted.started(process.pid)
        started = time.monotonic()
        clock = ServedClock(lambda: threads_of(process.pid))
        ended = asyncio.create_task(process.wait())
        talk = asyncio.create_task(self._talk(qmp))
        try:
            while not ended.done():
                await asyncio.wait({ended}, timeout=_POLL_S)
                now = clock.at(time.monotonic() - started)
                self._look(now)
                self._gave_up = self._watchdog.verdict(now)
                refused = talk.done() and talk.exception()
                if self._gave_up or refused or self._watchdog.left_open(now):
                    await quit_qemu(qmp, process, self._watchdog.quit_s)
                    break
            # The event that says why is in the socket when QEMU is gone.
            if self._connected:
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(gone(qmp), self._watchdog.quit_s)
            if talk.done():
                talk.result()
        except ExecuteError as error:
            where = str(self._folder)
            raise LabError(f"QEMU refused: {error}", where=where) from error
        finally:
            for task in (talk, ended):
                task.cancel()
            await asyncio.gather(talk, ended, return_exceptions=True)

    async def _talk(self, qmp: QMPClient) -> None:
        """Say what there is to say; only what QEMU answers is an error."""
        self._connected = await accept(qmp)
        if self._beside is None or not self._connected:
            return
        try:
            await self._beside(qmp)
        except ExecuteError:
            raise
        except (QMPError, EOFError, OSError):
            pass  # It is gone, of which its end tells more.

    def _look(self, now: float | None = None) -> None:
        """Read on in both files and tell who wants to know."""
        new = self._console.read()
        if new:
            if now is not None:
                self._watchdog.console(now)
                self._look_for_bugs(now, new)
            if self._wanted.console is not None:
                self._wanted.console(new)
        *lines, self._partial = (self._partial + self._results.read()).split(b"\n")
        for line in lines:
            if now is not None:
                self._watchdog.line(now)
                if message(line)[0] == "done":
                    self._watchdog.done(now)
            if self._wanted.result is not None:
                self._wanted.result(line)

    def _look_for_bugs(self, now: float, new: bytes) -> None:
        # A look may come in the middle of a line.
        text = self._half + new
        self._half = text.rpartition(b"\n")[2]
        # Lines to come may say that it is one that is allowed.
        self._suspect = self._suspect or bool(scan(text))
        if self._suspect:
            found = scan(bytes(self._console.data), self._allow)
            self._watchdog.bug(now, bool(found), self._sees())

    def _sees(self) -> bool:
        """Is the first report the one that is looked for, by whole lines?"""
        if self._seen is None:
            return False
        found = scan(bytes(self._console.data).rpartition(b"\n")[0], self._allow)
        return bool(found and self._seen.match(first_report(found)))

    def _events(self) -> tuple[Message, ...]:
        return self._qmp_events.history

    def _reason(self) -> str:
        """What QEMU's SHUTDOWN event gave as the reason; the last counts."""
        for event in reversed(self._events()):
            data = event.get("data")
            if event.get("event") == "SHUTDOWN" and isinstance(data, dict):
                return str(data.get("reason", ""))
        return ""
