# SPDX-License-Identifier: GPL-2.0-only
"""Stress that others wrote: on the debug arm, in the user space of a Debian.

The debug arm has no driver for a disk, so that all of it is in the initramfs. A mode is
a boot: a kernel that complains in one says of which it is.
"""

from __future__ import annotations

import shlex
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lull.errors import ExpectationMissed, GuestFailed, LabError, LullError, UsageError
from lull.guest.boot import bytes_of, live
from lull.guest.image import SUITE, need_tools
from lull.host.files import digest, repo_root, write_file
from lull.host.programs import run, tail
from lull.host.progress import Progress
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.model import Arm, Clock, Record
from lull.vm.accel import choose
from lull.vm.command import MachineSpec, Wiring, qemu_command
from lull.vm.cpio import Entry, archive, char_device, directory, file, symlink
from lull.vm.machine import RESULTS, require_memory, require_qemu
from lull.vm.outcome import message

ROOM = "scenarios/stress"
STOCK = "stock"

#: What no program of these reads.
_LEFT_OUT = ("doc", "man", "locale", "zoneinfo", "i18n", "info")
_NEED = 1 << 30  #: bytes, while the root is made
_OVER_MB = 512  #: beside the guest's memory: QEMU has the initramfs, too
_BOOT_S, _EACH_S = 120.0, 4.0  #: of a boot; for each second of a stressor
_ABSENT = (3, 4)  #: stress-ng: no resource for it, or not on this kernel


class Stress(Record):
    """stress.toml."""

    packages: tuple[str, ...]
    memory_mb: int
    modes: tuple[str, ...]
    stressors: Mapping[str, str]


@dataclass(frozen=True)
class Try:
    """A stressor that has run: its status, and what it printed last."""

    name: str
    status: int
    suspends: int
    text: str


@dataclass(frozen=True)
class Mode:
    """What became of a mode's boot; ``error`` where it did not come to its end."""

    name: str
    tries: tuple[Try, ...]
    error: LullError | None = None


def load(root: Path | None = None) -> Stress:
    """The project's stress.toml."""
    path = (root or repo_root()) / ROOM / "stress.toml"
    return Stress.model_validate(tomllib.loads(path.read_text("utf-8")))


def plan(mode: str, seconds: int, stressors: Mapping[str, str]) -> str:
    """The guest's plan: the mode, then a line a stressor."""
    lines = [f"{mode} {seconds}", *(f"{n} {w}" for n, w in stressors.items())]
    return "".join(f"{line}\n" for line in lines)


def read_tries(results: bytes) -> tuple[Try, ...]:
    """What a guest has said of its stressors, whole or not."""
    found = []
    for line in results.split(b"\n"):
        kind, members = message(line)
        if kind == "try":
            numbers = [members.get(name) for name in ("status", "suspends")]
            status, suspends = (n if isinstance(n, int) else -1 for n in numbers)
            name, text = (str(members.get(name, "")) for name in ("name", "text"))
            found.append(Try(name, status, suspends, text))
    return tuple(found)


def worse(modes: Sequence[Mode], names: Iterable[str]) -> list[str]:
    """A sentence for each way in which a mode does worse than stock, and for what
    shows nothing. Pure."""
    by_mode = {mode.name: {one.name: one for one in mode.tries} for mode in modes}
    stock = next((mode for mode in modes if mode.name == STOCK), None)
    found = []
    passed = stock is not None and any(not one.status for one in stock.tries)
    for mode in modes:
        if mode.error is not None and (mode is not stock or not passed):
            found.append(f"{mode.name}: {mode.error}")
    if not passed:
        found.append(f"{STOCK}: nothing has passed, and nothing is shown")
    for name in names:
        reference = by_mode.get(STOCK, {}).get(name)
        if reference is None or reference.status:
            continue
        for mode in modes:
            one = by_mode[mode.name].get(name)
            if one is None and mode.error is None:
                found.append(f"{mode.name}: {name} was not run")
            elif one is not None and one.status:
                text = f"status {one.status}, and 0 in stock: {one.text}"
                found.append(f"{mode.name}: {name}: {text}")
            elif one is not None and not one.suspends:
                found.append(f"{mode.name}: {name}: the machine never suspended")
    return found


