# SPDX-License-Identifier: GPL-2.0-only
"""The page in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lull.model import Clock
from lull.page import charts
from lull.page.build import page
from lull.page.html import render
from tests import synthetic
from tests.page import runs
from tests.page.conftest import Open

pytestmark = pytest.mark.seconds(40)

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")

#: The contrast of each text with what is behind it, as WCAG 2 counts it.
CONTRAST = """() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = c => {
    const [r, g, b] = c.map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = node => {
    for (let n = node; n; n = n.parentElement) {
      const c = parse(getComputedStyle(n).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c.slice(0, 3);
    }
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || ["SCRIPT", "STYLE"].includes(node.tagName))
      continue;
    // Text in a bar of a picture is on the bar.
    if (node.matches("svg text[fill='var(--on)']")) continue;
    const style = getComputedStyle(node);
    const ink = node.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(parse(ink)), light(behind(node))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), walk.currentNode.data.trim()]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = [runs.run(), runs.run(Clock.WALL)]
    place = tmp_path_factory.mktemp("page") / "report.html"
    place.write_text(render(page(found, [synthetic.feature()], runs.extras())))
    return place


#: Texts of pictures that are drawn, but not within their picture.
CUT = """[...document.querySelectorAll('svg text')].filter(text => {
    const inner = text.getBoundingClientRect();
    const outer = text.ownerSVGElement.getBoundingClientRect();
    return inner.width && (inner.right > outer.right + 1
        || inner.left < outer.left - 1);
}).map(text => text.textContent)"""


