# SPDX-License-Identifier: GPL-2.0-only
"""A change of one feature is made on the default base, and its series is of all."""

from __future__ import annotations

import pytest

from lull.kernels.bases import base_names, load_base
from lull.kernels.cache import Cache
from lull.kernels.source import fetch
from lull.proof.stamps import Stamps
from lull.series.assemble import Reader
from lull.series.stages import final
from tests.kernel_trees import features_of, had
from tests.series.test_tree import UNSAID, UPSTREAM, Sources, planned, planned_parts

pytestmark = pytest.mark.vm


@pytest.mark.seconds(30)
@pytest.mark.parametrize("name", base_names())
def test_what_series_say_fits_every_base(name: str, stamp: Stamps) -> None:
    """It compiles there, too, which is tried with that base."""
    had(name)
    with stamp(planned_parts(name)) as new:
        if new:
            fits(name)


def fits(name: str) -> None:
    source = fetch(load_base(name), Cache())
    pristine = Sources(source.tree, source.version, name)
    there = features_of(name)
    of_one = [f for f in UPSTREAM if f in there and f not in UNSAID.get(name, ())]
    asked = [
        (there, None),
        (there, Reader.DISTRO),
        *(((feature,), Reader.UPSTREAM) for feature in of_one),
    ]
    for features, reader in asked:
        assert final(planned(pristine, features, reader))
