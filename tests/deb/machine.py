# SPDX-License-Identifier: GPL-2.0-only
"""A made-up machine for the package lull-tools, and its `lull` on it."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path


def _plainly(user: bool) -> tuple[str, ...]:
    """A command without what only root may; another user has none of it."""
    if not user or os.geteuid() != 0:
        return ()
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


class Machine:
    """A machine's files below a folder, and the package's `lull` on it."""

    def __init__(self, root: Path, unpacked: Path) -> None:
        self.root = root
        self._program = unpacked / "usr/bin/lull"
        tables = (unpacked / "usr/share/lull").iterdir()
        for path in (unpacked / "etc/default/lull", *tables):
            self.put(str(path.relative_to(unpacked)), path.read_text())
        self.put("proc/sys/kernel/osrelease", "6.12.9-lull-amd64\n")
        self.boots_with("quiet")

    def put(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def features(self, **modes: str) -> None:
        for name, mode in modes.items():
            self.put(f"sys/module/lull/parameters/{name}", f"{mode}\n")

    def boots_with(self, words: str) -> None:
        self.put("proc/cmdline", f"BOOT_IMAGE=/vmlinuz root=/dev/vda1 {words}\n")

    def settings(self, **values: str) -> None:
        lines = (f"LULL_{name.upper()}={value}\n" for name, value in values.items())
        self.put("etc/default/lull", "".join(lines))

    def mode(self, name: str) -> str:
        path = self.root / "sys/module/lull/parameters" / name
        return path.read_text().strip()

    def stub(self, name: str, text: str) -> None:
        """A program that `lull` finds before that of this name."""
        self.put(f"stubs/{name}", f"#!/bin/sh\n{text}\n").chmod(0o755)

    def lull(
        self, *words: str, full: bool = False, user: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run it; where the disk is full no write takes, as one that is refused. A
        user may do what the files' modes let their owner do, and no more."""

        def fill_up() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        if user:
            self.stub("id", "echo 1000")
        return subprocess.run(
            [*_plainly(user), "sh", self._program, "--root", self.root, *words],
            env={
                **os.environ,
                "PATH": f"{self.root}/stubs:{os.environ['PATH']}",
                "LC_ALL": "C.UTF-8",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=fill_up if full else None,
        )
