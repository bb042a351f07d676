# SPDX-License-Identifier: GPL-2.0-only
"""The command `lull kernel`."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lull.errors import UsageError
from lull.kernels.build import describe
from lull.kernels.cache import Cache
from lull.kernels.cli import app
from lull.model import Arm


def test_dry_run_says_commands_and_does_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    text = "\n".join(describe("6.12", Arm.DEBUG, cache=cache))
    assert "download linux-source-6.12" in text
    assert "merge_config.sh" in text and "debug.config" in text
    assert "bzImage" in text
    assert not cache.root.exists()


def test_the_command_refuses_what_does_not_exist() -> None:
    runner = CliRunner()
    result = runner.invoke(app, ["build", "--base", "5.4", "--dry-run"])
    assert isinstance(result.exception, UsageError)
    assert result.exception.exit_code == 2
    assert runner.invoke(app, ["build", "--arm", "fast"]).exit_code == 2
    assert runner.invoke(app, ["--help"]).exit_code == 0


@pytest.mark.parametrize("words", [["--base", "5.4"], ["5.4"]])
def test_the_sources_of_a_base_are_fetched_as_it_is_built(words: list[str]) -> None:
    result = CliRunner().invoke(app, ["fetch", *words])
    assert isinstance(result.exception, UsageError) and "5.4" in str(result.exception)


def test_a_base_is_not_named_twice_and_differently() -> None:
    result = CliRunner().invoke(app, ["fetch", "6.12", "--base", "7.3"])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith("6.12, and --base 7.3")


def test_who_names_no_base_is_told_of_the_default() -> None:
    """Not of the newest one, which was not asked for."""
    result = CliRunner().invoke(app, ["build", "--base", "5.4", "--dry-run"])
    assert isinstance(result.exception, UsageError)
    assert result.exception.hint == "--base 6.12"


def test_list_of_an_empty_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0 and "no kernels yet" in result.output
