# SPDX-License-Identifier: GPL-2.0-only
"""``lull report``, and the file that it writes, without a browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner
from typer.testing import Result as Done

from lull.cli import app
from lull.errors import UsageError
from lull.model import Clock
from lull.page.build import Extras, page
from lull.page.draw import svg
from lull.page.html import render
from tests import synthetic
from tests.page import runs


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lull.page.command.features", lambda: (synthetic.feature(),))


def report(*words: str | Path) -> Done:
    return CliRunner().invoke(app, ["report", *map(str, words)])


class Tags(HTMLParser):
    """Elements with their attributes, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(
        self, tag: str, attrs: Sequence[tuple[str, str | None]]
    ) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(text: str) -> Tags:
    found = Tags()
    found.feed(text)
    return found


def test_it_writes_one_file_and_says_where(tmp_path: Path) -> None:
    insn = runs.folder(tmp_path / "insn", runs.run())
    wall = runs.folder(tmp_path / "wall", runs.run(Clock.WALL))
    done = report(insn, wall)
    assert done.exception is None, done.output
    assert done.stdout.strip() == str(insn / "report.html")
    text = (insn / "report.html").read_text("utf-8")
    assert "9.98" in text and text.endswith("</html>\n")
    done = report(insn, "-o", tmp_path / "out")
    assert done.stdout.strip() == str(tmp_path / "out" / "report.html")


def test_a_file_of_a_run_is_enough(tmp_path: Path) -> None:
    insn = runs.folder(tmp_path / "insn", runs.run())
    done = report(insn / "summary.json")
    assert done.stdout.strip() == str(insn / "report.html")


def test_who_names_no_run_is_told(tmp_path: Path) -> None:
    assert isinstance(report().exception, UsageError)
    assert isinstance(report(tmp_path / "none").exception, UsageError)
    insn = runs.folder(tmp_path / "insn", runs.run())
    error = report(insn, insn).exception
    assert isinstance(error, UsageError) and "twice" in str(error)


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    insn = runs.folder(tmp_path / "insn", runs.run())
    (tmp_path / "file").write_text("")
    error = report(insn, "-o", tmp_path / "file").exception
    assert isinstance(error, UsageError) and "-o DIR" in error.hint


def test_a_run_that_was_cut_short_says_so(tmp_path: Path) -> None:
    insn = runs.folder(tmp_path / "insn", runs.run())
    (insn / "summary.json").unlink()
    done = report(insn)
    assert done.exception is None
    assert "cut short" in (insn / "report.html").read_text("utf-8")


@cache
def whole() -> str:
    found = [runs.run(), runs.run(Clock.WALL)]
    return render(page(found, [synthetic.feature()], runs.extras()))


def test_the_page_fetches_nothing() -> None:
    found = parsed(whole())
    for tag, attrs in found.tags:
        assert "src" not in attrs and "style" not in attrs, (tag, attrs)
        assert tag not in ("link", "iframe", "object", "img", "base"), attrs
        assert not [name for name in attrs if name.startswith("on")]
        if tag == "a":
            here = ("#", "data:application/gzip;base64,")
            # A link to follow, not a thing to fetch.
            assert str(attrs["href"]).startswith((*here, "https://ui.perfetto.dev"))
    assert "url(" not in whole() and "@import" not in whole()
    (policy,) = [a for t, a in found.tags if t == "meta" and "http-equiv" in a]
    assert "default-src 'none'" in str(policy["content"])


def test_every_picture_has_a_text_and_a_table() -> None:
    text = whole()
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    assert len(figures) == text.count("<svg") > 4
    for figure in figures:
        assert re.search(r'role="img" aria-label="[^"]{10,}"', figure)
        assert "<table>" in figure and "<svg" in figure


def test_a_figure_names_its_clock() -> None:
    for figure in re.findall(r"<figure.*?</figure>", whole(), re.DOTALL):
        if 'id="overview"' not in figure:
            assert re.search(r'class="badge"[^>]*>(insn|wall)<', figure)


@pytest.mark.parametrize("text", runs.HOSTILE)
def test_a_hostile_name_stays_text(text: str) -> None:
    """In each place where a summary or env.json has a text of its own."""
    run = runs.run()
    rows = [
        row.model_copy(
            update={
                "feature": text,
                "workload": text,
                "metric": text,
                "mode": row.mode if row.mode != "quick" else text,
                "params": {text: text},
                "unit": text,
            }
        )
        for row in run.summary.rows
    ]
    promises = [
        p.model_copy(update={"text": text, "feature": text, "ok": False})
        for p in run.summary.expectations
    ]
    summary = run.summary.model_copy(
        update={"rows": (*run.summary.rows, *rows), "expectations": tuple(promises)}
    )
    env = runs.env(
        qemu=text, commit=text, commands=((text,),), created=text, features=(text,)
    )
    hostile = runs.Run(text, summary.model_copy(update={"kernel": text}), (), env)
    plain = parsed(whole())
    found = parsed(render(page([hostile], [synthetic.feature()], Extras())))

    def kinds(of: Tags) -> set[str]:
        return {tag for tag, _ in of.tags}

    # <pre> where no command is known, <p class=alarm> and such: no new kind.
    assert kinds(found) <= kinds(plain)
    assert len([t for t, _ in found.tags if t == "script"]) == 1
    assert not [a for _, a in found.tags if any(n.startswith("on") for n in a)]
    hrefs = [a["href"] for t, a in found.tags if t == "a"]
    assert all(str(href).startswith("#") for href in hrefs)
    words = "".join(found.texts)
    assert not re.search("[\x00-\x08\x0e-\x1f\u202a-\u202e\u2066-\u2069]", words)
    assert len(words) < 60_000


def test_names_in_a_picture_are_escaped_by_the_library() -> None:
    spec = {
        "width": 50,
        "height": 50,
        "data": {"name": "rows"},
        "mark": "text",
        "encoding": {"text": {"field": "name"}},
    }
    found = svg(spec, {"rows": [{"name": "<script>&\"'"}]})
    assert "&lt;script&gt;&amp;" in found and "<script" not in found
