# SPDX-License-Identifier: GPL-2.0-only
"""Is a build reproducible? Built again, from nothing, elsewhere, compared."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from lull.errors import LabError
from lull.host.files import repo_root, write_file
from lull.kernels import source
from lull.kernels.bases import load_base
from lull.kernels.build import Blueprint, blueprint, build, make_kernel
from lull.kernels.cache import NEED_WARM, Cache, link_tree
from lull.kernels.make import OBJ, environment
from lull.kernels.record import Kernel, sha256
from lull.kernels.source import Source
from lull.kernels.toolchain import ccache, need_memory
from lull.kernels.update import Update, silent
from lull.kernels.workspace import plan_changes, reader, sync
from lull.model import Arm

_SHT_NOBITS = 8


def verify(
    base: str,
    arm: Arm,
    progress: Update = silent,
    *,
    cache: Cache | None = None,
    root: Path | None = None,
    only: tuple[str, ...] = (),
) -> Kernel:
    """Build an arm a second time without ccache and compare the digests.

    Once per key: what was found equal is remembered. Raises LabError where
    the two differ. With ``only``, targets of make, these alone are compiled anew,
    and all others may come from ccache: in a third of the time, and not remembered.
    """
    cache = cache or Cache()
    kernel = build(base, arm, progress, cache=cache, root=root)
    stamp = cache.stamps / f"verified-{kernel.key}.json"
    if _stamped(stamp) == kernel.digest:
        return kernel
    record = load_base(base, root)
    src = source.fetch(record, cache, progress)
    plan = blueprint(record, arm, src, root or repo_root())
    if plan.key != kernel.key:
        raise LabError("the inputs changed while it was built", where=plan.label)
    with cache.lock(f"verify-{plan.name}", lambda text: progress(text, 0, 0)):
        # Whoever held the lock may have found just this.
        if _stamped(stamp) != kernel.digest:
            _build_again(plan, src, kernel, cache, progress, only)
            if not only:
                write_file(stamp, json.dumps({"digest": kernel.digest}).encode())
    return kernel


def _build_again(
    plan: Blueprint,
    src: Source,
    kernel: Kernel,
    cache: Cache,
    progress: Update,
    only: tuple[str, ...],
) -> None:
    cache.need(NEED_WARM, "verifying a kernel")
    need_memory()
    with cache.temp(f"verify-{plan.name}") as temp:
        # The place shall differ from the first one's in length too.
        tree = temp / "another-place" / "src"
        tree.parent.mkdir()
        link_tree(src.tree, tree)
        sync(src.tree, tree, plan_changes(plan.inputs, reader(src.tree)), set())
        log = cache.logs / f"{plan.name}-verify.log"
        log.unlink(missing_ok=True)
        env = environment(None, None)
        if only and ccache() is not None:
            env = environment(cache.ccache, tree.parent)
            anew = env | {"CCACHE_DISABLE": "1"}
            make_kernel(plan, tree, anew, log, (), progress, targets=only)
        expected = sum(1 for _ in kernel.log.open(encoding="utf-8", errors="replace"))
        make_kernel(plan, tree, env, log, (), progress, expected)
        image = tree / OBJ / "arch/x86/boot/bzImage"
        digest = sha256(image)
        if digest != kernel.digest:
            first = difference(kernel.vmlinux, tree / OBJ / "vmlinux")
            raise LabError(
                f"two builds of the same inputs differ: {kernel.digest[:16]} and "
                f"{digest[:16]}; {first}",
                where=plan.label,
                hint=f"compare {kernel.log} with {log}",
            )


def _stamped(stamp: Path) -> str | None:
    try:
        return str(json.loads(stamp.read_text("utf-8"))["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_verified(cache: Cache, kernel: Kernel) -> bool:
    """Whether a kernel's key was verified to give this digest."""
    return _stamped(cache.stamps / f"verified-{kernel.key}.json") == kernel.digest


def difference(one: Path, other: Path) -> str:
    """Where two vmlinux files differ first, by section."""
    try:
        ours, theirs = sections(one.read_bytes()), sections(other.read_bytes())
    except (OSError, ValueError, struct.error) as error:
        return f"vmlinux cannot be compared ({error})"
    if ours.keys() != theirs.keys():
        odd = ", ".join(sorted(ours.keys() ^ theirs.keys()))
        return f"vmlinux has other sections: {odd}"
    for name, data in ours.items():
        if data != theirs[name]:
            pairs = zip(data, theirs[name], strict=False)
            at = next((n for n, (a, b) in enumerate(pairs) if a != b), len(data))
            return f"the first difference is in {name} of vmlinux at {at:#x}"
    return "vmlinux is the same: the difference is in the boot code around it"


def sections(elf: bytes) -> dict[str, bytes]:
    """The sections of a 64-bit little-endian ELF file, in order."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit ELF file")
    (offset,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    heads = [
        struct.unpack_from("<IIQQQQ", elf, offset + n * size) for n in range(count)
    ]
    table = elf[heads[names][4] : heads[names][4] + heads[names][5]]
    found: dict[str, bytes] = {}
    for name, kind, _flags, _address, start, length in heads:
        if kind and kind != _SHT_NOBITS:
            text = table[name : table.index(b"\0", name)].decode()
            found[text] = elf[start : start + length]
    return found
