# SPDX-License-Identifier: GPL-2.0-only
"""The descriptions that a job's cases name, as files of the guest. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from lull.host.files import repo_root
from lull.model import Case, Job
from lull.trees import shapes
from lull.trees.model import Tree
from lull.trees.writer import write

#: A parameter of this name is the name of a description.
PARAM = "tree"

#: What stands in its place where a workload can do without.
NONE = "none"

_FILE = "file:"


def guest_files(job: Job) -> dict[str, bytes]:
    """Path in the guest to text, for each description that a case names.

    A name is as for ``shapes.make``; paths are relative to the project. A random
    one without a seed of its own has the job's. The probe's features/devices/tree.c
    derives the same path from the name. Raises UsageError for an unknown shape.
    """
    return {
        f"trees/{name.replace('/', '_')}": write(_make(name, job.seed)).encode()
        for name in sorted(set(_names(job.cases)))
    }


def _names(cases: Iterable[Case]) -> Iterable[str]:
    for case in cases:
        if case.params.get(PARAM, NONE) != NONE:
            yield str(case.params[PARAM])


def _make(name: str, seed: int) -> Tree:
    if name.startswith(_FILE):
        return shapes.load(repo_root() / name.removeprefix(_FILE))
    shape, _, words = name.partition(":")
    if shape == "random" and "seed=" not in words:
        name = f"{name}{',' if words else ':'}seed={seed}"
    return shapes.make(name)
