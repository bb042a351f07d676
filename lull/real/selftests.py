# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests as stressors: which, of what, and what became of them.

They are compiled from the base's sources, and run in the guest as they are. What they
say is read test by test (lull.runs.selftests).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from lull.errors import LabError
from lull.host.files import cache_root, write_file
from lull.kernels.source import Source
from lull.kernels.update import Update
from lull.model import Record
from lull.real.tried import STOCK, Mode
from lull.runs import selftests
from lull.runs.selftests import PASS, SKIP, STATUS, Rank, lost, results
from lull.vm.compile import Recipe, compiled
from lull.vm.cpio import Entry, directory, file

KIND = "selftests"  #: a name of one begins so
ROOM = "tools/testing/selftests"

#: As the kernel builds them, but static, and in silence.
_FLAGS = (
    "-O2",
    "-static",
    "-s",
    "-no-pie",
    "-pthread",
    "-w",
    "-D_GNU_SOURCE=",
    f"-I{ROOM}",
)
_WHY = ("error:", "cannot find")


class Area(Record):
    """A part of stress.toml: some of a folder's tests, or all."""

    room: str  #: below tools/testing/selftests
    commands: tuple[str, ...]  #: a program's name and its words
    sources: tuple[str, ...] = ()  #: below that, for each; where a kernel has them
    flags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  #: scripts and what they read
    left_out: Mapping[str, str] = {}  #: programs that are not tried, and why


@dataclass(frozen=True)
class Test:
    """One of the commands."""

    __test__ = False  #: pytest need not look into it

    area: str
    command: str

    @property
    def name(self) -> str:
        """As on a command line, and in the table."""
        return f"{KIND}/{self.area}/{self.command}"

    @property
    def program(self) -> str:
        """Without its words."""
        return f"{KIND}/{self.area}/{self.command.split()[0]}"


def all_of(areas: Mapping[str, Area]) -> tuple[Test, ...]:
    """All there are, in the file's order."""
    return tuple(Test(name, c) for name, area in areas.items() for c in area.commands)


def left_out(areas: Mapping[str, Area], tests: Iterable[Test]) -> dict[str, str]:
    """Programs that nobody tries, by why, of areas that are asked for as a whole."""
    asked = {(one.area, one.command) for one in tests}
    return {
        f"{KIND}/{name}/{program}": why
        for name, area in areas.items()
        if all((name, command) in asked for command in area.commands)
        for program, why in area.left_out.items()
    }


def named(name: str, tests: Iterable[Test]) -> tuple[Test, ...]:
    """Those that a name means: one, a program's, an area's, or all."""
    path = name if name == KIND or name.startswith(f"{KIND}/") else f"{KIND}/{name}"
    return tuple(one for one in tests if _below(one.name, path))


def _below(name: str, path: str) -> bool:
    return name == path or name.startswith((f"{path}/", f"{path} "))


@dataclass(frozen=True)
class Built:
    """What the guest gets, and which programs it does not, by why."""

    files: Mapping[str, bytes]
    failed: Mapping[str, str]

    def entries(self) -> list[Entry]:
        """As an initramfs has it."""
        above = sorted({path.rpartition("/")[0] for path in self.files})
        found = [directory(path) for path in ([KIND, *above] if above else [])]
        return found + [file(path, data, 0o755) for path, data in self.files.items()]


def recipe(area: Area, program: str, source: Source, found: Path) -> Recipe:
    """How one is compiled; the sources' version stands for what they include.

    ``found`` is a folder with what the kernel's make finds out of the machine.
    """
    room = source.tree / ROOM
    mine = [name for name in area.sources if (room / name).is_file()]
    mine = [f"{area.room}/{program}.c", *mine]
    return Recipe(
        name=program,
        room=f"{KIND}/{source.package_version}",
        flags=(*_FLAGS, *area.flags, f"-I{found}"),
        sources=tuple(f"{ROOM}/{name}" for name in mine),
    )


def build_tests(
    areas: Mapping[str, Area], tests: Sequence[Test], source: Source, progress: Update
) -> Built:
    """Compile what these need. Raises CannotRun without a compiler."""
    # Of mm: without liburing.
    found = cache_root() / KIND / "found"
    if not (found / "local_config.h").is_file():
        write_file(found / "local_config.h", b"")
    programs = list(dict.fromkeys((one.area, one.program) for one in tests))
    files: dict[str, bytes] = {}
    failed: dict[str, str] = {}
    for done, (name, path) in enumerate(programs):
        area = areas[name]
        progress(path, done, len(programs))
        short = path.rpartition("/")[2]
        for each in area.files:
            there = source.tree / ROOM / area.room / each
            if there.is_file():
                files[f"{KIND}/{name}/{each}"] = there.read_bytes()
        if short in area.files:
            if path not in files:
                failed[path] = "this kernel's sources lack it"
            continue
        try:
            made = compiled(source.tree, recipe(area, short, source, found))
        except (LabError, FileNotFoundError) as error:
            failed[path] = _why(error)
            continue
        files[path] = made.read_bytes()
    return Built(files, failed)


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "this kernel's sources lack it"
    lines = str(error).splitlines()
    found = next((line for line in lines if any(w in line for w in _WHY)), lines[-1])
    return f"does not compile: {found.strip()}"


