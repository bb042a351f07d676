# SPDX-License-Identifier: GPL-2.0-only
"""The made-up project and its kernel, for tests of what is sent upstream."""

from __future__ import annotations

from pathlib import Path

import pytest

from lull.series.pristine import Pristine
from tests.series.made_up import freezer, freezer_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return freezer(tmp_path / "project")


@pytest.fixture
def pristine(tmp_path: Path) -> Pristine:
    return freezer_tree(tmp_path / "tree")