def table(modes: Sequence[Mode], names: Iterable[str]) -> str:
    """A line a stressor: its status in each mode, and how often the machine slept."""
    by_mode = {mode.name: {one.name: one for one in mode.tries} for mode in modes}
    lines = [f"{'stressor':12}" + "".join(f"{mode.name:>22}" for mode in modes)]
    for name in names:
        cells = [_cell(by_mode[mode.name].get(name)) for mode in modes]
        lines.append(f"{name:12}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines) + "\n"


def _cell(one: Try | None) -> str:
    if one is None:
        return "-"
    if one.status in _ABSENT:
        return "not on this kernel"
    word = "ok" if not one.status else f"status {one.status}"
    return f"{word}, {one.suspends} suspends"


def stress(
    names: Sequence[str],
    seconds: int,
    base: str,
    folder: Path,
    progress: Progress,
    wanted: Sequence[str] = (),
) -> str:
    """Run stressors in all modes, or in those ``wanted``, and return the table.

    Raises ExpectationMissed where a mode does worse than stock, UsageError for a name
    that is unknown, and what building and booting raise.
    """
    found = load()
    for kind, asked, known in (
        ("stressor", names, found.stressors),
        ("mode", wanted, found.modes),
    ):
        for name in asked:
            if name not in known:
                text = f"unknown {kind}: {name!r}"
                raise UsageError(text, hint=f"there is: {', '.join(known)}")
    chosen = {n: found.stressors[n] for n in names or found.stressors}
    require_qemu()
    require_memory(found.memory_mb + _OVER_MB)
    cache = Cache()
    cache.prepare()
    progress.step(f"{base} debug kernel, built unless it was")
    kernel = build(base, Arm.DEBUG, progress.update).bzimage
    root = root_of(found, cache, progress)
    modes = []
    for mode in dict.fromkeys([STOCK, *(wanted or found.modes)]):
        progress.step(f"mode {mode}: {len(chosen)} stressors of {seconds} s")
        text = plan(mode, seconds, chosen)
        limit = _BOOT_S + len(chosen) * seconds * _EACH_S
        modes.append(_boot(kernel, root, text, folder / mode, found.memory_mb, limit))
    told = table(modes, chosen)
    write_file(folder / "table.txt", told.encode())
    bad = worse(modes, chosen)
    if bad:
        raise ExpectationMissed(
            f"{told}{len(bad)} times worse than on stock:\n" + "\n".join(bad),
            where=str(folder),
            hint="console.log in each mode's folder has what its kernel said",
        )
    return told


def _boot(
    kernel: Path, root: bytes, text: str, folder: Path, memory_mb: int, limit_s: float
) -> Mode:
    init = (repo_root() / ROOM / "init").read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lull-stress-") as scratch:
        image = Path(scratch) / "initramfs"
        own = archive([file("init", init, 0o755), file("plan", text.encode())])
        image.write_bytes(root + own)
        wiring = Wiring(
            initramfs=image,
            console=folder / "console.log",
            results=folder / RESULTS,
            qmp=Path(scratch) / "qmp",
        )
        spec = MachineSpec(
            kernel=kernel,
            clock=Clock.WALL,
            accel=choose(kernel).accel,
            memory_mb=memory_mb,
        )
        name = folder.name
        try:
            results = live(qemu_command(spec, wiring), wiring, folder, limit_s)
        except LullError as error:
            return Mode(name, read_tries(bytes_of(wiring.results)), error)
    tries = read_tries(results)
    done = any(message(line)[0] == "done" for line in results.split(b"\n"))
    if done:
        return Mode(name, tries)
    where = str(folder)
    return Mode(name, tries, GuestFailed("it has not come to its end", where=where))


def root_of(found: Stress, cache: Cache, progress: Progress) -> bytes:
    """The user space as an initramfs: from the cache, else from Debian's archive."""
    place = (
        cache.root
        / "guest"
        / f"stress-{digest(SUITE, *found.packages, *_LEFT_OUT)}.cpio"
    )
    with cache.lock("guest", lambda text: progress.update(text, 0, 0)):
        if not place.is_file():
            need_tools()
            cache.need(_NEED, "making the user space of a Debian")
            progress.step(f"Debian {SUITE} with {', '.join(found.packages)}")
            with cache.temp("guest") as temp:
                tar = temp / "root.tar"
                _debootstrap(found.packages, tar)
                with tarfile.open(tar) as members:
                    write_file(place, archive(entries(members)))
    return place.read_bytes()


def _debootstrap(packages: Sequence[str], tar: Path) -> None:
    less = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _LEFT_OUT]
    words = ["mmdebstrap", "--quiet", "--variant=essential", *less]
    words += [f"--include={','.join(packages)}", SUITE, str(tar)]
    done = run(words)
    if done.returncode:
        raise LabError(f"{shlex.join(words)}\n{tail(done.stdout)}", where=SUITE)


def entries(members: tarfile.TarFile) -> list[Entry]:
    """A root in a tar archive as what an initramfs has; caches and lists stay out."""
    found = [char_device("dev/console", 5, 1), char_device("dev/null", 1, 3, 0o666)]
    taken = {entry.path for entry in found}
    for member in members:
        path = str(PurePosixPath(member.name.removeprefix("./")))
        if path in (".", *taken) or path.startswith(
            ("dev/", "var/cache", "var/lib/apt")
        ):
            continue
        taken.add(path)
        if member.isdir():
            found.append(directory(path, member.mode))
        elif member.issym():
            found.append(symlink(path, member.linkname))
        elif member.isreg() or member.islnk():
            data = members.extractfile(member)
            found.append(file(path, data.read() if data else b"", member.mode))
    return sorted(found, key=lambda entry: entry.path)
