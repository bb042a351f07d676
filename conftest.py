# SPDX-License-Identifier: GPL-2.0-only
"""Every session of tests: trials are tests, SIGTERM ends it, hosts are alike."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

from lull.host.process import sigterm_unwinds

pytest_plugins = ("lull.proof.plugin", "lull.proof.ktap_plugin", "pytester")


# How long an example takes says nothing on a loaded machine. The same examples in each
# session: what a new one finds is no fault of the change that is tested. A proof draws
# new ones.
settings.register_profile(
    "new examples", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "any host", settings.get_profile("new examples"), derandomize=True
)
settings.load_profile("any host")


def _alike() -> None:
    """What a user has set changes no verdict: packages are made of files that all may
    read, and programs are read in English."""
    os.umask(0o022)
    os.environ["LC_ALL"] = "C.UTF-8"


def _leave(signum: int, frame: FrameType | None) -> None:
    pytest.exit("ended by SIGTERM", 128 + signum)


def pytest_configure(config: pytest.Config) -> None:
    """SIGTERM unwinds, wherever it comes: what was started is ended."""
    _alike()
    if config.getoption("--size", "test") == "proof":
        settings.load_profile("new examples")
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
