# SPDX-License-Identifier: GPL-2.0-only
"""Stress that others wrote: on the debug arm, in the user space of a Debian.

The debug arm has no driver for a disk, so that all of it is in the initramfs. A mode is
a boot: a kernel that complains in one says of which it is.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread

from lull.ask.catalog import features
from lull.ask.presence import why_absent
from lull.errors import ExpectationMissed, GuestFailed, LullError, UsageError
from lull.guest.boot import bytes_of, live
from lull.host.files import repo_root, write_file
from lull.host.named import need_folder
from lull.host.progress import Progress
from lull.host.records import read_toml
from lull.kernels.bases import Base, load_base
from lull.kernels.build import build
from lull.kernels.cache import Cache
from lull.kernels.record import Kernel
from lull.kernels.source import fetch
from lull.kernels.update import Update
from lull.model import Arm, Clock, Record
from lull.real.selftests import (
    KIND,
    Area,
    Built,
    Test,
    all_of,
    build_tests,
    left_out,
    named,
    shown,
    table_of,
    worse_tests,
)
from lull.real.tried import STOCK, Mode, Try, read_tries
from lull.real.userspace import root_of
from lull.runs.boot import machine_spec
from lull.vm.accel import choose
from lull.vm.command import MachineSpec, qemu_command
from lull.vm.cpio import archive, file
from lull.vm.machine import (
    RESULTS,
    require_memory,
    require_qemu,
    scratch_room,
    wiring_in,
)
from lull.vm.outcome import message
from lull.vm.timeouts import host_factor

ROOM = "scenarios/stress"

_OVER_MB = 512  #: beside the guest's memory: QEMU has the initramfs, too
_BOOT_S, _EACH_S = 120.0, 4.0  #: of a boot; for each second of a stressor
_TEST_S = 180  #: for a run of a test, of the guest's time; runs begin in a third of it
_USUAL_S = 60.0  #: for most of them, all runs
_ABSENT = (3, 4)  #: stress-ng: no resource for it, or not on this kernel


class Stress(Record):
    """stress.toml."""

    packages: tuple[str, ...]
    memory_mb: int
    modes: tuple[str, ...]
    stressors: Mapping[str, str]
    selftests: Mapping[str, Area]


@dataclass(frozen=True)
class Chosen:
    """What is run: stressors, and tests of the kernel's own."""

    stressors: Mapping[str, str]
    tests: tuple[Test, ...]

    def __str__(self) -> str:
        each = ((self.stressors, "stressors"), (self.tests, KIND))
        return " and ".join(f"{len(of)} {name}" for of, name in each if of)

    def __len__(self) -> int:
        return len(self.stressors) + len(self.tests)

    def without(self, programs: Container[str]) -> Chosen:
        """But for tests of these programs."""
        tests = tuple(one for one in self.tests if one.program not in programs)
        return Chosen(self.stressors, tests)


def load(root: Path | None = None) -> Stress:
    """The project's stress.toml."""
    return read_toml((root or repo_root()) / ROOM / "stress.toml", Stress)


def choose_from(found: Stress, names: Sequence[str]) -> Chosen:
    """What names mean, all for none: a stressor, else some of the kernel's tests.

    Raises UsageError for one that means neither.
    """
    tests = all_of(found.selftests)
    if not names:
        return Chosen(found.stressors, tests)
    stressors: dict[str, str] = {}
    picked: dict[Test, None] = {}
    for name in names:
        some = () if name in found.stressors else named(name, tests)
        if name in found.stressors:
            stressors[name] = found.stressors[name]
        elif not some:
            areas = (f"{KIND}/{area}" for area in found.selftests)
            raise UsageError(
                f"unknown stressor: {name!r}",
                hint=f"there is: {', '.join([*found.stressors, *areas])}",
            )
        picked.update(dict.fromkeys(some))
    return Chosen(stressors, tuple(picked))


def plan(mode: str, seconds: int, limit: int, chosen: Chosen) -> str:
    """The guest's plan: the mode with limits, then a line a stressor and a test."""
    lines = [f"{mode} {seconds} {limit}"]
    lines += (f"stressor {name} {words}" for name, words in chosen.stressors.items())
    lines += (f"test {one.area} {one.command}" for one in chosen.tests)
    return "".join(f"{line}\n" for line in lines)


def without(base: Base) -> list[str]:
    """A sentence for each feature that the guest passes over in all modes, as the base
    does not have it: why."""
    rooms = ((one, why_absent(one, base)) for one in features() if not one.switches)
    return [
        f"without {one.name}, not on the base {base.name}: {why}"
        for one, why in rooms
        if why
    ]


