# SPDX-License-Identifier: GPL-2.0-only
"""From a base and a flavour to Debian packages in the cache."""

from __future__ import annotations

import platform
import resource
import shlex
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lull.deb.config import differences, differences_text, identity
from lull.deb.flavour import (
    Flavour,
    config_commands,
    config_file,
    fetch_config,
    member,
)
from lull.deb.needs import DISK, boots_securely, needs_text
from lull.deb.plan import (
    IDENTITY_FILE,
    Plan,
    default_jobs,
    output_names,
    package_environment,
    plan,
    steps,
    tree_place,
)
from lull.deb.record import (
    Cost,
    Packages,
    keep,
    keep_cost,
    last_cost,
    load,
    packages_dir,
    prune,
)
from lull.errors import CannotRun, LabError
from lull.host.files import repo_root, write_file
from lull.host.progress import Progress
from lull.kernels import source, toolchain
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache, replace_tree
from lull.kernels.config import check_config
from lull.kernels.make import OBJ, Interrupted, run_step
from lull.kernels.record import sha256
from lull.kernels.workspace import Workspace, plan_changes, reader

#: Beside the packages: how the kernel's configuration differs from Debian's.
DIFFERENCES = "config-differences.txt"
LOG = "build.log"
#: How make begins a line about what it makes.
_OBJECTS = ("  CC ", "  AS ", "  LD ", "  AR ", "  HOSTCC ")


@dataclass(frozen=True)
class Made:
    """What a build has come to, beside the packages in its tree."""

    differences: str  #: from Debian's configuration, for people
    lines: int  #: that make said


def build(
    base: str,
    flavour: Flavour,
    progress: Progress,
    *,
    jobs: int | None = None,
    refresh: bool = False,
    cache: Cache | None = None,
    root: Path | None = None,
) -> Packages:
    """The packages of a flavour: from the cache, else built, which takes hours.

    They are of the sources in the cache; with ``refresh`` of those that the archive
    has now.

    Raises CannotRun where the machine or the archive lacks something, LabError
    where a patch, the configuration or the build fails, Interrupted where it was
    stopped in a way that the next call goes on from.
    """
    record, cache = load_base(base, root), cache or Cache()
    need_amd64(platform.machine())
    toolchain.need_packaging_tools()
    cache.prepare()
    src = source.fetch(record, cache, progress.update, refresh)
    config = fetch_config(record, src, flavour, cache, progress.update)
    wanted = plan(record, flavour, src, config, root or repo_root())
    place = packages_dir(cache, wanted.name, wanted.key)
    with cache.lock(wanted.name, lambda text: progress.update(text, 0, 0)) as lock:
        if found := load(place):
            return found
        jobs = jobs or default_jobs()
        cost = last_cost(cache, wanted.name)
        has_ccache = toolchain.ccache() is not None
        secure = boots_securely()
        progress.note(needs_text(flavour, jobs, cost, has_ccache, secure))
        cache.need(DISK[flavour], f"building packages of {flavour}")
        toolchain.need_memory()
        packages = _build(wanted, cache, place, lock, progress, jobs)
    prune(cache, wanted.name)
    return packages


def need_amd64(machine: str) -> None:
    """Raise CannotRun on another machine: nothing here compiles across."""
    if machine != "x86_64":
        raise CannotRun(
            f"the flavours are of amd64, and this machine is {machine}",
            hint="build on an amd64 machine",
        )


def _build(
    wanted: Plan,
    cache: Cache,
    place: Path,
    lock: int,
    progress: Progress,
    jobs: int,
) -> Packages:
    begun, used = time.monotonic(), _cpu_seconds()
    progress.step(f"{wanted.release}: the tree")
    tree = Workspace(cache, tree_place(cache, wanted.base, wanted.flavour))
    changes = plan_changes(wanted.inputs, reader(wanted.source.tree))
    fresh = tree.open(wanted.source.tree, wanted.source.package_version, changes)
    log = cache.logs / f"{wanted.name}.log"
    if fresh:
        log.unlink(missing_ok=True)
    try:
        made = _make(wanted, cache, tree.source, log, lock, progress, jobs)
    except (Exception, Interrupted):
        # make ended by itself, and keeps what is whole. A KeyboardInterrupt of
        # another kind leaves no state, and then the tree is made anew.
        tree.close()
        raise
    packages = _keep(wanted, cache, place, tree.source, log, made)
    tree.close()
    if fresh:
        cost = Cost(
            seconds=round(time.monotonic() - begun, 1),
            cpu_seconds=round(_cpu_seconds() - used, 1),
            largest_mb=resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
            disk_mb=_disk_mb(tree.source),
            lines=made.lines,
            jobs=jobs,
        )
        keep_cost(cache, wanted.name, cost)
    return packages


