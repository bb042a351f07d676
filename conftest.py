# SPDX-License-Identifier: GPL-2.0-only
"""Every session of tests: kernels are built ahead, and SIGTERM ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

from lull.vm.process import sigterm_unwinds

#: In the order in which tests ask for them.
AHEAD = ("stock", "lull", "debug", "kcsan")

#: Fixtures that keep all CPUs busy, or need the kernel that is built last.
BUSY = frozenset({"run_boots", "run_kcsan"})

_builder = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    """SIGTERM unwinds, wherever it comes: what was started is ended."""
    handled = ExitStack()
    handled.enter_context(sigterm_unwinds())
    config.add_cleanup(handled.close)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that leave a CPU idle come first: kernels are built on it."""
    items.sort(key=lambda item: not BUSY.isdisjoint(getattr(item, "fixturenames", ())))


def pytest_collection_finish(session: pytest.Session) -> None:
    """In a whole run, build all kernels beside the tests that leave a CPU idle.

    A test that needs one waits for its lock, and builds it itself, with a message,
    where it cannot be built.
    """
    config = session.config
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    if not whole or config.option.markexpr or config.option.keyword:
        return
    if config.option.collectonly:
        return
    arms = [f"--arm={arm}" for arm in AHEAD]
    config.stash[_builder] = subprocess.Popen(
        ["nice", "-n", "19", sys.executable, "-m", "lull", "kernel", "build", *arms],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Not a session of its own: to the scheduler's autogroups, niceness is what
        # the processes of one session are to each other.
        process_group=0,
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what is still being built."""
    builder = config.stash.get(_builder, None)
    if builder is not None:
        with suppress(ProcessLookupError):
            os.killpg(builder.pid, signal.SIGTERM)
        builder.wait()


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
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """SIGTERM is for the session, not for the test that it comes to."""
    with _sigterm_ends_the_session():
        return (yield)