def worse(
    modes: Sequence[Mode], names: Iterable[str], tests: Sequence[Test] = ()
) -> list[str]:
    """A sentence for each way in which a mode does worse than stock, and for what
    shows nothing. Pure."""
    by_mode = {mode.name: {one.name: one for one in mode.tries} for mode in modes}
    stock = by_mode.get(STOCK, {})
    found = []
    others = {one.name for one in tests}
    passed = any(not one.status for one in stock.values() if one.name not in others)
    passed = passed or bool(shown(modes, tests))
    for mode in modes:
        if mode.error is not None and (mode.name != STOCK or not passed):
            found.append(f"{mode.name}: {mode.error}")
    if not passed:
        found.append(f"{STOCK}: nothing has passed, and nothing is shown")
    for name in names:
        reference = stock.get(name)
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
    return found + worse_tests(modes, tests)


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
    """Run stressors in all modes, or in those ``wanted``, and return the tables.

    Raises ExpectationMissed where a mode does worse than stock, UsageError for a name
    that is unknown, and what building and booting raise.
    """
    found = load()
    for name in wanted:
        if name not in found.modes:
            text = f"unknown mode: {name!r}"
            raise UsageError(text, hint=f"there is: {', '.join(found.modes)}")
    chosen = choose_from(found, names)
    record = load_base(base)
    need_folder(folder)
    for text in without(record):
        progress.note(text)
    require_qemu()
    require_memory(found.memory_mb + _OVER_MB)
    cache = Cache()
    cache.prepare()
    progress.step(f"{base} debug kernel, built unless it was")
    kernel = build(base, Arm.DEBUG, progress.update)
    root = root_of(found.packages, cache, progress)
    built = Built({}, {})
    absent = left_out(found.selftests, chosen.tests)
    if chosen.tests:
        progress.step(f"{len(chosen.tests)} {KIND} of the {base} kernel's")
        source = fetch(record, cache, progress.update)
        built = build_tests(found.selftests, chosen.tests, source, progress.update)
        absent = {**built.failed, **absent}
        chosen = chosen.without(absent)
    modes = []
    for mode in dict.fromkeys([STOCK, *(wanted or found.modes)]):
        progress.step(f"mode {mode}: {chosen}")
        text = plan(mode, seconds, round(_TEST_S * host_factor()), chosen)
        limit = _BOOT_S + len(chosen.stressors) * seconds * _EACH_S
        limit += len(chosen.tests) * _USUAL_S + _TEST_S
        image = root + _own(text, built)
        results = folder / mode / RESULTS
        results.unlink(missing_ok=True)  # of an earlier run
        with watched(results, mode, len(chosen), progress.update):
            modes.append(_boot(kernel, image, folder / mode, found.memory_mb, limit))
    told = table(modes, chosen.stressors) if chosen.stressors else ""
    if chosen.tests or absent:
        told += table_of(modes, chosen.tests, absent)
    write_file(folder / "table.txt", told.encode())
    bad = worse(modes, chosen.stressors, chosen.tests)
    if bad:
        raise ExpectationMissed(
            f"{told}{len(bad)} times worse than on stock:\n" + "\n".join(bad),
            where=str(folder),
            hint="console.log in each mode's folder has what its kernel said",
        )
    return told


@contextmanager
def watched(results: Path, mode: str, total: int, tell: Update) -> Iterator[None]:
    """Say how far a guest has come, once a second."""
    over = Event()

    def look() -> None:
        while not over.wait(1.0):
            done = dict.fromkeys(one.name for one in read_tries(bytes_of(results)))
            last = next(reversed(done), "it boots")
            tell(f"mode {mode}: {last}", len(done), total)

    looks = Thread(target=look, daemon=True)
    looks.start()
    try:
        yield
    finally:
        over.set()
        looks.join()


def _own(text: str, built: Built) -> bytes:
    """What the guest has beside the Debian."""
    init = (repo_root() / ROOM / "init").read_bytes()
    mine = [file("init", init, 0o755), file("plan", text.encode())]
    return archive([*mine, *built.entries()])


def machine(image: Path, base: str, memory_mb: int) -> MachineSpec:
    """What a mode is booted on: as the debug arm needs it, which has no ACPI."""
    accel = choose(image).accel
    spec = machine_spec(image, base, 0, Clock.WALL, accel, arm=Arm.DEBUG)
    return replace(spec, memory_mb=memory_mb)


def _boot(
    kernel: Kernel, initramfs: bytes, folder: Path, memory_mb: int, limit_s: float
) -> Mode:
    folder.mkdir(parents=True, exist_ok=True)
    with scratch_room() as scratch:
        spec = machine(kernel.bzimage, kernel.base, memory_mb)
        wiring = wiring_in(folder, scratch, spec.clock)
        wiring.initramfs.write_bytes(initramfs)
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