def unfold(of: Any) -> None:
    of.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_is_whole_and_quiet_at_each_width(
    opened: Open, file: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    with opened(file, width, color_scheme=scheme) as watched:
        seen = watched.page
        assert seen.text_content("h1") == "Faster in 1 of 1 system."
        box = seen.locator(".verdicts > li").first.bounding_box()
        assert box["y"] + box["height"] < 900, "the verdict is below the fold"
        for name in ("all", "s0", "profiles", "cycles", "repeat", "mail"):
            assert seen.locator(f"section#{name}").is_visible(), name
        for picture in seen.locator("figure svg").all():
            if picture.is_visible():
                size = picture.bounding_box()
                assert size["width"] >= 280 and size["height"] >= 60
        shot = tmp_path / f"{width}-{scheme}.png"
        seen.screenshot(path=shot, full_page=True)
        assert shot.stat().st_size > 20_000
        unfold(seen)
        # What is wide scrolls in its own place, not the page.
        assert seen.evaluate("document.documentElement.scrollWidth") == width
        assert seen.evaluate(CUT) == []
        for ratio, text in seen.evaluate(CONTRAST):
            assert ratio >= 4.5, (ratio, text)
        assert watched.errors == []
        assert watched.asked == [file.as_uri()]


@pytest.mark.parametrize("words", ["3.4% less time", "125k as many"])
def test_the_words_beside_a_ratio_are_not_cut(
    opened: Open, tmp_path: Path, words: str
) -> None:
    row = {"name": "devices insn", "ratio": 0.7, "low": 0.6, "high": 0.8}
    svg = charts.ratios([{**row, "fill": "green", "text": words}])
    file = tmp_path / "ratio.html"
    file.write_text(f'<body style="font-family: sans-serif">{svg}')
    with opened(file) as watched:
        assert watched.page.evaluate(CUT) == []


def test_light_and_dark_are_two_pages(opened: Open, file: Path) -> None:
    paper = []
    for scheme in SCHEMES:
        with opened(file, color_scheme=scheme) as watched:
            paper.append(
                watched.page.evaluate(
                    "[getComputedStyle(document.body).backgroundColor,"
                    " getComputedStyle(document.querySelector('figure text')).fill]"
                )
            )
    assert paper[0][0] == "rgb(255, 255, 255)"
    assert all(one != other for one, other in zip(*paper, strict=True))


def test_it_is_whole_without_its_script(opened: Open, file: Path) -> None:
    with opened(file, java_script_enabled=False) as watched:
        assert watched.page.locator("figure svg").count() > 4
        assert not watched.page.locator("button").is_visible()
        assert "9.98x" in watched.page.locator(".factor").first.inner_text()


def test_a_keyboard_reaches_the_figures(opened: Open, file: Path) -> None:
    with opened(file) as watched:
        seen = watched.page
        seen.keyboard.press("Tab")
        assert seen.evaluate("document.activeElement.className") == "skip"
        seen.keyboard.press("Enter")
        for _ in range(10):
            seen.keyboard.press("Tab")
            if seen.evaluate("document.activeElement.closest('figure')?.id"):
                break
        assert seen.evaluate("document.activeElement.tagName") == "SUMMARY"
        table = seen.locator("#overview table")
        assert not table.is_visible()
        seen.keyboard.press("Enter")
        assert table.is_visible()
        assert "9.98x faster" in table.inner_text()


def test_a_link_opens_what_it_points_into(opened: Open, file: Path) -> None:
    with opened(file) as watched:
        quiet = watched.page.locator("details.fold figure").first
        assert not quiet.is_visible()
        name = quiet.get_attribute("id")
        watched.page.evaluate(f"location.hash = '{name}'")
        quiet.wait_for(state="visible")


def test_the_text_for_a_mail_is_copied(opened: Open, file: Path) -> None:
    granted = ["clipboard-read", "clipboard-write"]
    with opened(file, permissions=granted) as watched:
        watched.page.click("button")
        watched.page.wait_for_function(
            "document.querySelector('[role=status]').textContent === 'copied'"
        )
        copied = watched.page.evaluate("navigator.clipboard.readText()")
        assert copied == watched.page.text_content("#text")
        assert "walk: 30,000 dead children" in copied


def test_on_paper_all_is_unfolded(opened: Open, file: Path, tmp_path: Path) -> None:
    with opened(file) as watched:
        seen = watched.page
        assert seen.locator("details:not([open])").count()
        seen.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert not seen.locator("details:not([open])").count()
        seen.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.locator("details:not([open])").count()
        paper = seen.pdf()
        assert paper.startswith(b"%PDF") and len(paper) > 20_000


def test_nothing_but_the_pages_own_script_runs(opened: Open, file: Path) -> None:
    with opened(file) as watched:
        watched.page.evaluate(
            "() => { const s = document.createElement('script');"
            " s.textContent = 'window.owned = 1'; document.body.append(s); }"
        )
        assert watched.page.evaluate("window.owned") is None


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_names_stay_text(opened: Open, tmp_path: Path, width: int) -> None:
    run = runs.run()
    rows = list(run.summary.rows)
    for text in runs.HOSTILE:
        update: dict[str, object] = {"feature": text, "workload": text, "metric": text}
        update |= {"params": {text: text}, "unit": text}
        rows += [
            row.model_copy(
                update={**update, "mode": row.mode if row.mode == "stock" else text}
            )
            for row in run.summary.rows
            if row.mode != "quick"
        ]
    summary = run.summary.model_copy(
        update={"rows": tuple(rows), "kernel": runs.HOSTILE[1]}
    )
    hostile = runs.Run(runs.HOSTILE[3], summary, (), runs.env(qemu=runs.HOSTILE[0]))
    file = tmp_path / "report.html"
    file.write_text(
        render(page([hostile], [synthetic.feature()], runs.extras(*runs.HOSTILE)))
    )
    dialogs: list[str] = []
    with opened(file, width) as watched:
        seen = watched.page
        seen.on("dialog", lambda dialog: dialogs.append(dialog.message))
        unfold(seen)
        assert seen.title().startswith('Lull on Linux "><img src=x')
        shown = seen.locator("h2").all_inner_texts()
        assert "<script>document.title='owned'</script>" in shown
        assert "{{ 7 * 7 }}{% raw %}" in shown
        assert seen.locator("script").count() == 1
        assert seen.locator("img").count() == 0
        assert seen.evaluate("document.documentElement.scrollWidth") == width
        assert watched.errors == [] and dialogs == []
        assert watched.asked == [file.as_uri()]
