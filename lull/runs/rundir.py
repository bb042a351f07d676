# SPDX-License-Identifier: GPL-2.0-only
"""The folder of a run.

What a boot has measured is on disk when it and those before it have ended, and a
file is either whole or not there: a kill loses the boots that were under way.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import jinja2
from pydantic import Field

from lull.errors import LabError, UsageError
from lull.host.files import unwritable, write_file
from lull.host.named import need_folder
from lull.kernels.record import Kernel, sha256
from lull.model import Arm, Clock, Record, Sample, Summary
from lull.report.summary import to_json
from lull.runs.samples import format_results

_OTHER = "name another one with -o DIR"

RESULTS = "results.jsonl"
SUMMARY = "summary.json"
TABLE = "table.txt"
ANSWER = "answer.txt"
ENV = "env.json"
CONSOLE = "console.log"
RECORDINGS = "recordings"
REPRO = "repro.sh"

_REPRO = """\
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Repeats the run of {{ env.created }}: the same seeds, base and clock.
{%- if env.commit %}
# Measured with commit {{ env.commit | line }}
{%- endif %}
{%- for kernel in env.kernels.values() %}
# {{ kernel.arm | line }} kernel: {{ kernel.version | line }}, sha256 of bzImage
#   {{ kernel.digest | line }}
{%- endfor %}
# QEMU: {{ env.qemu | line }}
{%- if env.clock == "insn" %}
# With the same digests and QEMU the samples are the same to the last digit.
{%- endif %}
set -eu
{%- for command in env.commands %}
{{ command | command }}
{%- endfor %}
"""


class KernelFacts(Record):
    """A kernel that was booted; digests are sha256 in hex."""

    arm: Arm
    version: str
    package_version: str = ""
    digest: str
    config_digest: str = ""
    compiler: str = ""


class Host(Record):
    """The machine that ran the guests; ``load`` is of 1, 5 and 15 minutes."""

    machine: str
    system: str
    cpu: str
    cpus: int
    memory_mb: int
    load: tuple[float, float, float]


class Env(Record):
    """env.json: what has to be known to repeat a run, or to doubt it.

    ``commands`` repeat it; ``qemu_command`` is the first boot's.
    """

    created: str
    base: str
    clock: Clock
    accel: str
    cpus: int
    seeds: tuple[int, ...]
    features: tuple[str, ...]
    quick: bool = False
    kernels: Mapping[str, KernelFacts] = Field(default_factory=dict)
    qemu: str = ""
    qemu_command: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    commit: str = ""
    host: Host | None = None


@dataclass(frozen=True)
class RunDir:
    """A run's folder, which exists."""

    path: Path

    @classmethod
    def create(
        cls,
        features: Sequence[str],
        clock: Clock,
        out: Path | None = None,
        *,
        now: datetime | None = None,
        under: Path | None = None,
    ) -> RunDir:
        """Make the folder ``out``, or runs/<UTC time>-<features>-<clock>.

        A name of ours that is taken gets -2, -3. Raises UsageError as need_free()
        does, and LabError where it cannot be made.
        """
        when = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
        name = "-".join([when, *features, clock])
        if out is not None:
            need_free(out)
            return cls(out)
        wanted = (under or Path.cwd()) / "runs" / name
        try:
            return cls(_make(wanted))
        except OSError as error:
            raise LabError(
                f"the run's folder cannot be made: {error.strerror}",
                where=str(wanted),
                hint=_OTHER,
            ) from error

    def append(self, samples: Iterable[Sample]) -> None:
        """Add the samples of a boot to results.jsonl, down to the disk."""
        self._append(RESULTS, format_results(samples).encode())

    def add_recordings(self, number: int, recordings: Mapping[str, str]) -> None:
        """Write what a boot recorded, a file a mode, for ``lull graph``."""
        for mode, text in recordings.items():
            name = f"boot-{number:03}-{mode}.ftrace.txt"
            write_file(self.path / RECORDINGS / name, text.encode())

    @contextmanager
    def boot_folder(self, number: int, arm: Arm, seed: int) -> Iterator[Path]:
        """A folder for what a boot leaves; its console joins console.log.

        The boot's folder goes away when the boot went well and stays for a
        look at it when an exception passes through.
        """
        place = self.path / f"boot-{number:03}-{arm}"
        place.mkdir(parents=True, exist_ok=True)
        try:
            yield place
        finally:
            console = place / CONSOLE
            data = console.read_bytes() if console.is_file() else b""
            self.append_console(f"boot {number}, {arm} kernel, seed {seed}", data)
        shutil.rmtree(place)

    def append_console(self, header: str, console: bytes) -> None:
        """Add a boot's console, as it is, under a line that names the boot."""
        end = b"" if not console or console.endswith(b"\n") else b"\n"
        self._append(CONSOLE, f"==== {header} ====\n".encode() + console + end)

    def finish(self, summary: Summary, table: str, answer: str, env: Env) -> None:
        """Write summary.json, table.txt, answer.txt, env.json and repro.sh."""
        self.write_env(env)
        write_file(self.path / SUMMARY, to_json(summary).encode())
        write_file(self.path / TABLE, table.encode())
        write_file(self.path / ANSWER, answer.encode())

    def write_env(self, env: Env) -> None:
        """Write env.json and repro.sh: as soon as they are known."""
        write_file(self.path / ENV, (env.model_dump_json(indent=2) + "\n").encode())
        write_file(self.path / REPRO, repro(env).encode(), 0o755)

    def _append(self, name: str, data: bytes) -> None:
        path = self.path / name
        if not data:
            return
        # A write cut short, by a full disk, must not swallow the next line.
        if path.is_file() and not _ends_a_line(path):
            data = b"\n" + data
        with path.open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def repro(env: Env) -> str:
    """The text of repro.sh. Pure."""
    jinja = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    jinja.filters["command"] = shlex.join
    # A comment ends with its line, whatever a compiler calls itself.
    jinja.filters["line"] = lambda text: " ".join(str(text).split())
    return jinja.from_string(_REPRO).render(env=env)


