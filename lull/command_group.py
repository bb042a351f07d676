# SPDX-License-Identifier: GPL-2.0-only
"""What all commands have in common."""

import sys
from pathlib import Path
from typing import Annotated

import typer

# Options that several commands have, in the same words.
Modes = Annotated[
    list[str] | None, typer.Option(help="Only these, and stock. May repeat.")
]
Workloads = Annotated[list[str] | None, typer.Option(help="Only these. May repeat.")]
Seeds = Annotated[
    int | None, typer.Option(min=1, max=9999, help="How many boots; else by clock.")
]
FirstSeed = Annotated[int, typer.Option(min=0, help="The first seed.")]
Tables = Annotated[bool, typer.Option("--table", help="Print the whole tables, too.")]
RunFolder = Annotated[
    Path | None, typer.Option("-o", "--output", help="Folder of the run, empty.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the commands, do nothing.")
]


def command_group(text: str) -> typer.Typer:
    """A group of commands that ``--help`` describes as ``text``.

    Help is plain text: it fits a screen of 24 lines, and nothing in brackets is
    taken for markup.
    """
    return typer.Typer(
        help=text,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def warn(text: str) -> None:
    """Something that ends nothing, on standard error."""
    print("warning:", text, file=sys.stderr)
