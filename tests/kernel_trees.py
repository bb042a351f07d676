# SPDX-License-Identifier: GPL-2.0-only
"""The trees that kernels are built in, for tests that compile in them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from lull.errors import CannotRun
from lull.host.files import digest, repo_root
from lull.host.process import end_group
from lull.kernels import toolchain
from lull.kernels.bases import load_base
from lull.kernels.build import blueprint, open_tree
from lull.kernels.cache import Cache
from lull.kernels.config import merge_command
from lull.kernels.inputs import gather
from lull.kernels.make import build_identity, environment, make_flags
from lull.kernels.patches import parse_patch
from lull.kernels.source import fetch
from lull.kernels.update import silent
from lull.model import Arm
from lull.proof.key import MAKER, code
from tests import repository

BASE = "6.12"

#: The features themselves.
OURS = "kernel/lull/"

#: Where objects are that are only tried, beside the kernel's own.
TRIED = "lull-tried"

#: What has a part in each test here.
WHATEVER = ("tests/kernel_trees.py", "tests/repository.py")

#: What checkpatch says of every trace event and every defining macro.
_EXPECTED = re.compile(
    r"include/trace/events/.*CHECK: (Alignment should match|Lines should not end)"
    r"|CHECK: Macro argument reuse"
    # It takes the word Kconfig in a path for the file's own name.
    r"|It's generally not useful to have the filename"
)


def hooked(base: str = BASE) -> tuple[str, ...]:
    """The objects of all files that a hook changes, or that are new beside them."""
    inputs = gather(repo_root(), base, Arm.LULL)
    changed = {
        part.path
        for hook in inputs.hooks
        for part in parse_patch(hook.name, hook.read_text("utf-8"))
    }
    found = {path for path in (*changed, *inputs.overlay) if path.endswith(".c")}
    objects = (path.removesuffix(".c") + ".o" for path in found)
    return tuple(sorted(name for name in objects if not name.startswith(OURS)))


def features_of(base: str) -> tuple[str, ...]:
    """The features that are on a base."""
    return gather(repo_root(), base, Arm.LULL).features


def kernel_parts(
    arm: Arm, *tests: str, base: str = BASE, makers: Sequence[str] = ()
) -> dict[str, str]:
    """What a test that compiles or reads all of an arm's files depends on. ``makers``
    are modules of the lab by which it does so, besides those that make a tree."""
    root = repo_root()
    inputs = gather(root, base, arm)
    files = {
        **inputs.files(),
        **{name: root / name for name in (*WHATEVER, *tests)},
    }
    return {
        "source": _version(base),
        # Whose checkpatch.pl it is, on any base.
        "checkpatch": digest(_version(BASE), _perl()),
        "files": digest(
            *(part for n, p in files.items() for part in (n, p.read_bytes())),
            # What is asked for and is not there for a reason.
            *sorted(inputs.absent),
        ),
        "maker": code(root, MAKER, *makers),
        "compiler": digest(toolchain.compiler(), *build_identity()),
    }


def _version(base: str) -> str:
    return fetch(load_base(base), Cache()).package_version


@cache
def _perl() -> str:
    return subprocess.run(["perl", "-v"], capture_output=True, text=True).stdout


def had(base: str) -> None:
    """Skip where the sources of another base cannot be had here."""
    try:
        fetch(load_base(base), Cache(), silent)
    except CannotRun as error:
        if base == BASE:
            raise
        pytest.skip(f"no sources of {base}: {error}")


@contextmanager
def opened(arm: Arm, base: str = BASE) -> Iterator[Path]:
    """An arm's tree, locked, saying what this checkout says; nothing is built."""
    cache, record = Cache(), load_base(base)
    plan = blueprint(record, arm, fetch(record, cache, silent), repo_root())
    with cache.lock(plan.name):
        work, _ = open_tree(plan, cache)
        work.close()
        yield work.source


def tried(tree: Path) -> Path:
    """The directory for all that is tried in a tree, so that make compiles again only
    what sees a difference: what an earlier configuration had is still in it."""
    obj = tree / TRIED
    obj.mkdir(exist_ok=True)
    return obj


def configure(tree: Path, arm: Arm, extra: str = "", base: str = BASE) -> Path:
    """``tried``, with an arm's configuration. ``extra`` are lines that come after the
    arm's: of two for a symbol the last counts."""
    obj = tried(tree)
    make(obj, "allnoconfig")
    fragments = gather(repo_root(), base, arm).fragments
    run(merge_command(tree, obj, fragments), tree)
    make(obj, "olddefconfig")
    if extra:
        config = obj / ".config"
        config.write_text(f"{config.read_text('utf-8')}\n{extra}\n", "utf-8")
        make(obj, "olddefconfig")
    return obj


def make(obj: Path, *words: str) -> str:
    """Run make for ``obj``, in the tree that it is in; returns what it said. A failure
    fails the test."""
    tree = obj.parent
    flags = [f"O={obj}", *make_flags(tree, toolchain.ccache() is not None)[1:]]
    return run(["make", *flags, *words], tree)


def members(folder: Path) -> list[Path]:
    """The objects that the configuration has of a folder, and those below it."""
    said = run(["ar", "t", str(folder / "built-in.a")], folder)
    return [folder / name for name in said.splitlines()]


def run(command: Sequence[str], tree: Path) -> str:
    """Run a step of a build and return what it said. Whoever interrupts it ends all of
    it: what make has started would go on, and the tree's lock be another's."""
    cache = Cache()
    has_ccache = toolchain.ccache() is not None
    env = environment(cache.ccache if has_ccache else None, cache.work)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", "--", *command],
        cwd=tree,
        env=env,
        stdout=pipe,
        stderr=pipe,
        text=True,
        # No session of its own, to which our niceness would be nothing.
        process_group=0,
    ) as process:
        try:
            said, errors = process.communicate()
        except BaseException:
            end_group(process)
            raise
    assert process.returncode == 0, errors[-3000:]
    return said + errors


def checkpatch(*words: str | Path) -> list[str]:
    """What the kernel's own checkpatch.pl --strict says, but for what it must."""
    tree = fetch(load_base(BASE), Cache(), silent).tree
    command = ["perl", str(tree / "scripts/checkpatch.pl"), "--strict", "--terse"]
    command += ["--no-summary", *map(str, words)]
    # In the tree: elsewhere it takes context lines for whole files. What its user has
    # told it to leave out is at home.
    env = {**repository.environment(), "HOME": str(tree)}
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if ": " in line]
    # Of one that has died, or of a shell of its that has, silence says nothing.
    assert done.returncode == bool(lines) and not done.stderr, done.stderr[-3000:]
    return [line for line in lines if not _EXPECTED.search(line)]
