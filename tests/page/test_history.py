# SPDX-License-Identifier: GPL-2.0-only
"""``lull report --history``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from lull.cli import app
from lull.errors import UsageError
from lull.model import Clock, Row
from lull.report.compare import Run
from tests import synthetic
from tests.page import runs
from tests.page.conftest import Open


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lull.page.history.features", lambda: (synthetic.feature(),))


def history(*words: str | Path) -> Done:
    return CliRunner().invoke(app, ["report", "--history", *map(str, words)])


def made(place: Path, levels: Sequence[float], clock: Clock = Clock.INSN) -> Path:
    """A folder of runs, one a day, in which mode lull is at these levels."""
    whole = runs.run(clock)
    for day, level in enumerate(levels, 1):

        def at(row: Row, level: float = level) -> Row:
            if row.mode != "lull":
                return row
            return row.model_copy(update={"median": row.median * level, "ci95": None})

        rows = tuple(at(row) for row in whole.summary.rows)
        env = runs.env(
            clock, created=f"2026-01-{day:02}T00:00:00+00:00", commit=f"{day:02x}" * 20
        )
        summary = whole.summary.model_copy(update={"rows": rows})
        # The name says nothing of the order.
        runs.folder(place / f"{99 - day}-{clock}", Run("", summary, (), env))
    return place


def test_a_step_is_named_by_its_commit(tmp_path: Path) -> None:
    done = history(made(tmp_path / "runs", [1.0] * 6 + [1.3] * 5))
    assert done.exception is None, done.output
    assert done.stdout.strip() == str(tmp_path / "runs" / "history.html")
    text = (tmp_path / "runs" / "history.html").read_text("utf-8")
    assert "A step in 1 of 1 figures." in text
    assert "lull: 1.30 of what it was from 0707070707 on" in text
    assert "stock: " not in text


def test_it_is_quiet_on_single_points(tmp_path: Path) -> None:
    levels = [1.0] * 11
    levels[5] = 9.0
    assert history(made(tmp_path / "runs", levels)).exception is None
    text = (tmp_path / "runs" / "history.html").read_text("utf-8")
    assert "A step in no figure." in text


def test_a_clock_is_a_series_of_its_own(tmp_path: Path) -> None:
    made(tmp_path / "runs", [1.0] * 3)
    made(tmp_path / "runs", [1.0] * 3, Clock.WALL)
    history(tmp_path / "runs", "-o", tmp_path)
    text = (tmp_path / "history.html").read_text("utf-8")
    assert text.count("<figure") == 2
    assert text.count(">wall</span>") == 1


def test_a_metric_may_be_named(tmp_path: Path) -> None:
    made(tmp_path / "runs", [1.0] * 3)
    assert history(tmp_path / "runs", "--metric", "visited").exception is None
    text = (tmp_path / "runs" / "history.html").read_text("utf-8")
    # Of both cases, where the headline is of one.
    assert text.count("<figure") == 2 and "visited" in text


def test_what_is_no_history_is_refused(tmp_path: Path) -> None:
    one = made(tmp_path / "runs", [1.0])
    for words in ((one,), (tmp_path / "none",), (one, "--metric", "no-such")):
        assert isinstance(history(*words).exception, UsageError), words
    for run in ([str(one / "98-insn")], []):
        words = ["report", *run, "--metric", "total"]
        error = CliRunner().invoke(app, words).exception
        assert isinstance(error, UsageError) and error.hint == "add --history"


def test_a_broken_run_is_left_out_and_named(tmp_path: Path) -> None:
    place = made(tmp_path / "runs", [1.0] * 3)
    (place / "98-insn" / "summary.json").write_text("{")
    assert history(place).exception is None
    text = (place / "history.html").read_text("utf-8")
    assert "2 runs" in text and "not a summary" in text


@pytest.mark.seconds(10)
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_a_page_as_the_other(opened: Open, tmp_path: Path, width: int) -> None:
    history(made(tmp_path / "runs", [1.0] * 6 + [1.3] * 5))
    file = tmp_path / "runs" / "history.html"
    with opened(file, width) as watched:
        assert watched.page.locator("figure svg").is_visible()
        assert watched.page.locator("#steps li").count() == 1
        assert watched.page.evaluate("document.documentElement.scrollWidth") == width
        assert watched.errors == [] and watched.asked == [file.as_uri()]
