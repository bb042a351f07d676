# SPDX-License-Identifier: GPL-2.0-only
"""The modes that the lab knows of a feature on a base are those that its kernel has."""

from __future__ import annotations

import re

import pytest

from lull.ask.presence import of_base
from lull.host.files import repo_root
from lull.kernels.bases import base_names, load_base
from lull.kernels.cache import Cache
from lull.kernels.inputs import gather
from lull.kernels.source import fetch
from lull.kernels.update import silent
from lull.kernels.workspace import decode, plan_changes, reader
from lull.model import Arm

# It boots nothing, but reads the sources, which only tests that boot download.
pytestmark = pytest.mark.vm

MODES = re.compile(
    r"^static const char \* const \w+_modes\[\] = \{(.*?)^\};", re.S | re.M
)


@pytest.mark.parametrize("name", base_names())
def test_the_kernel_has_the_modes_that_a_feature_has_on_the_base(name: str) -> None:
    base = load_base(name)
    source = fetch(base, Cache(), silent)
    tree = plan_changes(gather(repo_root(), name, Arm.LULL), reader(source.tree))
    features = [one for one in of_base(base) if not one.switches]
    assert features
    for one in features:
        place = f"kernel/lull/{one.name}/"
        texts = [
            decode(change.data)
            for path, change in tree.items()
            if path.startswith(place) and path.endswith(".c") and change.data
        ]
        (found,) = (match[1] for text in texts for match in MODES.finditer(text))
        assert tuple(re.findall(r'"(\w+)"', found)) == one.mode_names
