# SPDX-License-Identifier: GPL-2.0-only
"""A feature's README has the figures that are committed beside it, and no others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from lull.ask.catalog import features
from lull.ask.presence import as_on
from lull.errors import LabError
from lull.host.files import repo_root
from lull.model import Arm, Clock, Feature, StepShare
from lull.page.build import Extras, page
from lull.page.figures import (
    committed,
    ends,
    places,
    reduced,
    refresh_feature,
    room,
    with_figures,
)
from lull.page.notes import notes_of
from lull.page.origin import Figures, Origin
from lull.page.readme import refresh
from lull.report.compare import Run
from lull.report.summary import NOT_SHOWN
from tests import synthetic
from tests.page import runs

START, END = ends("6.12")
AGAIN = "lull report --readme"
WHOLE = ("lull", "run", "walk", "--base", "6.12", "--clock", "insn", "--seeds", "6")


def ran(**more: object) -> Run:
    """A run of which env.json says what ran."""
    made = runs.run()
    env = runs.env(commands=(WHOLE,), **more)
    return Run(made.name, made.summary, made.samples, env)


@pytest.mark.parametrize("feature", features(), ids=lambda f: f.name)
def test_a_readme_is_made_of_what_is_committed(feature: Feature) -> None:
    root = repo_root()
    text = (room(feature, root) / "README.md").read_text("utf-8")
    notes = notes_of(feature, room(feature, root))
    assert "6.12" in places(text)
    made = text
    for base in places(text):
        given = committed(feature, root, base)
        made = with_figures(made, as_on(feature, base), given, notes=notes, base=base)
    assert made == text, AGAIN


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one feature, and a place in its README."""
    monkeypatch.setattr("lull.page.readme.features", lambda: (synthetic.feature(),))
    place = tmp_path / "root" / "features" / "walk"
    place.mkdir(parents=True)
    (place / "README.md").write_text(f"# One\n{START}stale words\n{END}two\n")
    (tmp_path / "root" / "README.md").write_text(
        "<!-- results -->\n<!-- end of results -->\n"
    )
    return tmp_path / "root"


