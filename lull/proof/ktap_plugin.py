# SPDX-License-Identifier: GPL-2.0-only
"""A plugin of pytest: ``--ktap FILE`` writes the results of a session as KTAP.

A test file is a test, its tests are the subtests, both in the order of their names,
whoever ran them and when. Under pytest-xdist the controller writes, which hears of
all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lull.host.files import write_output
from lull.report.ktap import Point, write

_LINE = 500  #: characters kept of a line of an error
_CANNOT_WRITE = 125
#: The session came to its end, whatever its tests did.
_WHOLE = (
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
)


@dataclass(frozen=True)
class Phase:
    """What came of a test's setup, call or teardown, or of collecting a file."""

    when: str
    outcome: str
    said: tuple[str, ...] = ()  #: of an error; or why it was skipped, or may fail
    expected: bool = False  #: its failure is expected


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--ktap", metavar="FILE", help="write the results as KTAP")


def pytest_configure(config: pytest.Config) -> None:
    """Listen, where the option was given; a worker of pytest-xdist does not."""
    name = config.getoption("--ktap")
    if name and not hasattr(config, "workerinput") and not config.option.collectonly:
        file = config.invocation_params.dir / name
        config.pluginmanager.register(_Listener(file), "lull-ktap")


def session_points(
    phases: Mapping[str, Sequence[Phase]], unfinished: str = ""
) -> tuple[Point, ...]:
    """The points of a session: node id to what came of its phases.

    ``unfinished`` is why the session ended before its end, if it did.
    """
    files: dict[str, list[Point]] = {}
    for node in sorted(phases):
        file, _, name = node.partition("::")
        files.setdefault(file, []).append(_point(name or "(collection)", phases[node]))
    points = [
        Point(file, ok=all(point.ok for point in found), subtests=tuple(found))
        for file, found in sorted(files.items())
    ]
    if unfinished:
        why = f"{unfinished}: tests that had not begun are not here"
        points.append(Point("(session)", ok=False, diagnostics=(why,)))
    return tuple(points)


def _point(name: str, phases: Sequence[Phase]) -> Point:
    failed = [phase for phase in phases if phase.outcome == "failed"]
    skipped = [phase for phase in phases if phase.outcome == "skipped"]
    said = tuple(line for phase in failed for line in _by_phase(phase))
    if failed:
        return Point(name, ok=False, diagnostics=said)
    if skipped:
        reason = " ".join(skipped[0].said)
        if skipped[0].expected:
            return Point(name, expected=reason)
        return Point(name, skipped=reason)
    if all(phase.when in ("setup", "call") for phase in phases):
        return Point(name, ok=False, diagnostics=("it was not finished",))
    passed = [line for phase in phases if phase.expected for line in phase.said]
    return Point(name, diagnostics=tuple(f"XPASS {line}".strip() for line in passed))


def _by_phase(phase: Phase) -> Iterable[str]:
    for line in phase.said:
        yield line if phase.when == "call" else f"{phase.when}: {line}"


def phase_of(report: pytest.TestReport | pytest.CollectReport) -> Phase:
    """What is kept of a report."""
    when = report.when or "collect"
    if hasattr(report, "wasxfail"):
        # Of pytest.xfail(), it begins so.
        reason = str(report.wasxfail).removeprefix("reason: ")
        return Phase(when, report.outcome, (reason,), expected=True)
    if report.outcome == "skipped":
        return Phase(when, report.outcome, (_reason(report.longrepr),))
    if report.outcome == "failed":
        return Phase(when, report.outcome, _last_lines(report))
    return Phase(when, report.outcome)


def _reason(longrepr: object) -> str:
    if isinstance(longrepr, tuple):
        return str(longrepr[-1]).removeprefix("Skipped: ")
    return str(longrepr or "")


def _last_lines(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, ...]:
    """The message of an error: its first line and its last, where there are more."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else report.longreprtext
    lines = [line.strip()[:_LINE] for line in text.strip().splitlines()]
    if not crash:
        return tuple(lines[-1:])
    # After an empty line, pytest compares values, at a length that depends on -v.
    message = lines[: lines.index("")] if "" in lines else lines
    return tuple(message[:1] + message[1:][-1:])


def _unfinished(session: pytest.Session, exitstatus: int) -> str:
    """Why the session came to no end of its own; else nothing."""
    if exitstatus in _WHOLE:
        return str(session.shouldfail or session.shouldstop or "")
    if exitstatus in list(pytest.ExitCode):
        return pytest.ExitCode(exitstatus).name.lower().replace("_", " ")
    return f"ended with status {exitstatus}"


class _Listener:
    """Keeps what is reported, and writes it at the end."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.phases: dict[str, list[Phase]] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.phases.setdefault(nodeid, [])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.phases.setdefault(report.nodeid, []).append(phase_of(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self.phases[report.nodeid] = [phase_of(report)]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Also where tests failed, or somebody has had enough."""
        points = session_points(self.phases, _unfinished(session, exitstatus))
        try:
            write_output(self.file, write(points).encode())
        except OSError as error:
            pytest.exit(f"--ktap: {self.file}: {error.strerror}", _CANNOT_WRITE)
