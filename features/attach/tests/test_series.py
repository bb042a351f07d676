# SPDX-License-Identifier: GPL-2.0-only
"""What the series for upstream takes out on 7.3, where it would compile with it."""

from __future__ import annotations

import re

import pytest

from lull.host.files import repo_root
from lull.kernels.bases import load_base
from lull.kernels.cache import Cache
from lull.kernels.source import fetch
from lull.series.assemble import Reader, order, planner
from lull.series.pristine import Pristine
from lull.series.stages import final

BASE = "7.3"
#: 7.3's own lock of a thread group, and what switches it on.
OWN = re.compile(
    r"(?:->|init_signals\.|struct rw_semaphore )cgroup_threadgroup_rwsem"
    r"|cgroup_enable_per_threadgroup_rwsem|PER_THREADGROUP"
)


@pytest.mark.vm
def test_of_a_lock_that_nobody_takes_for_writing_nothing_is_left() -> None:
    source, root = fetch(load_base(BASE), Cache()), repo_root()
    pristine = Pristine(source.tree, source.version)
    plan = planner(order(("attach",), BASE, Reader.UPSTREAM, root), root)
    after = {
        path: (change.data or b"").decode()
        for path, change in final(plan(pristine.read)).items()
    }
    before = {path: (pristine.read(path) or b"").decode() for path in after}
    had = {path for path, text in before.items() if OWN.search(text)}
    assert {"kernel/cgroup/cgroup.c", "kernel/fork.c", "init/init_task.c"} <= had
    assert not {path for path, text in after.items() if OWN.search(text)}
    # What is taken instead is inside of the lock of all.
    text = after["include/linux/cgroup-defs.h"]
    begin = re.search(
        r"^static inline void cgroup_threadgroup_change_begin\(.*?^}", text, re.M | re.S
    )
    assert begin and "cgroup_threadgroup_rwsem);\n\tcgroup_tg_hold(tsk);" in begin[0]
