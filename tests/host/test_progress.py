# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

import io
import re

import pytest

from lull.host.progress import PlainProgress, Progress, RichProgress, open_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(progress: Progress) -> None:
    with progress:
        progress.step("build the kernel")
        for i in range(200):
            progress.update("cc [fs/x.o]", i, 200)
        progress.note("from [cache]")
        progress.warn("slow host")
        progress.step("boot")


class Watch:
    """A clock that goes on by half a second each time it is looked at."""

    def __init__(self) -> None:
        self.now = -0.5

    def __call__(self) -> float:
        self.now += 0.5
        return self.now


def test_elsewhere_it_is_one_line_a_step_and_one_a_minute() -> None:
    out = io.StringIO()
    work(PlainProgress(out, clock=Watch()))
    assert out.getvalue() == (
        "[  0:00] build the kernel\n"
        "[  1:01] cc [fs/x.o] (59%)\n"
        "[  1:41] from [cache]\n"
        "[  1:42] warning: slow host\n"
        "[  1:42] boot\n"
    )


@pytest.mark.parametrize(
    ("stream", "environ", "kind"),
    [
        (io.StringIO(), {}, PlainProgress),
        (Terminal(), {"TERM": "dumb"}, PlainProgress),
        (Terminal(), {"CI": "1"}, PlainProgress),
        (Terminal(), {"TERM": "xterm"}, RichProgress),
    ],
)
def test_it_suits_the_stream(
    stream: io.StringIO, environ: dict[str, str], kind: type
) -> None:
    assert type(open_progress(stream, environ)) is kind


def test_the_default_stream_is_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    work(open_progress(environ={}))
    out, err = capsys.readouterr()
    assert out == ""
    assert "build the kernel" in err


def test_a_terminal_keeps_steps_notes_and_warnings() -> None:
    out = Terminal()
    work(open_progress(out, {"TERM": "xterm"}))
    text = out.getvalue()
    for want in ("build the kernel: done", "from [cache]", "warning: slow host"):
        assert want in text
    assert "boot: done" in text


def test_a_step_that_failed_is_not_done() -> None:
    out = Terminal()
    with pytest.raises(ValueError, match="x"), open_progress(out, {}) as progress:
        progress.step("build")
        raise ValueError("x")
    assert "build: done" not in out.getvalue()


def test_no_color_takes_the_colours_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")
    found = []
    for environ in ({}, {"NO_COLOR": "1"}):
        out = Terminal()
        work(open_progress(out, {"TERM": "xterm-256color", **environ}))
        found.append(bool(colour.search(out.getvalue())))
    assert found == [True, False]


def test_an_update_without_a_step_begins_one() -> None:
    out = Terminal()
    with open_progress(out, {}) as progress:
        progress.update("unpack", 1, 0)
    assert "unpack: done" in out.getvalue()
