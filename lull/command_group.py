# SPDX-License-Identifier: GPL-2.0-only
"""What all commands have in common."""

import sys

import typer


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
