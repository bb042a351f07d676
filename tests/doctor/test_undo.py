# SPDX-License-Identifier: GPL-2.0-only
"""What a measurement changes is put back, whoever is killed and when.

The switches are files of a folder, which ``--root`` names; the rest is real.
"""

from __future__ import annotations

import fcntl
import os
import pty
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lull.doctor.bundle import Bundle, read_bundle
from lull.doctor.collect import load_folder
from tests.waiting import until

KNOBS = {
    "sys/power/pm_test": "[none] core processors platform devices freezer",
    "sys/module/suspend/parameters/pm_test_delay": "5",
}
BACK = {**KNOBS, "sys/power/pm_test": "none"}
DELAY = "sys/module/suspend/parameters/pm_test_delay"
NOTE = "var/lib/lull/doctor.note"
LOCK = "var/lib/lull/doctor.lock"
FREEZER = ("--measure", "freezer", "--yes")


@pytest.fixture(scope="module")
def collector(any_collector: Path) -> Path:
    return any_collector


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        **KNOBS,
        "sys/power/state": "freeze mem disk\n",
        "proc/sys/kernel/random/boot_id": "this-boot\n",
        "dev/kmsg": "<6>[    1.000000] before\n",
    }
    place = tmp_path / "root"
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def words(collector: Path, root: Path, out: Path, *more: str) -> list[str | Path]:
    return [collector, "collect", "--root", root, *more, out]


def collect(collector: Path, root: Path, out: Path, *more: str) -> Bundle:
    subprocess.run(words(collector, root, out, *more), check=True, timeout=300)
    return read_bundle(load_folder(out))


def knobs(root: Path) -> dict[str, str]:
    """The switches' values; of one that lists its values the one in brackets."""
    found = {name: (root / name).read_text() for name in KNOBS}
    return {
        name: text.partition("[")[2].partition("]")[0] or text
        for name, text in found.items()
    }


def all_gone(root: Path) -> None:
    """Returns when nobody who measures, or watches, lives any more: they hold it."""
    if not (root / LOCK).exists():
        return
    with (root / LOCK).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def noted(root: Path, child: subprocess.Popen[bytes]) -> bool:
    """Whether there is something to put back; returns as soon as there is, or it is
    over."""
    while not (found := (root / NOTE).exists()) and child.poll() is None:
        pass
    return found


def children(pid: int) -> list[int]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()]


def test_a_whole_run_puts_all_back(collector: Path, root: Path, tmp_path: Path) -> None:
    bundle = collect(collector, root, tmp_path / "o", *FREEZER)
    assert knobs(root) == BACK and not (root / NOTE).exists()
    assert bundle.text("freezer").count("cycle\t") == 5


