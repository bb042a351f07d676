# SPDX-License-Identifier: GPL-2.0-only
"""kernel/README.md says how many lines of the hooks are otherwise on each base."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from lull.kernels.bases import DEFAULT_BASE, base_names
from lull.kernels.inputs import feature_dirs
from lull.kernels.patches import parse_patch

ROOT = Path(__file__).resolve().parents[1]


def changed(hooks: Path) -> Counter[str]:
    """The lines that hooks bring and take, with their signs; without indentation."""
    return Counter(
        line[0] + line[1:].strip()
        for hook in sorted(hooks.glob("*.patch"))
        for part in parse_patch(hook.name, hook.read_text("utf-8"))
        for hunk in part.hunks
        for line in hunk.lines
        if line[0] in "+-"
    )


def row(feature: Path) -> str:
    """A feature's line of the table."""
    first = changed(feature / "hooks" / DEFAULT_BASE)
    cells = [feature.name, f"{first.total()}"]
    for base in base_names():
        found = changed(feature / "hooks" / base)
        if base != DEFAULT_BASE:
            more, less = (found - first).total(), (first - found).total()
            cells.append(f"{found.total()}: +{more} -{less}" if found else "absent")
    return f"| {' | '.join(cells)} |"


def test_readme_says_how_many_lines_are_otherwise() -> None:
    others = [name for name in base_names() if name != DEFAULT_BASE]
    head = f"| | {DEFAULT_BASE} | {' | '.join(others)} |"
    rows = [head, "|---" * (2 + len(others)) + "|"]
    rows += [row(feature) for feature in sorted(feature_dirs(ROOT))]
    table = "\n".join(rows)
    assert table in (ROOT / "kernel" / "README.md").read_text("utf-8"), table