def test_a_run_becomes_a_table_with_the_command_beside_it(
    root: Path, tmp_path: Path
) -> None:
    refresh([runs.folder(tmp_path / "insn", ran())], root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert text.startswith("# One\n") and text.endswith(f"{END}two\n")
    assert "stale" not in text
    assert (
        "6 seeds, by `lull run walk --base 6.12 --clock insn --seeds 6`,"
        " 2026-01-01, commit c0ffeec0ff:\n"
    ) in text
    assert "| `total` | 12.0ms | 0.500 +-2% | 0.100 +-0.5% |" in text
    assert "2 of 2 promises hold." in text
    # Nothing is promised of it, and it leads nowhere.
    assert "| `sleepers sleepers=50` | `total` |" in text


def test_where_nothing_is_promised_nothing_is_said_of_it(
    root: Path, tmp_path: Path
) -> None:
    made = ran()
    summary = made.summary.model_copy(update={"expectations": ()})
    run = Run(made.name, summary, made.samples, made.env)
    refresh([runs.folder(tmp_path / "insn", run)], root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert "no difference is shown." in text and "promises" not in text


def test_a_control_that_holds_since_nothing_is_shown_is_counted_and_said(
    root: Path, tmp_path: Path
) -> None:
    """In the feature's README, on the front page and on the HTML page."""
    made = ran()
    one, *others = made.summary.expectations
    outside = one.model_copy(update={"text": f"{one.text}{NOT_SHOWN}", "ok": True})
    update = {"expectations": (outside, *others)}
    summary = made.summary.model_copy(update=update)
    run = Run(made.name, summary, made.samples, made.env)
    folder = runs.folder(tmp_path / "insn", run)
    refresh([folder], root)
    said = "hold, one of them A/A out of bounds with no difference shown."
    for place in (root / "features/walk/README.md", root / "README.md"):
        assert f"promises {said}" in place.read_text("utf-8").replace("on insn ", "")
    assert f"All 2 promises {said}" in page([run], [synthetic.feature()], Extras()).lead


def on(base: str) -> Run:
    """The same of another base."""
    made = ran()
    summary = made.summary.model_copy(update={"base": base, "kernel": f"{base}.1"})
    assert made.env is not None
    env = made.env.model_copy(update={"base": base, "commands": ()})
    samples = tuple(s.model_copy() for s in made.samples)
    return Run(made.name, summary, samples, env)


def test_figures_of_another_base_have_files_and_a_place_of_their_own(
    root: Path, tmp_path: Path
) -> None:
    folders = [runs.folder(tmp_path / base, on(base)) for base in ("6.12", "7.3")]
    refresh(folders, root)
    page = root / "features/walk/README.md"
    results = root / "features/walk/results"
    assert "Linux 7.3.1" not in page.read_text("utf-8")
    assert not list(results.glob("*-7.3.json"))
    page.write_text(f"{page.read_text('utf-8')}{''.join(ends('7.3'))}three\n")
    refresh(folders, root)
    text = page.read_text("utf-8")
    assert places(text) == ("6.12", "7.3")
    first, second = text.split("\ntwo\n")
    assert "Linux 6.12.1, " in first and "Linux 7.3.1" not in first
    assert "Linux 7.3.1, " in second and "Linux 6.12.1" not in second
    assert "lull run walk --base 7.3 --clock insn --seeds 6" in second
    assert second.endswith(f"{ends('7.3')[1]}three\n")
    assert (results / "insn.json").exists() and (results / "insn-7.3.json").exists()
    refresh((), root)
    assert page.read_text("utf-8") == text


def test_a_command_that_ran_is_kept_as_long_as_its_figures(
    root: Path, tmp_path: Path
) -> None:
    folder = runs.folder(tmp_path / "insn", ran(commit="c0ffee" * 6 + "-dirty"))
    refresh([folder], root)
    page = root / "features/walk/README.md"
    text = page.read_text("utf-8")
    assert "commit c0ffeec0ff-dirty:" in text
    refresh((), root)
    assert page.read_text("utf-8") == text
    # Other figures, and nobody says where they come from: not from there.
    (folder / "env.json").unlink()
    refresh([folder], root)
    text = page.read_text("utf-8")
    assert "seeds, to be repeated by `lull run walk --clock insn --seeds 6`:" in text
    assert not list((root / "features").rglob("*.origin.json"))


def test_nobody_else_s_folders_are_in_a_command(root: Path, tmp_path: Path) -> None:
    words = (*WHOLE, "--packages", "/home/somebody/packages")
    made = ran()
    assert made.env is not None
    env = made.env.model_copy(update={"commands": (words,)})
    refresh([runs.folder(tmp_path / "insn", dataclasses.replace(made, env=env))], root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert "by `lull run walk --base 6.12 --clock insn --seeds 6`, " in text
    for file in root.rglob("*"):
        assert not file.is_file() or b"somebody" not in file.read_bytes()


def test_an_origin_that_is_none_is_an_error(root: Path, tmp_path: Path) -> None:
    refresh([runs.folder(tmp_path / "insn", ran())], root)
    beside = root / "features/walk/results/insn.origin.json"
    assert Origin.model_validate_json(beside.read_bytes()).command.startswith("lull")
    beside.write_text("{}")
    with pytest.raises(LabError, match="not the origin of a run"):
        refresh((), root)


NOTE = """
[[notes]]
workload = "zombies"
params = { zombies = 30000 }
metric = "total"
text = "Nobody has so many."
"""


def test_a_note_stands_below_the_table_and_is_marked_in_it(
    root: Path, tmp_path: Path
) -> None:
    (root / "features/walk/notes.toml").write_text(NOTE)
    refresh([runs.folder(tmp_path / "insn", ran())], root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert "| `total` (1) | 12.0ms | 0.500 +-2% | 0.100 +-0.5% |" in text
    assert "| `sleepers sleepers=50` | `total` | " in text
    assert "\n\n(1) Nobody has so many.\n\nMedians;" in text
    front = (root / "README.md").read_text("utf-8")
    assert "9.98x faster (1) |\n\n(1) Nobody has so many.\n\nLinux" in front


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NOTE.replace("30000", "3"), "no headline is about it"),
        (NOTE.replace('"total"', '"visited"'), "no headline is about it"),
        (NOTE.replace("text", "texts"), "texts"),
        ("[[", "not TOML"),
    ],
)
def test_a_note_that_nobody_would_see_is_an_error(
    root: Path, text: str, said: str
) -> None:
    (root / "features/walk/notes.toml").write_text(text)
    with pytest.raises(LabError, match=said):
        refresh((), root)


def test_a_run_of_the_quick_cases_alone_says_so(root: Path) -> None:
    found = [s for s in runs.samples() if s.workload == "zombies"]
    given = [Figures(runs.run(found=found).summary)]
    refresh_feature(synthetic.feature(), given, root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert "`lull run walk --clock insn --quick --seeds 6`" in text


def test_a_broken_promise_and_a_control_are_said(root: Path) -> None:
    summary = runs.run().summary
    (first, *rest) = summary.expectations
    rows = [row for row in summary.rows if row.mode == "stock"]
    control = rows[0].model_copy(
        update={"arm": Arm.STOCK, "ratio": 0.5, "ratio_ci95": (0.4, 0.6)}
    )
    broken = summary.model_copy(
        update={
            "expectations": (first.model_copy(update={"ok": False}), *rest),
            "rows": (*summary.rows, control),
        }
    )
    refresh_feature(synthetic.feature(), [Figures(broken)], root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert f"- broken: {first.text}" in text
    known = first.model_copy(update={"ok": False, "unkept": "it is slow there"})
    there = broken.model_copy(update={"expectations": (known, *rest)})
    refresh_feature(synthetic.feature(), [Figures(there)], root)
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert f"- not kept, as known: {first.text}" in text and "- broken:" not in text
    assert "2.0000 [1.6667, 2.5000] excludes 1" in text


def test_what_the_steps_bring_is_as_printed_and_not_the_front_page(
    root: Path, tmp_path: Path
) -> None:
    made = runs.run()
    row = next(r for r in made.summary.rows if r.mode == "lull")
    share = StepShare(
        feature=row.feature,
        workload=row.workload,
        params=row.params,
        metric=row.metric,
        step="dead",
        text="pass over the dead",
        alone="lull=dead",
        without="lull-dead",
        none="lull=none",
        ratio=0.25,
        ratio_ci95=(0.24, 0.26),
        p=0.001,
    )
    ablated = made.summary.model_copy(update={"steps": (share,)})
    kept = reduced(ablated, synthetic.feature())
    assert {(r.workload, r.metric) for r in kept.rows} == {(row.workload, row.metric)}
    written = refresh_feature(synthetic.feature(), [Figures(ablated)], root)
    assert [path.name for path in written] == ["ablate-insn.json", "README.md"]
    text = (root / "features/walk/README.md").read_text("utf-8")
    assert "`lull run walk --clock insn --ablate --seeds 6`" in text
    assert "0.250 +-4%" in text and "```" in text


def test_a_run_of_some_features_leaves_the_front_page_alone(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = synthetic.feature().model_copy(update={"name": "other"})
    monkeypatch.setattr(
        "lull.page.readme.features", lambda: (synthetic.feature(), other)
    )
    written = refresh([runs.folder(tmp_path / "insn", runs.run(Clock.INSN))], root)
    names = {path.relative_to(root).as_posix() for path in written}
    assert "features/walk/results/insn.json" in names
    assert "docs/results/insn.json" not in names


def test_a_readme_whose_place_has_no_end_is_refused() -> None:
    with pytest.raises(LabError, match="no place for the figures"):
        with_figures(f"{START}", synthetic.feature(), ())
