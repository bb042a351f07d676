# SPDX-License-Identifier: GPL-2.0-only
"""The command as a user types it: statuses and messages, no kernel needed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def lull(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lull", *words],
        cwd=ROOT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("words", "valid"),
    [
        (("run", "freze"), "freeze"),
        (("run", "freeze", "--mode", "fast"), "exit_state"),
        (("run", "freeze", "--workload", "sheep"), "sleepers"),
        (("run", "freeze", "--base", "5.4"), "6.12"),
        (("run", "zfree", "--base", "7.3", "--mode", "fast"), "stock, deferred, lull"),
        (("profile", "zfree", "one", "--base", "7.3"), "munmap"),
        (("profile", "devices", "cycle", "--vs", "lull-fast"), "chain, quiet"),
        (("profile", "freeze", "sheep"), "sleepers"),
        (("profile", "freeze", "zombies", "--mode", "fast"), "exit_state"),
        (("profile", "freeze", "zombies", "--mode", "untouched"), "exit_state"),
        (("profile", "freeze", "zombies", "--vs", "fast"), "lull, untouched"),
        (("profile", "freeze", "zombies", "--param", "sheep=1"), "zombies=30000"),
        (("run", "freeze", "--clock", "sun"), "insn"),
        (("kernel", "build", "--base", "5.4"), "6.12"),
        (("run", "containers"), "lull guest measure containers"),
        (("list", "stress"), "lull guest stress"),
        (("profile", "kill", "x"), "lull guest measure kill"),
        (("guest", "measure", "lid"), "lull run lid"),
        (("guest", "measure", "kill", "--base", "6.1"), "try: another --base"),
        (("guest", "measure", "stress"), "lull guest stress"),
        (("guest", "measure", "../features/freeze"), "there is: containers"),
        (("soak", "nope"), "one of: attach, devices, freeze, thaw, zfree\n"),
        (("run", "lid", "--ablate", "--dry-run"), "[[steps]]"),
        (("run", "freeze", "--ablate", "--mode", "lull"), "leave --mode out"),
    ],
)
def test_an_unknown_name_is_a_usage_error_that_lists_the_valid_ones(
    words: tuple[str, ...], valid: str
) -> None:
    done = lull(*words)
    assert done.returncode == 2, done.stderr
    assert valid in done.stderr


def test_an_unknown_option_is_a_usage_error() -> None:
    assert lull("run", "--fast").returncode == 2


def test_without_qemu_it_cannot_run_and_says_how_to_mend_it(tmp_path: Path) -> None:
    """A PATH without QEMU; the compiler and the rest stay reachable."""
    for folder in ("/usr/bin", "/bin", "/usr/local/bin"):
        for tool in Path(folder).glob("*"):
            link = tmp_path / tool.name
            if not tool.name.startswith("qemu-system") and not os.path.lexists(link):
                link.symlink_to(tool)
    done = lull("run", "freeze", "--quick", PATH=str(tmp_path))
    assert done.returncode == 4, done.stderr
    assert "qemu-system-x86" in done.stderr
    assert "apt-get install" in done.stderr


def test_help_says_what_a_profile_is_compared_with() -> None:
    done = lull("profile", "--help", COLUMNS="80")
    assert "untouched" in done.stdout


def test_dry_run_prints_the_commands_and_does_nothing(tmp_path: Path) -> None:
    done = lull(
        "run", "freeze", "--dry-run", "--quick", XDG_CACHE_HOME=str(tmp_path / "cache")
    )
    assert done.returncode == 0, done.stderr
    assert "qemu-system-x86_64" in done.stdout
    assert "-icount shift=0,sleep=off" in done.stdout
    assert "case 0 freeze zombies" in done.stdout
    assert "stock kernel" not in done.stdout
    assert "KERNEL-stock" not in done.stdout
    assert not (tmp_path / "cache" / "lull" / "kernels").exists()


def readme_commands() -> list[str]:
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [
        line.removeprefix("$ ")
        for block in blocks
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


def test_the_readme_has_commands() -> None:
    assert len(readme_commands()) >= 5


@pytest.mark.parametrize("command", readme_commands())
def test_the_commands_of_the_readme_work(command: str) -> None:
    words = shlex.split(command)
    assert words[0] == "lull"
    done = lull(*words[1:])
    assert done.returncode == 0, done.stderr


def test_what_computes_nothing_does_not_load_what_computes() -> None:
    """SciPy's statistics are large, and most commands compute none."""
    code = "import lull.cli, sys; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
