# SPDX-License-Identifier: GPL-2.0-only
"""Child processes that cannot outlive the lab, and signals that clean up."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Any, TypeVar

T = TypeVar("T")

_PR_SET_PDEATHSIG = 1

# Looked up before any fork: between fork and exec only the plain call is made,
# no import and no symbol search, which could wait for a lock that another
# thread held when we forked.
_libc = ctypes.CDLL(None, use_errno=True)
_prctl = _libc.prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_prctl.restype = ctypes.c_int


def die_with_parent() -> Callable[[], None]:
    """A ``preexec_fn`` that has the kernel kill the child when we die.

    The signal is tied to the thread that starts the child, so that thread has
    to wait for it too.
    """
    parent = os.getpid()

    def preexec() -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # Died between fork and prctl: nobody would send the signal.
        if os.getppid() != parent:
            os._exit(1)

    return preexec


async def start_apart(
    command: Sequence[str], output: IO[bytes]
) -> asyncio.subprocess.Process:
    """Start ``command`` without input, all that it prints into ``output``.

    It is out of the terminal's foreground group: Ctrl-C is for us, and it ends when
    we say so, or when we die. Raises OSError.
    """
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        process_group=0,
        preexec_fn=die_with_parent(),
    )


async def kill_apart(process: asyncio.subprocess.Process) -> bool:
    """End what start_apart() has started, and all of its group, where it has not
    ended by itself; whether that was so."""
    if process.returncode is not None:
        return False
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    return True


def end_group(process: subprocess.Popen[str], patience: float = 5.0) -> bool:
    """End a process group: first asked, then told. True where asking did."""
    try:
        for sig in (signal.SIGTERM, signal.SIGKILL):
            if process.poll() is not None:
                break
            with suppress(ProcessLookupError):
                os.killpg(process.pid, sig)
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience)
    finally:
        # Its leader is gone, or somebody has lost patience: the rest may need
        # another word.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.stdout is not None:
            process.stdout.close()
    return process.poll() not in (None, -signal.SIGKILL)


@contextmanager
def sigterm_unwinds() -> Iterator[None]:
    """While in here SIGTERM raises SystemExit(143), so that clean-up runs.

    Does nothing outside the main thread or where the program already handles
    the signal.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def leave(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + signum)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end, for whoever has no event loop.

    Ctrl-C and SIGTERM cancel it, so that what it started is cleaned up.
    """
    with sigterm_unwinds():
        return asyncio.run(work)
