# SPDX-License-Identifier: GPL-2.0-only
"""A change of one feature is made on the default base, and its series is of all."""

from __future__ import annotations

import re

import pytest

from lull.host.files import repo_root
from lull.kernels.bases import base_names, load_base
from lull.kernels.cache import Cache
from lull.kernels.source import fetch
from lull.series.assemble import Reader, order, planner
from lull.series.pristine import Pristine
from lull.series.stages import final
from tests.kernel_trees import features_of, had
from tests.series.test_tree import UNSAID, UPSTREAM

pytestmark = pytest.mark.vm

ROOT = repo_root()
#: What test kernels have, and what is compared with, by the names of the features.
OURS = re.compile(r"\b\w+_(?:debug|steps)_\w+")


@pytest.fixture
def pristine(name: str) -> Pristine:
    had(name)
    source = fetch(load_base(name), Cache())
    return Pristine(source.tree, source.version)


@pytest.mark.seconds(15)
@pytest.mark.parametrize("name", base_names())
def test_what_series_say_fits_every_base(name: str, pristine: Pristine) -> None:
    """It compiles there, too, which is tried with that base."""
    there = features_of(name)
    of_one = [f for f in UPSTREAM if f in there and f not in UNSAID.get(name, ())]
    asked = [
        (there, None),
        (there, Reader.DISTRO),
        *(((feature,), Reader.UPSTREAM) for feature in of_one),
    ]
    for features, reader in asked:
        wanted = order(features, name, reader, ROOT)
        assert final(planner(wanted, ROOT)(pristine.read))


@pytest.mark.seconds(15)
@pytest.mark.parametrize("name", base_names())
def test_upstream_calls_nothing_that_only_test_kernels_have(
    name: str, pristine: Pristine
) -> None:
    """Our names in the files of one feature need not have Lull's in them."""
    rooms = ROOT.glob("features/*/kernel/**/*.[ch]")
    ours = {word for path in rooms for word in OURS.findall(path.read_text())}
    assert "thaw_debug_left" in ours
    of_one = set(features_of(name)) & set(UPSTREAM) - set(UNSAID.get(name, ()))
    for feature in sorted(of_one):
        wanted = order((feature,), name, Reader.UPSTREAM, ROOT)
        after = final(planner(wanted, ROOT)(pristine.read))
        for path, change in after.items():
            had_before = set((pristine.read(path) or b"").decode().split("\n"))
            lines = (change.data or b"").decode().split("\n")
            new = "\n".join(line for line in lines if line not in had_before)
            assert not ours & set(OURS.findall(new)), path