def kernel_facts(kernel: Kernel) -> KernelFacts:
    """What env.json says of a built kernel; reads its config."""
    return KernelFacts(
        arm=kernel.arm,
        version=kernel.version,
        package_version=kernel.package_version,
        digest=kernel.digest,
        config_digest=sha256(kernel.config),
        compiler=kernel.compiler,
    )


def host() -> Host:
    """Facts of this machine, as far as it tells them."""
    cpu = _field(Path("/proc/cpuinfo"), "model name") or platform.machine()
    memory = _field(Path("/proc/meminfo"), "MemTotal").split()
    return Host(
        machine=platform.machine(),
        system=platform.platform(),
        cpu=cpu,
        cpus=len(os.sched_getaffinity(0)),
        memory_mb=int(memory[0]) // 1024 if memory else 0,
        load=os.getloadavg(),
    )


def commit(root: Path) -> str:
    """The checkout's commit, with -dirty where files differ; may be empty."""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40"]
    command += ["--dirty", "--exclude=*"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def need_free(folder: Path) -> None:
    """Make the folder that a user named for a run, where it is not there.

    Raises UsageError where it cannot be written to, and where something is in it: the
    run before it would be taken for this one.
    """
    need_folder(folder)
    try:
        taken = any(folder.iterdir())
    except OSError as error:
        raise unwritable(folder, _OTHER, error) from error
    if taken:
        raise UsageError("it is not empty", where=str(folder), hint=_OTHER)


def _make(wanted: Path) -> Path:
    # An empty one may be another run's, just begun.
    wanted.parent.mkdir(parents=True, exist_ok=True)
    path, number = wanted, 1
    while True:
        try:
            path.mkdir()
            return path
        except FileExistsError:
            number += 1
            path = wanted.with_name(f"{wanted.name}-{number}")


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _field(path: Path, name: str) -> str:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
