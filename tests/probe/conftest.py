# SPDX-License-Identifier: GPL-2.0-only
"""The probe, as the lab builds it, for the tests of this folder."""

from pathlib import Path

import pytest

from lull.files import repo_root
from lull.vm.probe_build import build_probe


@pytest.fixture(scope="session")
def probe() -> Path:
    return build_probe(repo_root())
