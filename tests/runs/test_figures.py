# SPDX-License-Identifier: GPL-2.0-only
"""Every figure that feature.toml promises on the insn clock, measured.

By one run, so that `lull report --readme` can make the tables of the READMEs of it;
with ``--feature`` those of the features that were named.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lull.ask import catalog
from lull.ask.presence import why_not_tried
from lull.host.files import digest, repo_root
from lull.kernels.bases import load_base
from lull.model import Arm
from lull.proof.key import imports, tools
from lull.proof.stamps import Stamps
from lull.vm import turns
from lull.vm.compile import Recipe, recipe_key
from lull.vm.probe_build import probe_recipe
from tests.kernel_trees import kernel_parts

pytestmark = [pytest.mark.vm, pytest.mark.proof, pytest.mark.seconds(2400)]

ROOT = repo_root()
#: As few as can show a difference by pairs.
SEEDS = 6


#: Commands of their own: nothing is measured by them (tests/proof).
NO_PART = [
    ROOT / "lull" / name for name in ("deb", "doctor", "graph", "page", "series")
]


def asked(names: list[str], base: str) -> list[Path]:
    """The files that say what is measured and promised, not how it is shown."""
    files = [
        path
        for path in imports(ROOT, "lull/cli.py")
        if not any(room in path.parents for room in NO_PART)
    ]
    for name in names:
        files += ROOT.glob(f"*/{name}/feature.toml")
        files += ROOT.glob(f"*/{name}/bases/{base}.toml")
    return sorted([*files, *ROOT.glob("features/devices/trees/*")])


def programs() -> dict[str, Recipe]:
    """What is compiled of our C for a boot that is measured, besides its kernel."""
    return {"probe": probe_recipe(ROOT), "turns": turns.recipe()}


def parts(names: list[str], base: str) -> dict[str, str]:
    """Of all that is in the two kernels: a figure may move with any of it."""
    return {
        **kernel_parts(Arm.LULL, "tests/runs/test_figures.py", base=base),
        **tools(),
        **{name: recipe_key(ROOT, made) for name, made in programs().items()},
        "asked": digest(*(path.read_bytes() for path in asked(names, base))),
    }


def test_what_is_promised_is_kept(stamp: Stamps, pytestconfig: pytest.Config) -> None:
    base = pytestconfig.getoption("--base")
    there = load_base(base)
    known = [f.name for f in catalog.features() if not why_not_tried([f.name], there)]
    only = pytestconfig.getoption("--feature") or known
    names = [name for name in known if name in only]
    if not names:
        pytest.skip(f"not on {base}: {', '.join(only)}")
    with stamp(parts(names, base)) as new:
        if not new:
            return
        words = ["run", *names, "--base", base, "--clock", "insn", "--check"]
        words += ["--seed", "1", "--seeds", str(SEEDS)]
        done = subprocess.run(
            [sys.executable, "-m", "lull", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:] + done.stdout
        print(done.stdout)