def _make(
    wanted: Plan,
    cache: Cache,
    tree: Path,
    log: Path,
    lock: int,
    progress: Progress,
    jobs: int,
) -> Made:
    obj = tree / OBJ
    obj.mkdir(exist_ok=True)
    debian = wanted.config.read_text("utf-8")
    write_file(obj / IDENTITY_FILE, identity(wanted.flavour).encode())
    env = package_environment(cache, wanted.package_version)
    merge, olddefconfig, compile_, package = steps(tree, wanted, env, jobs)
    cost = last_cost(cache, wanted.name)
    expected = cost.lines if cost else _guess(debian)
    label = wanted.release

    progress.step(f"{label}: the configuration")
    before = _text(obj / ".config")
    write_file(obj / ".config", debian.encode())
    run_step(merge, log, (lock,), progress.update, label)
    run_step(olddefconfig, log, (lock,), progress.update, label)
    asked = [(p.name, p.read_text("utf-8")) for p in wanted.inputs.fragments]
    asked.append((IDENTITY_FILE, identity(wanted.flavour)))
    result = (obj / ".config").read_text("utf-8")
    check_config(asked, result, wanted.inputs.absent)
    found = differences(debian, result, [text for _, text in asked])

    # The same again: make compiles what is not compiled yet, whatever its time.
    goes_on = before == result
    done = compiled(_text(log)) if goes_on else 0
    progress.step(f"{label}: compiling{' (going on)' if goes_on else ''}")
    lines = run_step(compile_, log, (lock,), progress.update, label, expected, done)
    progress.step(f"{label}: packing")
    for pattern in ("*.deb", "*.changes", "*.buildinfo"):
        for old in tree.glob(pattern):
            old.unlink()
    run_step(package, log, (lock,), progress.update, label)
    return Made(differences_text(found, wanted.flavour), lines)


def _keep(
    wanted: Plan, cache: Cache, place: Path, tree: Path, log: Path, made: Made
) -> Packages:
    """Put the packages under their key, all at once."""
    names = output_names(wanted.release, wanted.package_version)
    missing = [name for name in names if not (tree / name).is_file()]
    if missing:
        there = ", ".join(sorted(path.name for path in tree.glob("*.deb"))) or "none"
        raise LabError(
            f"make bindeb-pkg has not made {', '.join(missing)}; there is: {there}",
            where=str(tree),
            hint=f"see the whole log: {log}",
        )
    with cache.temp("packages") as temp:
        new = temp / "new"
        new.mkdir()
        for name in names:
            shutil.copyfile(tree / name, new / name)
        shutil.copyfile(tree / OBJ / ".config", new / f"config-{wanted.release}")
        shutil.copyfile(log, new / LOG)
        write_file(new / DIFFERENCES, made.differences.encode())
        packages = Packages(
            base=wanted.base.name,
            flavour=wanted.flavour,
            release=wanted.release,
            version=wanted.package_version,
            key=wanted.key,
            compiler=toolchain.compiler(),
            built=datetime.now(UTC).isoformat(timespec="seconds"),
            files={name: sha256(new / name) for name in names},
            directory=new,
        )
        keep(packages)
        replace_tree(new, place)
    return packages.model_copy(update={"directory": place})


def _guess(config: str) -> int:
    """About how many lines make says in a first build: a few a symbol."""
    return 3 * sum(line.endswith(("=y", "=m")) for line in config.splitlines())


def compiled(log: str) -> int:
    """How many objects make has said before: those it does not say again."""
    return len({line for line in log.splitlines() if line.startswith(_OBJECTS)})


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _disk_mb(tree: Path) -> int:
    """What is the tree's own, in MB: a file with other links is the sources'."""
    stats = (path.lstat() for path in tree.rglob("*"))
    own = sum(stat.st_blocks * 512 for stat in stats if stat.st_nlink == 1)
    return own // 1_000_000


def describe(
    base: str,
    flavour: Flavour,
    *,
    jobs: int | None = None,
    refresh: bool = False,
    cache: Cache | None = None,
    root: Path | None = None,
) -> list[str]:
    """The exact commands of a build, as text; nothing is done."""
    record, cache = load_base(base, root), cache or Cache()
    root = root or repo_root()
    lines: list[str] = []
    src = None if refresh else source.cached(record, cache)
    if src is None:
        lines.append(f"# fetch, in a new directory below {cache.root}/tmp")
        lines += [shlex.join(command) for command in source.fetch_commands(record)]
        tree = cache.sources / base / "VERSION" / "tree"
        src = source.Source(
            base=base, package_version="VERSION-1", version="VERSION", tree=tree
        )
    config = config_file(record, src, flavour, cache)
    if not config.is_file():
        lines.append(f"# fetch, in a new directory below {cache.root}/tmp")
        commands = config_commands(record, src.package_version)
        lines += [shlex.join(command) for command in commands]
        lines.append(f"# of it: {member(record, flavour)}")
        config = Path("/dev/null")
    wanted = plan(record, flavour, src, config, root)
    if load(packages_dir(cache, wanted.name, wanted.key)):
        lines.append(f"# {wanted.name}, key {wanted.key}: is in the cache")
    work = tree_place(cache, record, flavour) / "src"
    lines.append(shlex.join(["cp", "-al", str(src.tree), str(work)]))
    lines += [f"# overlay: {path}" for path in wanted.inputs.overlay]
    lines += [f"# hook: {path}" for path in wanted.inputs.hooks]
    lines.append(shlex.join(["mkdir", "-p", str(work / OBJ)]))
    lines.append(shlex.join(["cp", str(config), str(work / OBJ / ".config")]))
    name = identity(flavour).strip()
    lines.append(f"echo {shlex.quote(name)} >{work / OBJ / IDENTITY_FILE}")
    env = package_environment(cache, wanted.package_version)
    lines += [str(step) for step in steps(work, wanted, env, jobs or default_jobs())]
    lines += [
        f"# package: {name}"
        for name in output_names(wanted.release, wanted.package_version)
    ]
    return lines
