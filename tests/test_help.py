# SPDX-License-Identifier: GPL-2.0-only
"""What the command says of itself fits a screen and leaves nothing out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from lull.ask.catalog import features
from lull.ask.on_base import native_modes
from lull.ask.presence import why_absent
from lull.cli import app
from lull.kernels.bases import base_names, load_base

ROWS, COLUMNS = 24, 80
COMMAND: Any = typer.main.get_command(app)


def commands(command: Any, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands(sub, *words, name)


def shown(*words: str) -> str:
    done = CliRunner().invoke(
        app, list(words), prog_name="lull", env={"COLUMNS": str(COLUMNS)}
    )
    assert done.exit_code == 0, done.output
    return done.output


def fits(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= ROWS and max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("words", list(commands(COMMAND)), ids=" ".join)
def test_help_is_one_screen_with_all_that_was_written(words: tuple[str, ...]) -> None:
    """The defaults in brackets, too, and the line of each command up to its end."""
    text = shown(*words, "--help")
    assert fits(text)
    assert "..." not in text.partition("Commands:")[2]
    command = COMMAND
    for word in words:
        command = command.commands[word]
    flat = " ".join(text.split())
    for param in command.params:
        if not getattr(param, "hidden", False):
            assert (getattr(param, "help", None) or "") in flat


def test_what_one_begins_with_comes_first() -> None:
    listed = shown("--help").partition("Commands:")[2].split("\n")
    names = [line.split()[0] for line in listed if line.strip()]
    assert names[:2] == ["run", "list"]


def test_the_list_is_one_screen_and_tells_all_of_one() -> None:
    short = shown("list")
    assert fits(short)
    for feature in features():
        assert f"{feature.name}: {feature.title}" in short
        whole = shown("list", feature.name)
        for mode in feature.modes:
            assert mode.text in whole and mode.text not in short
        for name, workload in feature.workloads.items():
            assert name in short.split() and workload.text in whole
            for key, value in workload.params.items():
                assert f"{key}={value}" in whole.split()


def test_the_list_of_one_base_has_what_is_there_and_why_the_rest_is_not() -> None:
    for name in base_names():
        base = load_base(name)
        short = shown("list", "--base", name)
        assert fits(short)
        flat = " ".join(short.split())
        for feature in features():
            why, whole = (
                why_absent(feature, base),
                shown("list", feature.name, "--base", name),
            )
            native = native_modes(feature, base)
            if why:
                assert f"{feature.name}: not on {name}: {why}" in flat
                assert why in whole and " mode " not in whole
                continue
            left = [mode for mode in feature.mode_names if mode not in native]
            modes = f"{feature.name}: {feature.title} modes: {' '.join(left)} workloads"
            assert modes in flat
            assert all(
                (f" mode {mode}" in whole) == (mode in left)
                for mode in feature.mode_names
            )
