# SPDX-License-Identifier: GPL-2.0-only
"""What the series for upstream has to bring along, which nothing would miss."""

from __future__ import annotations

import re

import pytest

from lull.errors import LabError
from lull.host.files import repo_root
from lull.kernels.bases import DEFAULT_BASE, load_base
from lull.kernels.cache import Cache
from lull.kernels.patches import apply_file, parse_patch
from lull.kernels.source import fetch
from lull.kernels.workspace import decode
from lull.series.assemble import Reader, files, left_out, order, planner
from lull.series.pristine import Pristine
from lull.series.stages import FullPatch, final

MAIN = "drivers/base/power/main.c"
#: The base whose kernel starts async devices early by itself.
EARLY = "7.3"


def planned(base: str) -> tuple[Pristine, list[FullPatch]]:
    source, root = fetch(load_base(base), Cache()), repo_root()
    pristine = Pristine(source.tree, source.version)
    plan = planner(order(("devices",), base, Reader.UPSTREAM, root), root)
    return pristine, plan(pristine.read)


@pytest.mark.vm
def test_who_removes_a_device_holds_it_for_the_walk() -> None:
    _, steps = planned(DEFAULT_BASE)
    text = (final(steps)[MAIN].data or b"").decode()
    removal = re.search(r"^void device_pm_remove\(.*?^}", text, re.M | re.S)
    assert removal and "dpm_at_is_held = true" in removal[0]
    assert text.count("dpm_at_is_held = false") == 1


def test_each_hook_has_its_place_where_the_kernel_starts_devices_early() -> None:
    """Or is left out, which the command says; without a kernel's sources."""
    wanted = order(("devices",), EARLY, Reader.UPSTREAM, repo_root())
    assert planner(wanted, repo_root())
    assert "No part of it was measured there by itself" in left_out(wanted, repo_root())


@pytest.mark.vm
def test_where_devices_are_started_early_nobody_waits_within_an_iteration() -> None:
    _, steps = planned(EARLY)
    text = (final(steps)[MAIN].data or b"").decode()
    waits = re.search(
        r"^static void dpm_wait_for_subordinate\(.*?^}", text, re.M | re.S
    )
    assert waits and "put_device(open)" in waits[0]
    assert "dpm_wait_fn" not in text
    removal = re.search(r"^void device_pm_remove\(.*?^}", text, re.M | re.S)
    assert removal and removal[0].count("complete_all(") == 2
    assert not re.search(r"^\tcomplete\(", text, re.M)


@pytest.mark.vm
def test_each_fix_of_an_early_start_stands_alone_as_the_letter_says() -> None:
    """But for the fourth, whose lines are those of the third."""
    pristine, steps = planned(EARLY)
    wanted = order(("devices",), EARLY, Reader.UPSTREAM, repo_root())
    letter, *mails = files(wanted, steps, pristine, repo_root()).items()
    assert "for 4, which changes a line of 3;" in letter[1].decode()
    alone = [count for count, mail in enumerate(mails, 1) if applies(*mail, pristine)]
    assert alone == [1, 2, 3, 5, 6]


def applies(name: str, mail: bytes, pristine: Pristine) -> bool:
    """Whether a patch does, on the kernel as it is."""
    for part in parse_patch(name, mail.decode()):
        try:
            apply_file(name, part, decode(pristine.read(part.path) or b""))
        except LabError:
            return False
    return True
