# SPDX-License-Identifier: GPL-2.0-only
"""The trees that kernels are built in, for tests that compile in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lull.files import repo_root
from lull.kernels.bases import load_base
from lull.kernels.build import build, open_tree, plan_build
from lull.kernels.cache import Cache
from lull.kernels.progress import silent
from lull.kernels.source import fetch
from lull.model import Arm

#: All files that a hook changes, and where those are that it adds.
HOOKED = (
    "mm/zsmalloc.o",
    "mm/zswap.o",
    "mm/zpool.o",
    "mm/swapfile.o",
    "drivers/base/power/",
    "drivers/block/zram/",
    "fs/eventpoll.o",
    "fs/exec.o",
    "fs/pipe.o",
    "fs/select.o",
    "fs/signalfd.o",
    "io_uring/io-wq.o",
    "io_uring/io_uring.o",
    "init/init_task.o",
    "kernel/cgroup/",
    "kernel/fork.o",
    "kernel/exit.o",
    "kernel/freezer.o",
    "kernel/power/",
    "mm/vmscan.o",
    "net/core/datagram.o",
    "net/core/sock.o",
    "net/ipv4/inet_connection_sock.o",
    "net/ipv4/tcp.o",
    "net/ipv4/udp.o",
    "net/socket.o",
    "net/unix/af_unix.o",
)

#: The features themselves.
OURS = "kernel/lull/"


@contextmanager
def opened(arm: Arm) -> Iterator[Path]:
    """An arm's tree, locked, built once and saying what this checkout says."""
    build("6.12", arm)
    cache, base = Cache(), load_base("6.12")
    plan = plan_build(base, arm, fetch(base, cache, silent), repo_root())
    with cache.lock(plan.name):
        work, _ = open_tree(plan, cache)
        work.close()
        yield work.source
