# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of real machines, which are not in this repository.

They are looked for in ``$LULL_CAPTURES``, else in ``shared/captures`` beside the
checkout; tests on them are skipped where there are none.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "captures"
FOLDER = Path(os.environ.get("LULL_CAPTURES") or _BESIDE)
ALL = sorted(FOLDER.glob("*/*.ftrace.txt.gz"))

need = pytest.mark.skipif(not ALL, reason=f"no recordings in {FOLDER}")
each = pytest.mark.parametrize("path", ALL, ids=lambda path: path.name.split(".")[0])
