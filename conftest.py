# SPDX-License-Identifier: GPL-2.0-only
"""Every session of tests: trials are tests, SIGTERM ends it, hosts are alike."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from lull.host.process import sigterm_unwinds

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

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
    # For what programs say it comes before that.
    os.environ.pop("LANGUAGE", None)


#: How long a worker that was told to end may take to undo what it has made: a guest's
#: end takes its time on a busy host.
UNDONE_S = 60

_workers: list[WorkerController] = []
_told: list[WorkerController] = []


def _leave(signum: int, frame: FrameType | None) -> None:
    """Without being told a worker goes on for 5 s, and is killed 5 s after that."""
    while _workers:
        worker = _workers.pop()
        _told.append(worker)
        with suppress(ProcessLookupError):
            os.kill(worker.gateway._rinfo().pid, signum)
    pytest.exit("ended by SIGTERM", 128 + signum)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodeready(node: WorkerController) -> None:
    """One more to be told of a SIGTERM."""
    _workers.append(node)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController) -> None:
    """It has ended, and its PID may be another's."""
    if node in _workers:
        _workers.remove(node)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """Workers that were told to end do so by themselves."""
    for worker in _told:
        with suppress(OSError, EOFError):
            worker.channel.waitclose(UNDONE_S)


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
