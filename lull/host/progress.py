# SPDX-License-Identifier: GPL-2.0-only
"""Says what goes on: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as RichBar
from rich.text import Text


class Progress(Protocol):
    """A context manager; outside of it nothing may be reported.

    ``step`` names what begins now. ``update`` may come as often as it likes;
    ``total`` is 0 where nobody knows. ``note`` and ``warn`` stay on screen.
    """

    def step(self, text: str) -> None: ...
    def update(self, text: str, done: int, total: int) -> None: ...
    def note(self, text: str) -> None: ...
    def warn(self, text: str) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


_QUIET_S = 60.0  #: how long a log may go without a line while work goes on


class PlainProgress:
    """One line a step, with the time since the start, and one a minute.

    A log wants to be read afterwards: what counts is what was done and when.
    """

    def __init__(
        self, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._start = self._said = clock()

    def step(self, text: str) -> None:
        """Write the line."""
        self._write(text)

    def update(self, text: str, done: int, total: int) -> None:
        """A line a minute: one per percent would hide those that matter."""
        now = self._clock()
        if now - self._said < _QUIET_S:
            return
        share = f" ({min(99, 100 * done // total)}%)" if total else ""
        self._write(f"{text}{share}")

    def note(self, text: str) -> None:
        """Write the line."""
        self._write(text)

    def warn(self, text: str) -> None:
        """Write the line, marked."""
        self._write(f"warning: {text}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.flush()

    def _write(self, text: str) -> None:
        self._said = self._clock()
        seconds = int(self._said - self._start)
        print(f"[{seconds // 60:3}:{seconds % 60:02}] {text}", file=self._stream)
        self._stream.flush()


class RichProgress:
    """A spinner, a bar where the total is known, and the time of the step."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = RichBar(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._step = ""

    def step(self, text: str) -> None:
        """Keep the step before as a line, begin this one."""
        self._finish()
        self._step = text
        self._task = self._bar.add_task(text, total=None)

    def update(self, text: str, done: int, total: int) -> None:
        """Move the bar; begins a step where there is none."""
        if self._task is None:
            self.step(text)
        if self._task is not None:
            what = f"{self._step}: {text}" if text != self._step else text
            self._bar.update(
                self._task, description=what, completed=done, total=total or None
            )

    def note(self, text: str) -> None:
        """Write the line above the bar."""
        self._console.print(Text(text))

    def warn(self, text: str) -> None:
        """Write the line above the bar, marked."""
        self._console.print(Text(f"warning: {text}", style="bold yellow"))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._finish(done=error is None)
        self._bar.stop()

    def _finish(self, done: bool = True) -> None:
        if self._task is None:
            return
        self._bar.remove_task(self._task)
        self._task = None
        if done:
            self._console.print(Text(f"{self._step}: done", style="dim"))


def open_progress(
    stream: TextIO | None = None, environ: Mapping[str, str] | None = None
) -> Progress:
    """What suits the stream (standard error): live on a terminal, else plain.

    ``NO_COLOR``, set to anything, takes the colours away; ``TERM=dumb`` and
    ``CI`` the live line.
    """
    out = sys.stderr if stream is None else stream
    env = os.environ if environ is None else environ
    if not out.isatty() or env.get("TERM") == "dumb" or env.get("CI"):
        return PlainProgress(out)
    return RichProgress(Console(file=out, no_color=bool(env.get("NO_COLOR"))))
