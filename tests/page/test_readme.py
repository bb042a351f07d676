# SPDX-License-Identifier: GPL-2.0-only
"""README's results are what is committed, and ``lull report --readme`` writes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from lull.ask.catalog import features
from lull.cli import app
from lull.errors import LabError, UsageError
from lull.host.files import repo_root
from lull.model import Clock, Summary
from lull.page.origin import Figures, Origin, keep
from lull.page.readme import (
    END,
    PICTURE,
    RESULTS,
    START,
    all_notes,
    committed,
    felt,
    picture,
    refresh,
    with_block,
)
from lull.report.summary import to_json
from tests import synthetic
from tests.page import runs
from tests.page.conftest import Open
from tests.real import rooms

AGAIN = "lull report --readme"


def test_the_front_page_is_made_of_what_is_committed() -> None:
    root = repo_root()
    text = (root / "README.md").read_text("utf-8")
    given = committed(root)
    assert with_block(text, given, all_notes(root), felt(root)) == text, AGAIN
    there = (root / PICTURE).is_file()
    assert there is bool(given), AGAIN
    if there:
        want = (root / PICTURE).read_text("utf-8")
        assert picture(given, features()) == want, AGAIN


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a README and nothing committed."""
    monkeypatch.setattr("lull.page.readme.features", lambda: (synthetic.feature(),))
    monkeypatch.setattr("lull.page.readme.repo_root", lambda: tmp_path / "root")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "README.md").write_text(f"# One\n{START}old\n{END}two\n")
    return tmp_path / "root"


def test_it_is_written_from_runs_and_again_from_what_is_committed(
    root: Path, tmp_path: Path
) -> None:
    insn = runs.folder(tmp_path / "insn", runs.run())
    wall = runs.folder(tmp_path / "wall", runs.run(Clock.WALL))
    done = CliRunner().invoke(app, ["report", "--readme", str(insn), str(wall)])
    assert done.exception is None, done.output
    text = (root / "README.md").read_text("utf-8")
    assert text.startswith(f"# One\n{START}![") and text.endswith(f"{END}two\n")
    rows = [line for line in text.splitlines() if line.startswith("| `walk`")]
    assert (
        "| insn | 12.0ms | 1.20ms | 0.100, 0.0999 to 0.101 | 9.98x faster |" in rows[0]
    )
    assert "| wall |" in rows[1] and rows[1].endswith("| no difference shown |")
    assert "2 of 2 promises on insn and wall hold." in text and "6 seeds" in text
    files = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert {path.name for path in files} == {
        *("README.md", "insn.json", "wall.json", "results.svg"),
        *("insn.origin.json", "wall.origin.json"),
    }
    refresh(())
    assert {path: path.read_bytes() for path in files} == files


def test_the_command_that_ran_is_beside_it(root: Path, tmp_path: Path) -> None:
    words = ("lull", "run", "walk", "--clock", "insn", "--seed", "7", "--seeds", "6")
    made = replace(runs.run(), env=runs.env(commands=(words,)))
    place = runs.folder(tmp_path / "insn", made)
    refresh([place])
    page = root / "README.md"
    said = "6 seeds, by `lull run walk --clock insn --seed 7 --seeds 6`, 2026-01-01"
    assert said in page.read_text("utf-8")
    refresh(())
    assert said in page.read_text("utf-8")
    # Where nobody kept it: what would measure the same. All there are have no names.
    (place / "env.json").unlink()
    refresh([place])
    text = page.read_text("utf-8")
    assert "to be repeated by `lull run --clock insn --seeds 6`." in text
    assert said not in text


def test_only_what_it_shows_is_committed(root: Path, tmp_path: Path) -> None:
    refresh([runs.folder(tmp_path / "insn", runs.run())])
    kept = Summary.model_validate_json((root / RESULTS / "insn.json").read_bytes())
    assert {(row.metric, row.mode) for row in kept.rows} == {
        ("total", "stock"),
        ("total", "lull"),
    }
    assert len(kept.rows) == 2


