# SPDX-License-Identifier: GPL-2.0-only
"""A change of one feature is made on the default base, and its series is of all."""

from __future__ import annotations

import pytest

from lull.host.files import repo_root
from lull.kernels.bases import base_names, load_base
from lull.kernels.cache import Cache
from lull.kernels.source import fetch
from lull.series.assemble import Reader, order, planner
from lull.series.pristine import Pristine
from lull.series.stages import final
from tests.kernel_trees import BASE, features_of, had
from tests.series.test_tree import UNSAID, UPSTREAM

pytestmark = pytest.mark.vm

ROOT = repo_root()
OTHERS = [name for name in base_names() if name != BASE]


@pytest.mark.seconds(15)
@pytest.mark.parametrize("name", OTHERS)
def test_what_series_say_fits_every_base(name: str) -> None:
    """It compiles there, too, which is tried with that base."""
    had(name)
    source = fetch(load_base(name), Cache())
    pristine = Pristine(source.tree, source.version)
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
