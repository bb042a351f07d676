# SPDX-License-Identifier: GPL-2.0-only
"""A FUSE daemon that stops, somebody who waits in it, and the collector beside both.

Run as a program in a mount namespace: fuse.py COLLECTOR MOUNTPOINT FOLDER. It speaks
just enough of the protocol for a mount to be there (include/uapi/linux/fuse.h).
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

CANNOT = 77

_HEADER = struct.Struct("<IIQQIIII")  # fuse_in_header
_INIT = 26
#: struct fuse_init_out of minor 31: version, readahead, flags, queues, write size...
_REPLY = struct.Struct("<IIIIHHIIHHI7I")


def _named(name: str) -> None:
    Path("/proc/self/comm").write_text(name)


def _serve(fd: int) -> None:
    """Answers INIT, and then nobody."""
    _named("stopfs")
    while True:
        request = os.read(fd, 1 << 17)
        _, opcode, unique, *_ = _HEADER.unpack_from(request)
        if opcode == _INIT:
            body = _REPLY.pack(7, 31, 0, 0, 8, 6, 4096, 1, 0, 0, 0, *[0] * 7)
            os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)


def main(collector: str, place: str, folder: str) -> int:
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
    daemon = os.fork()
    if not daemon:
        _serve(fd)
    os.close(fd)
    time.sleep(0.3)
    os.kill(daemon, signal.SIGSTOP)
    reader = os.fork()
    if not reader:
        _named("stuck-reader")
        os.listdir(place)
        os._exit(0)
    time.sleep(0.3)
    try:
        done = subprocess.run([collector, "collect", folder], timeout=40, check=False)
    finally:
        # Without its daemon the connection ends, and who waits gets an error.
        os.kill(daemon, signal.SIGKILL)
        os.kill(reader, signal.SIGKILL)
        os.waitpid(daemon, 0)
        os.waitpid(reader, 0)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
