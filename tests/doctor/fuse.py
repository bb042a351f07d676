# SPDX-License-Identifier: GPL-2.0-only
"""A FUSE daemon that stops, somebody who waits in it, and the collector beside both.

Run as a program in a mount namespace: -m tests.doctor.fuse stop|swallow MOUNTPOINT
COLLECTOR...
It speaks just enough of the protocol for a mount to be there
(include/uapi/linux/fuse.h). One that swallows takes all requests and answers none:
who has sent one cannot even be killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

from tests.waiting import until

CANNOT = 77

_HEADER = struct.Struct("<IIQQIIII")  # fuse_in_header
_INIT = 26
#: struct fuse_init_out of minor 31: version, readahead, flags, queues, write size...
_REPLY = struct.Struct("<IIIIHHIIHHI7I")


def _named(name: str) -> None:
    Path("/proc/self/comm").write_text(name)


def _serve(fd: int, told: int) -> None:
    """Answers INIT, says so in ``told``, and then answers nobody."""
    _named("stopfs")
    while True:
        request = os.read(fd, 1 << 17)
        _, opcode, unique, *_ = _HEADER.unpack_from(request)
        if opcode == _INIT:
            body = _REPLY.pack(7, 31, 0, 0, 8, 6, 4096, 1, 0, 0, 0, *[0] * 7)
            os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)
            os.write(told, b"!")


def _waits_for_an_answer(pid: int) -> bool:
    return "request_wait_answer" in Path(f"/proc/{pid}/stack").read_text()


def main(how: str, place: str, *collector: str) -> int:
    """0, or CANNOT where this machine has no FUSE."""
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        print(error, file=sys.stderr)
        return CANNOT
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"stopfs", place.encode(), b"fuse.stopfs", 0, options):
        print(os.strerror(ctypes.get_errno()), file=sys.stderr)
        return CANNOT
    tell, told = os.pipe()
    children = [os.fork()]
    if not children[0]:
        _serve(fd, told)
    os.close(fd)
    os.close(told)
    os.read(tell, 1)
    if how == "stop":
        os.kill(children[0], signal.SIGSTOP)
        children.append(os.fork())
        if not children[1]:
            _named("stuck-reader")
            os.listdir(place)
            os._exit(0)
        until("it waits for the daemon", lambda: _waits_for_an_answer(children[1]))
    try:
        return subprocess.run(collector, timeout=100, check=False).returncode
    finally:
        # Without its daemon the connection ends, and who waits gets an error.
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
