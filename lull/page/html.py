# SPDX-License-Identifier: GPL-2.0-only
"""The page's records as one HTML file, with all that it needs in it."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

from lull.page.history import History
from lull.page.model import Page
from lull.report.clocks import ASLEEP, INSN

_HERE = Path(__file__).parent / "templates"


def render(page: Page | History) -> str:
    """The file's text. Whatever a record says is text in it.

    The policy in its head lets a browser run this style and this script, by
    their hashes, and fetch nothing from anywhere.
    """
    template = "page.html" if isinstance(page, Page) else "history.html"
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The library's own markup; names in it are escaped by the library.
    jinja.filters["svg"] = lambda text: Markup(text)
    jinja.globals.update(insn=INSN, asleep=ASLEEP)
    css, script = style(), _read("script.js")
    return jinja.get_template(template).render(
        page=page,
        style=Markup(css),
        script=Markup(script),
        policy="; ".join(
            (
                "default-src 'none'",
                f"style-src '{_hash(css)}'",
                f"script-src '{_hash(script)}'",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
    )


def style() -> str:
    """The page's style, which begins with its colours."""
    return _read("style.css")


def _read(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