FELT = """
[[felt]]
feature = "walk"
text = "a dog walks"
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
"""


def test_real_programs_stand_below_their_feature(root: Path, tmp_path: Path) -> None:
    place = rooms.room(root, "amble", f"{rooms.NEEDS}{FELT}", ("walk",)).room
    refresh([runs.folder(tmp_path / "insn", runs.run())])
    text = (root / "README.md").read_text("utf-8")
    assert "a dog walks" not in text and "real programs" not in text
    summary = runs.run(Clock.WALL).summary
    rows = tuple(row.model_copy(update={"feature": "amble"}) for row in summary.rows)
    (place / "results").mkdir()
    walked = summary.model_copy(update={"rows": rows})
    (place / "results/wall.json").write_text(to_json(walked))
    refresh(())
    text = (root / "README.md").read_text("utf-8")
    lines = text.splitlines()
    (at,) = [i for i, line in enumerate(lines) if line.startswith("| `walk` | ")]
    assert lines[at + 1].startswith(
        "|  | a dog walks ([amble](scenarios/amble/README.md)) | wall | "
    )
    assert lines[at + 1].endswith("| no difference shown |")
    assert text.count("Rows with a link are of real programs") == 1
    said = "Measured on wall, 3 seeds, to be repeated by `lull guest measure amble"
    assert f"{said} --clock wall --seeds 3`.\n" in text
    origin = Origin(command="lull guest measure amble", commit="0123456789ab-dirty")
    keep(place / "results/wall.json", Figures(walked, origin))
    refresh(())
    text = (root / "README.md").read_text("utf-8")
    said = "by `lull guest measure amble`, commit 0123456789-dirty."
    assert text.endswith(f"{said}\n{END}two\n")


def test_another_figure_is_another_front_page(root: Path, tmp_path: Path) -> None:
    """What the test at the top rests on."""
    refresh([runs.folder(tmp_path / "insn", runs.run())])
    text = (root / "README.md").read_text("utf-8")
    drawn = (root / PICTURE).read_text("utf-8")
    (given,) = committed(root)
    made = given.summary
    rows = [
        row.model_copy(update={"ratio": 0.2, "ratio_ci95": (0.19, 0.21)})
        if row.mode == "lull"
        else row
        for row in made.rows
    ]
    changed = replace(given, summary=made.model_copy(update={"rows": tuple(rows)}))
    assert with_block(text, [given], {}) == text
    assert with_block(text, [changed], {}) != text
    assert picture([changed], [synthetic.feature()]) != drawn


def test_without_a_summary_nothing_is_claimed(root: Path) -> None:
    refresh(())
    assert (root / "README.md").read_text() == f"# One\n{START}{END}two\n"
    assert not (root / PICTURE).exists()


def test_a_readme_without_a_place_for_it_is_an_error(root: Path) -> None:
    (root / "README.md").write_text("# One\n")
    with pytest.raises(LabError, match="no place"):
        refresh(())
    done = CliRunner().invoke(app, ["report", "--readme", "-o", "x"])
    assert isinstance(done.exception, UsageError)


@pytest.mark.seconds(10)
def test_the_picture_stands_alone(root: Path, tmp_path: Path, opened: Open) -> None:
    refresh([runs.folder(tmp_path / "insn", runs.run())])
    file = root / PICTURE
    ElementTree.fromstring(file.read_text("utf-8"))
    ink = []
    for scheme in ("light", "dark"):
        with opened(file, color_scheme=scheme) as watched:
            text = watched.page.locator("svg text", has_text="walk insn")
            assert text.is_visible()
            ink.append(text.evaluate("node => getComputedStyle(node).fill"))
            assert watched.errors == [] and watched.asked == [file.as_uri()]
    assert ink[0] != ink[1]
