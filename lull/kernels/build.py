# SPDX-License-Identifier: GPL-2.0-only
"""One kernel: from a base and an arm to a bzImage in the cache."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lull.host.files import repo_root, write_file
from lull.kernels import source, toolchain
from lull.kernels.bases import Base, load_base
from lull.kernels.cache import NEED_WARM, Cache, replace_tree
from lull.kernels.config import check_config
from lull.kernels.inputs import Inputs, gather
from lull.kernels.make import (
    OBJ,
    Interrupted,
    build_identity,
    build_steps,
    environment,
    run_step,
)
from lull.kernels.record import (
    Kernel,
    kernel_dir,
    load,
    make_key,
    prune,
    sha256,
    touch,
)
from lull.kernels.source import Source
from lull.kernels.update import Update, silent
from lull.kernels.workspace import Workspace, plan_changes, reader
from lull.model import Arm

#: Lines that make says in a first build of the trimmed config.
_FIRST_GUESS = 1700

#: What is kept of a build: name in the cache -> path below the objects.
_KEPT = {
    "bzImage": "arch/x86/boot/bzImage",
    "System.map": "System.map",
    "vmlinux": "vmlinux",
    "config": ".config",
}


@dataclass(frozen=True)
class Blueprint:
    """A build, decided but not begun."""

    base: Base
    arm: Arm
    inputs: Inputs
    source: Source
    compiler: str
    key: str

    @property
    def name(self) -> str:
        return f"{self.base.name}-{self.arm}"

    @property
    def label(self) -> str:
        return f"{self.base.name} {self.arm}"


def blueprint(base: Base, arm: Arm, source_: Source, root: Path) -> Blueprint:
    """Gather the inputs and compute the key."""
    inputs = gather(root, base.name, arm)
    files = {name: path.read_bytes() for name, path in inputs.files().items()}
    compiler = toolchain.compiler()
    key = make_key(source_.package_version, files, compiler, build_identity())
    return Blueprint(base, arm, inputs, source_, compiler, key)


def build(
    base: str,
    arm: Arm,
    progress: Update = silent,
    *,
    cache: Cache | None = None,
    root: Path | None = None,
) -> Kernel:
    """The kernel of an arm: from the cache, else fetched and built.

    Raises CannotRun where the machine lacks something, LabError where a
    patch, the configuration or the build fails.
    """
    record = load_base(base, root)
    cache = cache or Cache()
    toolchain.need_build_tools()
    cache.prepare()
    src = source.fetch(record, cache, progress)
    plan = blueprint(record, arm, src, root or repo_root())
    place = kernel_dir(cache, base, arm, plan.key)
    if kernel := load(place):
        touch(kernel)
        return kernel
    with cache.lock(plan.name, lambda text: progress(text, 0, 0)) as lock:
        # Whoever held the lock may have built just this.
        if kernel := load(place):
            return kernel
        if place.is_dir():
            progress(f"a kernel is forgotten: {place} is not whole", 0, 0)
        cache.need(NEED_WARM, "building a kernel")
        toolchain.need_memory()
        kernel = _build(plan, cache, place, lock, progress)
    prune(cache, base, arm)
    return kernel


def _build(
    plan: Blueprint, cache: Cache, place: Path, lock: int, progress: Update
) -> Kernel:
    begun = time.monotonic()
    progress(f"{plan.label}: preparing the tree", 0, 0)
    tree, fresh = open_tree(plan, cache)
    if fresh and plan.arm is Arm.LULL:
        # The two differ in a few files; the debug arm differs in all.
        stock = Workspace(cache, cache.work / f"{plan.base.name}-{Arm.STOCK}")
        fresh = not tree.adopt(stock, OBJ)
    log = cache.logs / f"{plan.name}.log"
    log.unlink(missing_ok=True)
    expected = _expected(cache, plan.name) if fresh else 0
    has_ccache = toolchain.ccache() is not None
    env = environment(cache.ccache if has_ccache else None, cache.work)
    try:
        lines = make_kernel(plan, tree.source, env, log, (lock,), progress, expected)
    except (Exception, Interrupted):
        # make ended by itself, and keeps what is whole. A KeyboardInterrupt of
        # another kind leaves no state, and then the tree is made anew.
        tree.close()
        raise
    tree.close()
    if fresh:
        write_file(_count_file(cache, plan.name), str(lines).encode())
    return _keep(plan, cache, place, tree.source / OBJ, log, time.monotonic() - begun)


def open_tree(plan: Blueprint, cache: Cache) -> tuple[Workspace, bool]:
    """The plan's tree, saying what the plan says, and True where it was made anew.

    For the holder of the plan's lock, who closes it. A kernel in the cache says
    nothing of the tree: another checkout may have been built there since.
    """
    changes = plan_changes(plan.inputs, reader(plan.source.tree))
    tree = Workspace(cache, cache.work / plan.name)
    return tree, tree.open(plan.source.tree, plan.source.package_version, changes)


def make_kernel(
    plan: Blueprint,
    tree: Path,
    env: dict[str, str],
    log: Path,
    keep_open: tuple[int, ...] = (),
    progress: Update = silent,
    expected: int = 0,
    targets: tuple[str, ...] = ("bzImage",),
) -> int:
    """Configure and make in a tree; returns the lines that make said."""
    obj = tree / OBJ
    obj.mkdir(exist_ok=True)
    fragments = plan.inputs.fragments
    jobs = (os.cpu_count() or 1) + 1
    lines = 0
    for step in build_steps(tree, fragments, env, jobs, targets):
        if step.counted:
            check_config(
                [(path.name, path.read_text("utf-8")) for path in fragments],
                (obj / ".config").read_text("utf-8"),
                plan.inputs.absent,
            )
        said = run_step(step, log, keep_open, progress, plan.label, expected)
        lines += said if step.counted else 0
    return lines


def _keep(
    plan: Blueprint, cache: Cache, place: Path, obj: Path, log: Path, seconds: float
) -> Kernel:
    """Put a finished build under its key, all at once."""
    with cache.temp(plan.name) as temp:
        new = temp / "kernel"
        new.mkdir()
        for name, path in _KEPT.items():
            shutil.copyfile(obj / path, new / name)
        shutil.copyfile(log, new / "build.log")
        kernel = Kernel(
            base=plan.base.name,
            arm=plan.arm,
            version=plan.source.version,
            package_version=plan.source.package_version,
            key=plan.key,
            digest=sha256(new / "bzImage"),
            files={name: sha256(new / name) for name in _KEPT if name != "bzImage"},
            compiler=plan.compiler,
            built=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(seconds, 1),
            directory=place,
        )
        write_file(new / "kernel.json", kernel.model_dump_json(indent=1).encode())
        replace_tree(new, place)
    return kernel


def _count_file(cache: Cache, name: str) -> Path:
    return cache.stamps / f"lines-{name}"


def _expected(cache: Cache, name: str) -> int:
    try:
        return int(_count_file(cache, name).read_text("ascii"))
    except (OSError, ValueError):
        return _FIRST_GUESS


def describe(
    base: str, arm: Arm, *, cache: Cache | None = None, root: Path | None = None
) -> list[str]:
    """The exact commands of a build, as text; nothing is done."""
    record = load_base(base, root)
    cache = cache or Cache()
    lines: list[str] = []
    src = source.cached(record, cache)
    if src is None:
        lines.append(f"# fetch, in a new directory below {cache.root}/tmp")
        lines += [shlex.join(command) for command in source.fetch_commands(record)]
        tree = cache.sources / base / "VERSION" / "tree"
    else:
        tree = src.tree
        plan = blueprint(record, arm, src, root or repo_root())
        state = (
            "is in the cache"
            if load(kernel_dir(cache, base, arm, plan.key))
            else ("is to be built")
        )
        lines.append(f"# {plan.label}, key {plan.key}: {state}")
    inputs = gather(root or repo_root(), base, arm)
    work = cache.work / f"{base}-{arm}" / "src"
    lines.append(shlex.join(["cp", "-al", str(tree), str(work)]))
    lines += [f"# overlay: {path}" for path in inputs.overlay]
    lines += [f"# hook: {path}" for path in inputs.hooks]
    has_ccache = toolchain.ccache() is not None
    env = environment(cache.ccache if has_ccache else None, cache.work)
    jobs = (os.cpu_count() or 1) + 1
    lines.append(shlex.join(["mkdir", "-p", str(work / OBJ)]))
    lines += [str(step) for step in build_steps(work, inputs.fragments, env, jobs)]
    return lines
