# SPDX-License-Identifier: GPL-2.0-only
"""Writes a tree as the text that lull.trees.reader reads. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lull.errors import BadTree
from lull.trees.model import DOWN, Device, Phase, Tree
from lull.trees.reader import HEADER, read
from lull.vm.console import show


def write(tree: Tree, comments: Sequence[str] = ()) -> str:
    """The text of a tree, with lines of comment below the first line.

    Reading it gives the tree again. Raises BadTree for one of which that is
    not so, as a name that is none or a parent that comes later.
    """
    lines = [HEADER]
    for comment in comments:
        # What a comment quotes may come from anywhere.
        for line in comment.split("\n"):
            shown = show(line.encode("utf-8", "replace"))
            lines.append(f"# {shown}".rstrip())
    lines += [" ".join(_words(device)) for device in tree.devices]
    raw = ("\n".join(lines) + "\n").encode("ascii", "backslashreplace")
    again = read(raw, "the tree to write")
    if again != tree:
        odd = next(
            (
                d.name
                for d, e in zip(tree.devices, again.devices, strict=False)
                if d != e
            ),
            "",
        )
        raise BadTree(
            f"device {show(odd.encode('utf-8', 'replace'))} cannot be written",
            hint="its name or a name it refers to is not one",
        )
    return raw.decode("ascii")


def _words(device: Device) -> Iterator[str]:
    yield f"device {device.name}"
    if device.is_async:
        yield "async"
    if device.direct:
        yield "direct"
    if device.parent is not None:
        yield f"parent={device.parent}"
    for supplier in device.suppliers:
        yield f"supplier={supplier}"
    for phase in Phase:
        if phase in device.work:
            work = device.work[phase]
            yield f"{phase}={'busy:' if work.busy else ''}{work.us}"
    for phase in DOWN:
        if phase in device.fail:
            yield f"fail={phase}:{device.fail[phase]}"
    for phase in DOWN:
        if phase in device.wakeup:
            yield f"wakeup={phase}"