@pytest.mark.seconds(15)
def test_two_hundred_kills_at_random_moments(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    run = (*FREEZER, "--times", "300")
    begin = time.monotonic()
    child = subprocess.Popen(words(collector, root, tmp_path / "whole", *run))
    assert noted(root, child)
    first = time.monotonic()
    assert child.wait() == 0
    all_gone(root)
    end = time.monotonic()
    when = random.Random(18)
    met = 0
    for n in range(200):
        child = subprocess.Popen(
            words(collector, root, tmp_path / str(n), *run), stderr=subprocess.DEVNULL
        )
        # Before and after is most of the time: half of them come between.
        if n % 2:
            noted(root, child)
        time.sleep(when.uniform(0, end - (first if n % 2 else begin)))
        met += (root / NOTE).exists()
        child.send_signal(signal.SIGKILL)
        child.wait()
        all_gone(root)
        assert knobs(root) == BACK, n
        assert not (root / NOTE).exists(), n
    if met < 20:
        pytest.skip(f"so busy that only {met} had anything to put back")


class Halfway:
    """A run that stands still with a switch changed and the other noted: that one is
    a pipe, which nobody reads."""

    def __init__(self, collector: Path, root: Path, out: Path) -> None:
        self.root = root
        self.delay = root / DELAY
        self.delay.unlink()
        os.mkfifo(self.delay)
        self.main = subprocess.Popen(words(collector, root, out, *FREEZER))
        self.delay.write_text("5\n")
        until("it notes the change", lambda: self.noted("pm_test_delay\t5\n"))
        # The watcher, and the one that reads files.
        self.children = children(self.main.pid)

    def noted(self, text: str) -> bool:
        note = self.root / NOTE
        return note.exists() and text in note.read_text()

    def kill_children(self) -> None:
        for pid in self.children:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill(self) -> None:
        self.main.send_signal(signal.SIGKILL)
        self.main.wait()

    def written(self, size: int = 1) -> str:
        """So much of what is written to the pipe."""
        pipe = os.open(self.delay, os.O_RDONLY | os.O_NONBLOCK)
        found = b""

        def some() -> bool:
            nonlocal found
            with suppress(BlockingIOError):
                found += os.read(pipe, 100)
            return len(found) >= size

        try:
            until("there is some of it", some)
        finally:
            os.close(pipe)
        return found.decode()


@pytest.fixture
def halfway(collector: Path, root: Path, tmp_path: Path) -> Iterator[Halfway]:
    run = Halfway(collector, root, tmp_path / "halfway")
    yield run
    run.kill_children()
    run.kill()


def test_a_change_is_noted_before_and_taken_back_after_sigkill(
    halfway: Halfway, root: Path
) -> None:
    assert (root / "sys/power/pm_test").read_text() == "freezer"
    assert halfway.noted("this-boot\nfile\t/sys/power/pm_test\tnone\nfile\t/sys/mod")
    halfway.kill()
    # The watcher writes to the pipe.
    assert halfway.written() == "5"
    all_gone(root)
    assert (root / "sys/power/pm_test").read_text() == "none"
    assert not (root / NOTE).exists()


@pytest.fixture
def left(halfway: Halfway, root: Path) -> None:
    """What a run has left of which all processes were killed."""
    halfway.kill_children()
    halfway.kill()
    all_gone(root)
    assert (root / "sys/power/pm_test").read_text() == "freezer"
    assert (root / NOTE).exists()
    halfway.delay.unlink()
    halfway.delay.write_text("0")


@pytest.mark.usefixtures("left")
def test_the_next_start_takes_back_what_is_left_and_says_so(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    bundle = collect(collector, root, tmp_path / "o")
    assert knobs(root) == BACK and not (root / NOTE).exists()
    assert [(x.path, x.value, x.error) for x in bundle.manifest.undone] == [
        ("/" + DELAY, "5", ""),
        ("/sys/power/pm_test", "none", ""),
    ]
    assert bundle.manifest.left_behind == "done"
    assert collect(collector, root, tmp_path / "p").manifest.left_behind == ""


@pytest.mark.usefixtures("left")
def test_a_start_of_the_machine_has_put_all_back(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    (root / "proc/sys/kernel/random/boot_id").write_text("another\n")
    (root / "sys/power/pm_test").write_text("[none] core devices")
    bundle = collect(collector, root, tmp_path / "o")
    assert knobs(root) == {**BACK, DELAY: "0"} and not (root / NOTE).exists()
    assert [x.path for x in bundle.manifest.undone] == [""]


@pytest.mark.usefixtures("left")
def test_what_cannot_be_taken_back_is_not_forgotten(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    (root / DELAY).unlink()
    (root / DELAY).mkdir()
    bundle = collect(collector, root, tmp_path / "o", *FREEZER)
    assert bundle.manifest.left_behind == "EBUSY"
    assert [x.error for x in bundle.manifest.undone] == ["EISDIR", ""]
    # And nothing is measured meanwhile, which would be a note over that one.
    assert bundle.text("freezer") == "lacks\tnote\tEBUSY\n"
    assert "pm_test_delay\t5" in (root / NOTE).read_text()


@pytest.mark.seconds(4)
def test_a_second_run_does_not_take_away_the_note_of_the_first(
    halfway: Halfway, collector: Path, root: Path, tmp_path: Path
) -> None:
    second = collect(collector, root, tmp_path / "p")
    assert second.manifest.left_behind == "EBUSY" and not second.manifest.undone
    assert halfway.noted("pm_test\tnone")
    assert (root / "sys/power/pm_test").read_text() == "freezer"


def test_a_watcher_that_dies_is_replaced(halfway: Halfway, root: Path) -> None:
    halfway.kill_children()
    assert halfway.written(2) == "05"
    assert halfway.main.wait(30) == 0
    assert (root / "sys/power/pm_test").read_text() == "none"
    assert not (root / NOTE).exists()


def test_a_folder_that_others_may_write_to_is_not_believed(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    (root / NOTE).parent.mkdir(parents=True)
    (root / NOTE).write_text("lull-note 1 this-boot\nfile\t/dev/kmsg\tgone\n")
    (root / NOTE).parent.chmod(0o777)
    bundle = collect(collector, root, tmp_path / "o", *FREEZER)
    assert bundle.manifest.left_behind == "EPERM"
    assert bundle.text("freezer") == "lacks\tnote\tEPERM\n"
    assert "before" in (root / "dev/kmsg").read_text()


def test_without_a_terminal_it_refuses(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        words(collector, root, tmp_path / "o", "--measure", "freezer"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "--plan" in done.stderr and "--yes" in done.stderr
    assert {name: (root / name).read_text() for name in KNOBS} == KNOBS
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_on_a_terminal_it_says_what_it_does_and_asks(
    collector: Path, root: Path, tmp_path: Path, answer: str, status: int
) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        words(collector, root, tmp_path / "o", "--measure", "freezer", "--times", "3"),
        stdin=theirs,
        stderr=theirs,
    )
    said = b""
    while b"Go on?" not in said:
        said += os.read(ours, 4096)
    assert b"freezer: stops all processes" in said and b"3 times" in said
    assert {name: (root / name).read_text() for name in KNOBS} == KNOBS
    os.write(ours, answer.encode())
    assert child.wait(30) == status
    os.close(ours)
    os.close(theirs)
    assert (tmp_path / "o" / "freezer").exists() == (status == 0)


def test_what_changes_nothing_need_not_be_asked_for(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    bundle = collect(collector, root, tmp_path / "o", "--measure", "sleep-hooks")
    assert bundle.text("sleep-hooks").startswith("lacks\tjournal\t")


def test_a_name_or_a_number_that_is_none_is_an_error(
    collector: Path, root: Path, tmp_path: Path
) -> None:
    for more in (("--measure", "x"), ("--times", "0"), ("--times", "1001")):
        done = subprocess.run(
            words(collector, root, tmp_path / "o", *more), capture_output=True
        )
        assert done.returncode == 2 and done.stderr
