# SPDX-License-Identifier: GPL-2.0-only
"""Every session of tests: trials are tests, and SIGTERM ends it."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import pytest

from lull.vm.process import sigterm_unwinds

pytest_plugins = ("lull.proof.plugin", "lull.proof.ktap_plugin", "pytester")


def _leave(signum: int, frame: FrameType | None) -> None:
    pytest.exit("ended by SIGTERM", 128 + signum)


def pytest_configure(config: pytest.Config) -> None:
    """SIGTERM unwinds, wherever it comes: what was started is ended."""
    workers = config.getoption("numprocesses", None)
    if workers and not hasattr(config, "workerinput"):
        # Nothing runs in this process but pytest, which knows its own exception.
        signal.signal(signal.SIGTERM, _leave)
        return
    handled = ExitStack()
    handled.enter_context(sigterm_unwinds())
    config.add_cleanup(handled.close)


@contextmanager
def _sigterm_ends_the_session() -> Iterator[None]:
    try:
        yield
    except SystemExit as end:
        if end.code == 128 + signal.SIGTERM:
            pytest.exit("ended by SIGTERM", end.code)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    """As below, for what a fixture does."""
    with _sigterm_ends_the_session():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """SIGTERM is for the session, not for the test that it comes to."""
    with _sigterm_ends_the_session():
        return (yield)
