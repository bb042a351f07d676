# SPDX-License-Identifier: GPL-2.0-only
"""A scenario's README has the figures that are committed beside it, and no others."""

from __future__ import annotations

import pytest

from lull.host.files import repo_root
from lull.model import Feature
from lull.page.figures import committed, room, with_figures
from lull.real.catalog import MEASURE, features


@pytest.mark.parametrize("feature", features(), ids=lambda f: f.name)
def test_a_readme_is_made_of_what_is_committed(feature: Feature) -> None:
    root = repo_root()
    text = (room(feature, root) / "README.md").read_text("utf-8")
    made = with_figures(text, feature, committed(feature, root), MEASURE)
    assert made == text, "lull report --readme"
    assert "lull run" not in made.partition("<!-- figures -->")[2]