def outcome(mode: Mode, one: Test) -> dict[str, Rank]:
    """What a test's runs in a mode have come to: of each result the best."""
    return results(_runs(mode, one))


def _runs(mode: Mode, one: Test) -> list[selftests.Try]:
    return [
        selftests.Try(run.name, mode.name, run.status, run.text)
        for run in mode.of(one.name)
    ]


def shown(modes: Sequence[Mode], tests: Iterable[Test]) -> tuple[Test, ...]:
    """Those of which anything has passed on stock."""
    stock = [mode for mode in modes if mode.name == STOCK]
    return tuple(
        one
        for one in tests
        if any(Rank.PASSED in outcome(mode, one).values() for mode in stock)
    )


def worse_tests(modes: Sequence[Mode], tests: Sequence[Test]) -> list[str]:
    """A sentence for each test that does worse in a mode than on stock. A mode that
    has not come so far is no sentence: its error is one."""
    found = []
    for mode in modes:
        runs = any(mode.of(one.name) for one in tests)
        if runs and not _slept(mode, tests):
            found.append(f"{mode.name}: {KIND}: the machine never suspended")
    for stock in (mode for mode in modes if mode.name == STOCK):
        for mode, one in product(modes, tests):
            if mode.error is None or mode.of(one.name):
                found += (
                    f"{mode.name}: {one.name}: {each} in {STOCK}"
                    for each in lost(outcome(stock, one), outcome(mode, one))
                )
    return found


def table_of(
    modes: Sequence[Mode], tests: Sequence[Test], absent: Mapping[str, str]
) -> str:
    """A line a test that shows something, then one for each that does not, and why.

    ``absent`` are programs that were not run, by why.
    """
    rows = shown(modes, tests)
    head = "passed/failed/skipped"
    width = max((len(one.name) for one in rows), default=len(head)) + 2
    lines = [f"{head:{width}}" + "".join(f"{mode.name:>22}" for mode in modes)]
    for one in rows:
        cells = [_cell(mode, one) for mode in modes]
        lines.append(f"{one.name:{width}}" + "".join(f"{cell:>22}" for cell in cells))
    slept = [
        sum(run.suspends for t in tests for run in mode.of(t.name)) for mode in modes
    ]
    lines.append(f"{'suspends meanwhile':{width}}" + "".join(f"{n:>22}" for n in slept))
    for one in tests:
        if one not in rows and one.program not in absent:
            lines.append(f"shows nothing: {one.name}: {_nothing(modes, one)}")
    lines += (f"not run: {name}: {why}" for name, why in absent.items())
    return "\n".join(lines) + "\n"


def _cell(mode: Mode, one: Test) -> str:
    """What the best run has said, and how many were bad."""
    runs = _runs(mode, one)
    if not runs:
        return "-"
    passed, failed, skipped = max(map(_counts, runs), key=lambda n: (n[0], -n[1]))
    bad = sum(run.status not in (PASS, SKIP) for run in runs)
    cell = f"{passed}/{failed}/{skipped}"
    return f"{cell}, {bad} of {len(runs)} bad" if bad else cell


def _counts(run: selftests.Try) -> tuple[int, int, int]:
    """Passed, failed, skipped; how it ended counts where it has said nothing else."""
    found = results([run])
    if len(found) > 1:
        del found[STATUS]
    kinds = (Rank.PASSED, Rank.FAILED, Rank.SKIPPED)
    passed, failed, skipped = (list(found.values()).count(kind) for kind in kinds)
    return passed, failed, skipped


def _slept(mode: Mode, tests: Iterable[Test]) -> int:
    return sum(run.suspends for one in tests for run in mode.of(one.name))


def _nothing(modes: Sequence[Mode], one: Test) -> str:
    """Why a test shows nothing, in its own last words."""
    runs = [run for mode in modes if mode.name == STOCK for run in mode.of(one.name)]
    if not runs:
        return f"not run in {STOCK}"
    last = runs[-1]
    word = "skipped" if last.status == SKIP else f"status {last.status}"
    said = [line.strip() for line in last.text.splitlines() if line.strip()]
    return f"{word} in {STOCK}: {' | '.join(said[-2:])}"
