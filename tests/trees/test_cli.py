# SPDX-License-Identifier: GPL-2.0-only
"""The command `lull tree`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lull.errors import UsageError
from lull.trees.cli import put
from lull.trees.reader import read
from lull.trees.report import report
from lull.trees.shapes import make
from lull.trees.writer import write

ROOT = Path(__file__).resolve().parents[2]


def lull(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "lull", "tree", *words],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
        input=stdin,
        capture_output=True,
        timeout=120,
    )


HELD = b"""lull-tree 1
device x async suspend=298000
device s suspend=4000
device n async parent=s suspend=123000
"""


def test_the_report_says_what_each_set_of_rules_would_take() -> None:
    assert report(read(HELD, "f"), cpus=2) == (
        "3 devices, 2 async (67%), 0 links\n"
        "\n"
        "phase          calls      sum  critical    stock  parents    links     lull\n"
        "suspend            3    425ms     298ms    425ms    298ms    298ms    298ms\n"
        "suspend_late       0       0s        0s       0s       0s       0s       0s\n"
        "suspend_noirq      0       0s        0s       0s       0s       0s       0s\n"
        "resume_noirq       0       0s        0s       0s       0s       0s       0s\n"
        "resume_early       0       0s        0s       0s       0s       0s       0s\n"
        "resume             0       0s        0s       0s       0s       0s       0s\n"
        "\n"
        "critical path of suspend, 298ms: x 298ms\n"
        "Under each set of rules: the phase on 2 CPUs when starting a worker and\n"
        "waking a thread cost nothing.\n"
    )


def test_the_report_of_a_long_chain_stays_short_and_narrow() -> None:
    text = report(make("chain:n=500"), cpus=2)
    assert "and 488 more" in text
    assert len(text.splitlines()) < 25
    assert max(map(len, text.splitlines())) <= 75


def test_what_can_never_happen_is_said() -> None:
    text = report(read(b"lull-tree 1\ndevice a fail=suspend:5\n", "f"), cpus=1)
    assert "! fail or wakeup without a callback" in text
    assert "a in suspend" in text
    assert "! no device has a callback" in text
    assert "!" not in report(read(HELD, "f"), cpus=1)


def test_callbacks_that_direct_devices_skip_are_not_counted() -> None:
    text = report(read(b"lull-tree 1\ndevice a direct suspend=5\n", "f"), cpus=1)
    assert "1 direct, of which 1 get no callbacks" in text
    assert "suspend            0       0s" in text


def test_make_writes_what_check_reads(tmp_path: Path) -> None:
    spec = "random:n=20,seed=3"
    done = lull("make", spec)
    assert done.returncode == 0, done.stderr
    assert read(done.stdout, "f") == make(spec)
    assert f"# lull tree make {spec}".encode() in done.stdout
    file = tmp_path / "a.tree"
    assert lull("make", spec, "--output", str(file)).returncode == 0
    assert file.read_bytes() == done.stdout
    checked = lull("check", str(file))
    assert checked.stdout.startswith(b"20 devices, ")
    assert lull("check", "-", stdin=done.stdout).stdout == checked.stdout


def test_sysfs_writes_a_description_with_its_caveats(tmp_path: Path) -> None:
    (tmp_path / "devices/pci0/power").mkdir(parents=True)
    done = lull("sysfs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert b"# power/async is missing" in done.stdout
    assert write(read(done.stdout, "f")) == "lull-tree 1\ndevice pci0\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("make", "chian"), "one of: chain"),
        (("check", "/nowhere"), "No such file"),
        (("check", "-"), "stdin:1: the first line is empty"),
        (("sysfs", "/nowhere"), "lull tree sysfs /sys"),
        (("check", "-", "--cpus", "0"), "--cpus"),
    ],
)
def test_a_mistake_is_a_usage_error_with_a_hint(
    words: tuple[str, ...], says: str
) -> None:
    done = lull(*words)
    assert done.returncode == 2
    assert says in done.stderr.decode()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "x"
    done = lull("make", "chain", "--output", str(out))
    assert done.returncode == 2
    assert f"lull: {out}: cannot be written: Not a dir" in done.stderr.decode()
    assert b"--output FILE" in done.stderr


def test_the_directory_of_out_is_made(tmp_path: Path) -> None:
    out = tmp_path / "new" / "file"
    done = lull("make", "chain:n=1", "--output", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == lull("make", "chain:n=1").stdout


def test_out_may_be_what_stdout_is(tmp_path: Path) -> None:
    # A link of its own: a mistake must not replace that of the machine.
    link = tmp_path / "stdout"
    link.symlink_to("/dev/stdout")
    done = lull("make", "chain:n=1", "--output", str(link))
    assert done.stdout == lull("make", "chain:n=1").stdout
    assert link.is_symlink()


def test_a_write_that_fails_leaves_the_old_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "a.tree"
    out.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="cannot be written: No space"):
        put("new", out)
    assert out.read_text() == "old"


@pytest.mark.parametrize("words", [(), ("make",), ("check",), ("sysfs",)])
def test_help_fits_a_screen(words: tuple[str, ...]) -> None:
    done = lull(*words, "--help")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) <= 24
