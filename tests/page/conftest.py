# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Chromium, without a window, and what happens in a page of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HINT = "no browser: scripts/setup --tests (make test does it)"
PATIENCE_MS = 300_000  #: beside builds and guests


@dataclass
class Watched:
    """A page that was opened, and what it has asked for and complained of."""

    page: Any
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


Open = Callable[..., Any]


# Not of a session: while it is open there is a loop of events in this thread, in
# which other tests could not start one of theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail(HINT)
    chromium = shutil.which("chromium")
    assert chromium, HINT
    # Its sandbox does not take root, and a container's /dev/shm is small.
    words = ["--disable-dev-shm-usage"]
    words += ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as started:
        found = started.chromium.launch(
            executable_path=chromium, args=words, timeout=PATIENCE_MS
        )
        yield found
        found.close()


@pytest.fixture
def opened(browser: Any) -> Open:
    """Opens a file: a context manager that yields a ``Watched``."""

    @contextmanager
    def start(file: Path, width: int = 1280, **more: object) -> Iterator[Watched]:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, **more)
        context.set_default_timeout(PATIENCE_MS)
        try:
            watched = Watched(context.new_page())
            watched.page.on(
                "request", lambda request: watched.asked.append(request.url)
            )
            watched.page.on(
                "pageerror", lambda error: watched.errors.append(str(error))
            )
            watched.page.on(
                "console",
                lambda line: line.type == "error" and watched.errors.append(line.text),
            )
            watched.page.goto(file.as_uri())
            yield watched
        finally:
            context.close()

    return start
