# SPDX-License-Identifier: GPL-2.0-only
"""What a whole session of tests came to: counted, said, and written down."""

from __future__ import annotations

import shlex
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lull.host.files import repo_root, write_file
from lull.proof import durations
from lull.proof.proof_json import (
    SAID,
    VERDICT,
    Proof,
    Tried,
    beside,
    differences,
    is_part,
    read,
    to_json,
)
from lull.proof.store import Store
from lull.runs.rundir import commit, host

#: What leaves tests out, beside --feature and files: word, name of pytest's option.
_NARROWING = {
    "-k": "keyword",
    "-m": "markexpr",
    "--deselect": "deselect",
    "--ignore": "ignore",
    "--ignore-glob": "ignore_glob",
    "--lf": "lf",
    "--sw": "stepwise",
    "--seed": "seed",
    "--packages": "packages",
}


class Session:
    """The process that hears of all tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._tests: dict[str, Tried] = {}
        self._said: list[str] = []
        self._begun = time.monotonic()
        self._old: Proof | None = None
        self._new: Proof | None = None
        self._written = ""
        self._untold = False  #: it was ended, of which pytest says no more

    def say(self, text: str) -> None:
        """To be said at the end."""
        self._said.append(text)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test when it has run, or when it could not."""
        if report.when != "call" and report.outcome == "passed":
            return
        before = self._tests.get(report.nodeid)
        if before is not None and before.outcome == "failed":
            return
        told: dict[str, Any] = {}
        for key, value in report.user_properties:
            if key == VERDICT and isinstance(value, dict):
                told = value
            elif key == SAID:
                self._said.append(str(value))
        seconds = {"seconds": round(report.duration, 2)}
        self._tests[report.nodeid] = Tried(
            outcome=report.outcome, **{**seconds, **told}
        )

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Keep what was seen for the next session."""
        self._untold = exitstatus == 128 + signal.SIGTERM
        durations.keep(self._tests)
        Store().prune()
        wanted = self._config.getoption("--proof")
        if not wanted:
            return
        path = Path(wanted)
        self._old = read(path)
        facts = host()
        self._new = Proof(
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            commit=commit(repo_root()),
            base=self._config.getoption("--base"),
            size=self._config.getoption("--size"),
            asked=shlex.join(self._config.invocation_params.args),
            machine=f"{facts.cpu}, {facts.cpus} CPUs, {facts.system}",
            part=_part(self._config),
            seeds=self._config.getoption("--seeds") or 1,
            ended=_ended(session, exitstatus),
            seconds=round(time.monotonic() - self._begun, 1),
            ok=exitstatus == 0,
            tests=dict(sorted(self._tests.items())),
        )
        part = is_part(self._old, self._new)
        place = beside(path) if part else path
        write_file(place, to_json(self._new).encode())
        self._written = f"proof: {place}"
        if part:
            self._written += (
                ", of a part" if self._new.ended else ": it did not come to its end"
            )
            if self._old:
                self._written += f"; {path} is the last one still"

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say what was remembered, tried again, and different from last time."""
        write = terminalreporter.write_line
        for text in self._said:
            first, *_ = text.splitlines() or [""]
            write(first)
        verdicts = [test for test in self._tests.values() if test.parts]
        if verdicts:
            known = sum(test.remembered for test in verdicts)
            boots = sum(test.tries for test in verdicts if not test.remembered)
            write(
                f"{known} of {len(verdicts)} verdicts remembered, {boots} boots made; "
                "--fresh forgets"
            )
        if self._new is not None:
            write(self._written)
            for line in differences(self._old, self._new) if self._old else ():
                write(line)

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Say of a session that was ended what is said of others: which tests failed
        by then, and how, and what boots came to."""
        reporter = config.pluginmanager.getplugin("terminalreporter")
        if self._untold and reporter is not None:
            config.hook.pytest_terminal_summary(
                terminalreporter=reporter,
                exitstatus=128 + signal.SIGTERM,
                config=config,
            )


def _part(config: pytest.Config) -> str:
    """The words that leave tests out, in one order."""
    features = sorted(config.getoption("--feature"))
    # Features win over files (plugin._rooms).
    words = [] if features else sorted(config.getoption("file_or_dir"))
    for name in features:
        words += ["--feature", name]
    for word, option in _NARROWING.items():
        given = config.getoption(option, None)
        for value in given if isinstance(given, list) else [given]:
            if value is True:
                words.append(word)
            elif value is not None and value is not False and value != "":
                words += [word, str(value)]
    return shlex.join(words)


def _ended(session: pytest.Session, exitstatus: int) -> bool:
    """Whether all ran that was asked for, well or not: nobody stopped it, no error
    and no first failure (-x)."""
    ended = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    stopped = session.shouldstop or session.shouldfail
    return exitstatus in ended and not stopped
